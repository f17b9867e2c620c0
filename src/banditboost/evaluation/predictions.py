"""What a model of the rewards adds: the terms of doubly robust estimates, made so that intervals hold.

A model q predicts the reward of every label, and a doubly robust estimate is the mean of

    w (r - q(x, a)) + sum_b pi(b | x) q(x, b).

It is right whatever q is, and quiet if q is good (Dudik, Langford and Li 2011). Its scores may be far below
0, though, where w q(x, a) is large; for bounds q is cut to k / w(b) for every label b, in both terms
(arXiv 2210.10768, section 2.2): scores are then -k at least. A larger k makes them quieter where weights are
large, and bounds wider where they are not. That takes the weights of all labels: from the logging
policy's probabilities of all labels, or from the least that it gives to any.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.evaluation.doors import column, distributions, indices, predicted_shares
from banditboost.rewards import UNIT, check_range
from banditboost.types import Array
from banditboost.validation import check_number

CUT = 10.0
"""k of the paper, if none is given."""

WITHOUT_BOUNDS = (
    "the model was told without the logging policy's probabilities of all labels; give baseline logging=... "
    "or least=..., or ask for kind='gaussian'"
)


class Baseline(NamedTuple):
    """Of each row, as shares of the range: predictions of the logged action, and means under the policy.

    `low` and `high` have them for bounds: (of the logged action, mean) of q and of 1 - q after the cut; None
    if nothing is known of the weights of other labels.

    >>> baseline([0], [[0.5, 0.5]], [[1.0, 0.0]]).cut
    10.0
    """

    shown: Array
    mean: Array
    low: tuple[Array, Array] | None
    high: tuple[Array, Array] | None
    cut: float


def baseline(
    action: Any,
    policy: Any,
    predicted: Any,
    *,
    logging: Any = None,
    least: Any = None,
    cut: float = CUT,
    rewards: tuple[float, float] = UNIT,
) -> Baseline:
    """What a model of the rewards says about rows of a log, for `PolicyValue.add_many`.

    Args:
        action: places of the logged actions among the labels.
        policy: the probabilities of all labels under the policy that is evaluated, a row for each row.
        predicted: the rewards of all labels that the model predicts. It must not have seen these rows.
        logging: the probabilities of all labels under the policy that logged; intervals need these, or
        least: the least probability that it gave to any label, one for all rows or one for each.
        cut: weight times prediction that is cut off for bounds; the same that `PolicyValue` is made with.
        rewards: the least and the largest reward.

    >>> found = baseline([0], [[0.5, 0.5]], [[1.0, 0.0]], least=0.1, cut=1)
    >>> found.mean.tolist(), found.low[1].tolist()  # the cut at 1 / w = 0.1 / 0.5
    ([0.5], [0.1])
    """
    rewards, cut = check_range(rewards), check_cut(cut)
    given = np.asarray(policy)
    n_rows, n_labels = given.shape if given.ndim == 2 else (0, 0)
    shares = distributions("policy", policy, n_rows, n_labels)
    places = indices("action", action, n_rows, n_labels)
    q = predicted_shares(predicted, n_rows, n_labels, rewards)
    least_of_labels = _least(logging, least, n_rows, n_labels)
    rows = np.arange(n_rows)

    def terms(model: Array) -> tuple[Array, Array]:
        return model[rows, places], (shares * model).sum(axis=1)

    if least_of_labels is None:
        return Baseline(*terms(q), None, None, cut)
    with np.errstate(divide="ignore", over="ignore"):
        most = np.where(shares > 0.0, cut * least_of_labels / shares, np.inf)
    return Baseline(*terms(q), terms(np.minimum(q, most)), terms(np.minimum(1.0 - q, most)), cut)


def check_cut(cut: Any) -> float:
    """k of the paper."""
    return check_number("cut", cut, 0.0, 1e6, open_low=True)


def check_model(model: Baseline | None, n_rows: int, cut: float, before: bool | None) -> None:
    """Refuse what `baseline` did not make of these rows, or of some rows only."""
    if before not in (None, model is not None):
        raise LogError("model is told with some rows only; give it with all of them, or with none")
    if model is None:
        return
    if len(model.shown) != n_rows:
        raise LogError(
            f"model tells of {len(model.shown)} rows, and there are {n_rows}; give what baseline made of "
            "these rows"
        )
    if model.cut != cut:
        raise ParameterError(f"cut is {cut:g} here, and {model.cut:g} in baseline; give both the same")


def doubly_robust_scores(u: Array, w: Array, model: Baseline) -> tuple[Array, Array]:
    """Scores for the bounds: their means are the value, and 1 - the value."""
    if model.low is None or model.high is None:
        raise LogError(WITHOUT_BOUNDS)
    low = w * (u - model.low[0]) + model.low[1]
    return low, w * ((1.0 - u) - model.high[0]) + model.high[1]


def part_of(model: Baseline, part: slice) -> Baseline:
    """What it tells of some of the rows."""

    def of(pair: tuple[Array, Array] | None) -> tuple[Array, Array] | None:
        return None if pair is None else (pair[0][part], pair[1][part])

    return model._replace(
        shown=model.shown[part], mean=model.mean[part], low=of(model.low), high=of(model.high)
    )


def _least(logging: Any, least: Any, n_rows: int, n_labels: int) -> Array | None:
    """Probabilities that the logging policy gives to every label, or at least gives."""
    if logging is not None:
        return distributions("logging", logging, n_rows, n_labels)
    if least is None:
        return None
    found = column("least", least)
    if len(found) not in (1, n_rows) or not np.all((found > 0.0) & (found <= 1.0)):
        raise ParameterError(
            "least is not above 0 and at most 1 everywhere; give the least probability that the logging "
            "policy gives to any label, one for all rows or one for each"
        )
    return found[:, None]
