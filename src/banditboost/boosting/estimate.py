"""Line 12 of Algorithm 1: the unbiased estimates of the zero-one loss, equations (3) and (4).

What learning needs is 1 - lhat, the estimate of "label i is the right one". In each of the four cases
(explored or not, right or wrong) it is a constant for all labels, plus something for the shown label, plus
something for the greedy label:

    1 - lhat = base * 1 + shown_extra * e_shown + greedy_extra * e_greedy

When only some labels were allowed, the right one may be none of them. Both equations infer the loss of a
label from another one's being right, and would be biased then. Their restricted forms estimate "label i is
right" by what was seen of label i alone, so that their mean is e_right if the right label was allowed, and 0
if not (docs/guide-restricted-choices.md).
"""

from __future__ import annotations

from typing import NamedTuple

from banditboost.compiled.compile import inlined
from banditboost.memo import ALLOWED, GREEDY, PROBABILITY, SHOWN
from banditboost.types import Array, Record


class Estimate(NamedTuple):
    """1 - lhat = base * 1 + first_extra * e_first + second_extra * e_second, and the right label where the
    feedback tells it (else -1).
    """

    base: float
    first: int
    first_extra: float
    second: int
    second_extra: float
    right: int


@inlined
def estimate_simple(probability: float, correct: bool) -> tuple[float, float, float]:
    """Equation (3): lhat = I(correct) / p * (1 - e_shown). Nothing is learned from a mistake."""
    if correct:
        return 1.0 - 1.0 / probability, 1.0 / probability, 0.0
    return 1.0, 0.0, 0.0


@inlined
def estimate_loss(probability: float, explored: bool, correct: bool) -> tuple[float, float, float]:
    """Equation (4): the greedy label's mistake teaches too, namely that this label was wrong."""
    inverse = 1.0 / probability
    if correct:
        # Every label but the right one lost 1/p; an explored round says nothing against the greedy label.
        return 1.0 - inverse, inverse, inverse if explored else 0.0
    return 1.0, 0.0, 0.0 if explored else -inverse


@inlined
def estimate_simple_among(probability: float, correct: bool) -> tuple[float, float, float]:
    """Equation (3) among allowed labels: 1 - lhat = I(correct) / p * e_shown."""
    return 0.0, 1.0 / probability if correct else 0.0, 0.0


@inlined
def estimate_loss_among(probability: float, explored: bool, correct: bool) -> tuple[float, float, float]:
    """Equation (4) among allowed labels: the greedy label's loss is estimated by its mistakes, as there; that
    of others as in (3).
    """
    if explored:
        return 0.0, 1.0 / probability if correct else 0.0, 1.0
    return 0.0, 0.0, 1.0 if correct else 1.0 - 1.0 / probability


@inlined
def estimate(settings: Record, memo: Array, feedback: int) -> Estimate:
    """1 - lhat of a decision: from its verdict (0 or 1), or with full information from the right label
    itself.
    """
    if settings.full_information != 0:
        return Estimate(0.0, feedback, 1.0, -1, 0.0, feedback)
    shown, greedy, probability = int(memo[SHOWN]), int(memo[GREEDY]), memo[PROBABILITY]
    correct = feedback != 0
    if memo[ALLOWED] > 0.0:
        if settings.estimator == 3:
            base, shown_extra, greedy_extra = estimate_simple_among(probability, correct)
        else:
            base, shown_extra, greedy_extra = estimate_loss_among(probability, shown != greedy, correct)
    elif settings.estimator == 3:
        base, shown_extra, greedy_extra = estimate_simple(probability, correct)
    else:
        base, shown_extra, greedy_extra = estimate_loss(probability, shown != greedy, correct)
    return Estimate(base, shown, shown_extra, greedy, greedy_extra, shown if correct else -1)


@inlined
def estimated_loss(of: Estimate, label: int) -> float:
    """lhat of one label."""
    right = of.base
    if label == of.first:
        right += of.first_extra
    if label == of.second:
        right += of.second_extra
    return 1.0 - right
