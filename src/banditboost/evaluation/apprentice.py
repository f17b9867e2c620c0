"""A model that learns from another policy's choices while that policy acts, and is judged as it goes."""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from banditboost.errors import LogError, ParameterError
from banditboost.evaluation import doors
from banditboost.evaluation.policies import check_learns, chooses_among_options
from banditboost.evaluation.sequence import TOTAL, Sequence
from banditboost.evaluation.value import CROSSED, restore
from banditboost.io.values import demand
from banditboost.rewards import Range, share_told
from banditboost.text import counted
from banditboost.validation import check_count, is_hashable

SAME, SAME_BEST, VALUE, ACTING = range(4)
_FORMAT = 1


class Bounded(NamedTuple):
    """A mean over all rows so far, with bounds that hold at all times together.

    >>> Bounded(0.5, 0.4, 0.6).low
    0.4
    """

    estimate: float
    """NaN if the rows do not tell it."""
    low: float
    high: float


class ApprenticeSummary(NamedTuple):
    """How an apprentice does. `to_dict()` is the same as plain data.

    >>> from banditboost import GapBoost
    >>> Apprentice(GapBoost(["news", "games"], seed=1)).summary().rows
    0
    """

    rows: int
    without_probability: int
    """Rows whose probability was not told: they count as if it had been 1."""
    level: float
    agreement: Bounded
    """How often it would have chosen the same, its exploration included."""
    best_agreement: Bounded
    """How often what it thought best was what was chosen."""
    value: Bounded
    """What it would have earned."""
    acting: Bounded
    """What the acting policy has earned."""
    ahead: Bounded
    """By how much it would have earned more than the acting policy."""
    mean_weight: float
    """The mean of its probability / the acting policy's: near 1 if these are told and right."""
    remark: str
    """Why the value cannot be believed, or what its estimate lacks; empty if all is well."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, None in place of NaN."""
        told = {name: _plain(value) for name, value in self._asdict().items()}
        return {
            name: {end: _plain(number) for end, number in value._asdict().items()}
            if isinstance(value, Bounded)
            else value
            for name, value in told.items()
        }


class Apprentice:
    """Lets a model learn from what another policy chooses and earns, and tells what it would have earned.

    Each row is judged before the model learns it. Bounds hold at all times together, while the acting policy
    changes and the world drifts. Where the acting policy's probability is not told, the row counts as if it
    had been 1. No probability is larger, so bounds hold nevertheless, but are wider, and there is no estimate
    of the value.

    Args:
        model: a bandit booster or a baseline. It learns by `learn_logged`, and may decide, too.

    >>> from banditboost import GapBoost
    >>> apprentice = Apprentice(GapBoost(["news", "games"], seed=1))
    >>> for hour in [9, 21] * 500:  # somebody else shows games at night, mostly
    ...     for label, p in [("games", 0.75), ("games", 0.75), ("games", 0.75), ("news", 0.25)]:
    ...         share = apprentice.observe({"hour": hour}, label, (label == "games") == (hour > 12), p)
    >>> found = apprentice.summary()
    >>> found.rows, round(found.acting.estimate, 2), found.value.low > 0.85
    (4000, 0.5, True)
    """

    def __init__(self, model: Any) -> None:
        self.model = check_learns(model)
        self._rewards: Range = model.rewards
        self._has_options = chooses_among_options(model)
        self._lock = threading.Lock()
        self._state = _State(Sequence(shape=(4,)), Sequence(scale=2.0, offset=1.0), 0)

    @property
    def n(self) -> int:
        """How many rows were observed."""
        return self._state.means.n

    def observe(
        self,
        x: Any,
        label: Hashable,
        reward: float,
        probability: float | None = None,
        *,
        options: Any = None,
        allowed: Iterable[Hashable] | None = None,
    ) -> float:
        """Learn what the acting policy has shown and earned; if it is refused, nothing has changed.

        Args:
            x: what was known, as in `decide`.
            label: what was shown.
            reward: what it earned; True and False are the largest and the least reward.
            probability: with which the acting policy chose it; None if that is not known.
            options: for an OptionBoost what was offered, all of it, as in `decide`.
            allowed: the labels it was chosen from, if not all that the model shows.

        Returns the probability with which the model would have shown the same.
        """
        with self._lock:
            among: dict[str, Any] = {"allowed": None if allowed is None else list(allowed)}
            if self._has_options or options is not None:
                among["options"] = options
            shares = self.model.distribution(x, **among)
            seen = self._seen(shares, label, reward, probability)
            state = self._state.after(seen, probability is None)
            self.model.learn_logged(x, label, reward, probability, **among)
            self._state = state
        return seen.same

    def _seen(
        self, shares: Mapping[Hashable, float], label: Hashable, reward: Any, probability: Any
    ) -> _Seen:
        """What a row tells; the model refuses what is not possible before any of it counts."""
        u = _share_of(reward, self._rewards)
        p = 1.0 if probability is None else probability
        same = shares.get(label, 0.0) if is_hashable(label) else 0.0
        most = max(shares.values())
        best = (same == most) / sum(share == most for share in shares.values())
        w = float(doors.weights("the model", [same], doors.logged_probabilities([p], 1))[0])
        return _Seen(same, best, w, u)

    def summary(self, level: float = 0.95) -> ApprenticeSummary:
        """What is known now.

        Args:
            level: how sure each of the bounds is to hold, at all times together.
        """
        level = doors.check_level(level)
        state = self._state
        n, unknown = state.means.n, state.unknown
        estimates = state.means.sides[0, TOTAL] / n if n else np.full(4, math.nan)
        weights = state.means.sides[:, TOTAL, VALUE].sum()
        ahead = estimates[VALUE] - estimates[ACTING]
        if unknown:
            estimates[VALUE] = ahead = math.nan
        ends = np.array(state.means.anytime(level))
        low, high = self._rewards
        units, offsets = np.array([1.0, 1.0, high - low, high - low]), np.array([0.0, 0.0, low, low])
        told = [Bounded(*map(float, row)) for row in (np.vstack([estimates, ends]) * units + offsets).T]
        difference = [(high - low) * float(end) for end in (ahead, *state.ahead.anytime(level))]
        return ApprenticeSummary(
            rows=n,
            without_probability=unknown,
            level=level,
            agreement=told[SAME],
            best_agreement=told[SAME_BEST],
            value=told[VALUE],
            acting=told[ACTING],
            ahead=Bounded(*difference),
            mean_weight=float(weights) / n if n else math.nan,
            remark=_remark(told[VALUE], unknown),
        )

    # Plain data

    def to_plain(self) -> dict[str, Any]:
        """All that was counted as dicts, lists and numbers; the model is saved by itself."""
        state = self._state
        return {
            "kind": "Apprentice",
            "format": _FORMAT,
            "rewards": list(self._rewards),
            "unknown": state.unknown,
            "means": state.means.to_plain(),
            "ahead": state.ahead.to_plain(),
        }

    @classmethod
    def from_plain(cls, plain: Any, model: Any) -> Self:
        """Go on from what `to_plain` gave, with the model that was saved beside it."""
        made = cls(model)
        told = doors.check_plain(plain, "Apprentice", set(made.to_plain()))
        try:
            demand(told["format"] == _FORMAT, "another version wrote it")
            demand(told["rewards"] == list(made._rewards), "its model had another range of rewards")
            means, ahead, _ = made._state
            restore(means, told["means"], 2**53)
            restore(ahead, told["ahead"], 2**53)
            demand(means.n == ahead.n, "its sums are of different rows")
            made._state = _State(means, ahead, check_count("unknown", told["unknown"], 0, means.n))
        except (TypeError, ValueError, KeyError) as error:
            raise ParameterError(
                f"plain is no Apprentice of this model ({error}); give what to_plain returned"
            ) from None
        return made


class _Seen(NamedTuple):
    """A row: probabilities, as shares; the weight, and the reward."""

    same: float
    best: float
    weight: float
    reward: float


class _State(NamedTuple):
    """All that is counted, replaced at once."""

    means: Sequence  # of SAME, SAME_BEST, VALUE, ACTING side by side
    ahead: Sequence
    unknown: int

    def after(self, seen: _Seen, is_unknown: bool) -> _State:
        """What is counted with one more row; this one stays as it is."""
        same, best, w, u = seen
        means, ahead = self.means.copy(), self.ahead.copy()
        means.add(
            np.array([[same, best, w * u, u]]), np.array([[1.0 - same, 1.0 - best, w - w * u, 1.0 - u]])
        )
        ahead.add(np.array([w * u + (1.0 - u)]), np.array([w - w * u + u]))
        return _State(means, ahead, self.unknown + is_unknown)


def _share_of(reward: Any, rewards: Range) -> float:
    is_verdict = isinstance(reward, (bool, np.bool_))
    correct, number = (reward, None) if is_verdict else (None, reward)
    if reward is None:
        raise LogError("reward is None; give what the label has earned, or leave the row out")
    return share_told(correct, number, rewards)


def _remark(value: Bounded, unknown: int) -> str:
    if value.low > value.high:
        return CROSSED
    if unknown:
        return (
            f"{counted(unknown, 'row')} came without a probability, and count as if it had been 1: bounds "
            "hold, and there is no estimate of the value"
        )
    return ""


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
