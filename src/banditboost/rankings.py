"""Rankings: labels in the order of what a model thinks of them, and what clicks on lists say.

Nothing here loads Numba.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from banditboost.errors import DecisionError
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_count, check_number


class Ranked(NamedTuple):
    """One place of a ranking.

    >>> from banditboost import GapBoost
    >>> model = GapBoost(["sports", "politics", "science"], seed=7)
    >>> for _ in range(20):
    ...     decision = model.decide({"hour": 21})
    ...     model.learn(decision, correct=decision.label == "science")
    >>> first, second = model.rank({"hour": 21}, n=2)
    >>> first.label, first.probability > 0.9 > second.probability
    ('science', True)
    >>> len(model.rank({"hour": 21}, n=2))
    2
    """

    label: Hashable
    probability: float


def ranked(
    labels: Sequence[Hashable],
    shares: Sequence[float],
    order: Iterable[int],
    n: int | None,
) -> list[Ranked]:
    """The first n places of a ranking in this order of labels' indices; None is all of them."""
    most = None if n is None else check_count("n", n, 1, hint="None is all labels")
    return [Ranked(labels[index], shares[index]) for index in list(order)[:most]]


def order_of(scores: Array, among: Array | None, first: int | None = None) -> list[int]:
    """The indices of labels by falling scores, equal ones in the order of the labels.

    Args:
        scores: one for each label.
        among: the indices of those that are ranked, in increasing order; None is all.
        first: the label that comes first, whatever its score is.

    >>> order_of(np.array([0.1, 0.7, 0.7, 0.2]), None)
    [1, 2, 3, 0]
    >>> order_of(np.array([0.1, 0.7, 0.7, 0.2]), np.array([0, 1, 2]), first=2)
    [2, 1, 0]
    """
    indices = np.arange(len(scores)) if among is None else among
    order: list[int] = indices[np.argsort(-scores[indices], kind="stable")].tolist()
    if first is not None:
        order.remove(first)
        order.insert(0, first)
    return order


def position_rewards(clicks: Iterable[Any], examined: Iterable[Any]) -> list[float]:
    """What the clicks on a list say about each label of it, by the position-based model: click /
    (probability that somebody looks at the position).

    In the mean this is the probability that the label is clicked when it is looked at, wherever it stood;
    docs/guide-rankings.md tells under which conditions. Make the model with `rewards=(0, 1 / min(examined))`.

    Args:
        clicks: for each position whether its label was clicked, from the first on.
        examined: for each position the probability that it is looked at, in (0, 1]; those of positions that
            were not used this time may follow.

    >>> position_rewards([False, True, False], examined=[1.0, 0.5, 0.25])
    [0.0, 2.0, 0.0]
    """
    told, propensities = _clicks(clicks), _examined(examined)
    if len(told) > len(propensities):
        raise DecisionError(
            f"there are {len(told)} clicks and {len(propensities)} probabilities in examined; give one "
            "probability for each position"
        )
    return [float(click) / share for click, share in zip(told, propensities, strict=False)]


def cascade_rewards(clicks: Iterable[Any]) -> list[float]:
    """What the clicks on a list say about its first labels, if somebody reads from the top and stops at the
    first click: 0 for each label before it, and 1 for the clicked one.

    Nothing is said about labels after it: learn only as many decisions as there are rewards. Without a click
    the whole list was read.

    >>> cascade_rewards([False, True, False])
    [0.0, 1.0]
    >>> cascade_rewards([False, False, False])
    [0.0, 0.0, 0.0]
    """
    told = _clicks(clicks)
    if sum(told) > 1:
        raise DecisionError(
            f"clicks has {sum(told)} clicks, but the cascade ends with the first; use position_rewards if "
            "several can be clicked"
        )
    read = told.index(True) + 1 if True in told else len(told)
    return [float(click) for click in told[:read]]


def _clicks(clicks: Iterable[Any]) -> list[bool]:
    try:
        given = [] if isinstance(clicks, (str, bytes, set, dict)) else list(clicks)
    except TypeError:
        given = []
    if not given:
        raise DecisionError(
            f"clicks is {quoted(clicks)}; give True or False for each position of the list, from the first on"
        )
    for place, click in enumerate(given):
        if not isinstance(click, (bool, int, np.bool_, np.integer)) or click not in (0, 1):
            raise DecisionError(
                f"clicks[{place}] is {quoted(click)}; give True if the label there was clicked, False if not"
            )
    return [bool(click) for click in given]


def _examined(examined: Iterable[Any]) -> list[float]:
    try:
        given = [] if isinstance(examined, (str, bytes, set, dict)) else list(examined)
    except TypeError:
        given = []
    if not given:
        raise DecisionError(
            f"examined is {quoted(examined)}; give for each position the probability that somebody looks at "
            "it, such as [1.0, 0.6, 0.4]"
        )
    return [
        check_number(f"examined[{place}]", share, 0.0, 1.0, open_low=True)
        for place, share in enumerate(given)
    ]
