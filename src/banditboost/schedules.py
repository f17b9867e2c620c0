"""Exploration that is not constant: how the rate rho of equation (2) follows from the round, the recent error
or the votes.

Whatever the rate, it is part of the decision, so that its probabilities are exact and the estimates (3) and
(4) stay unbiased.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from banditboost.errors import ParameterError
from banditboost.text import quoted
from banditboost.validation import check_count, check_number, refuse


@dataclass(frozen=True)
class Schedule:
    """What all schedules have: between which rates they stay.

    Args:
        least: rho is never below this.
        most: nor above this.
    """

    least: float = 0.001
    most: float = 0.5
    name: ClassVar[str]

    def __post_init__(self) -> None:
        self._check("least", 0.0, 0.99)
        self._check("most", 0.0, 0.99)
        if self.least > self.most:
            raise ParameterError(
                f"least is {self.least!r} and most {self.most!r}; give a least rate that is not above the "
                "most"
            )

    def _check(self, name: str, low: float, high: float) -> None:
        """Refuse a number that is not above `low` and up to `high`; numbers of NumPy become plain, so that
        JSON has them.
        """
        given = getattr(self, name)
        number = check_number(name, given, low, high, open_low=True)
        if not isinstance(given, (int, float)):
            object.__setattr__(self, name, number)


@dataclass(frozen=True)
class Theory(Schedule):
    """The rate that the paper's theorems suggest (`banditboost.theory`), for a stream of known length or as
    if it ended now.

    Most often it is larger than 1, and then `most` is what counts: the theorems are about much longer
    streams.

    Args (beyond those of all schedules):
        edge: what AdaBandit's learners are taken to have over guessing.
        rounds: length of the stream; None takes the rounds so far.

    >>> Theory(rounds=1_000_000).rounds
    1000000
    """

    edge: float = 0.1
    rounds: int | None = None
    name: ClassVar[str] = "theory"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("edge", 0.0, 1.0)
        if self.rounds is not None:
            rounds = check_count("rounds", self.rounds, 1, hint="the length of the stream; None is unknown")
            object.__setattr__(self, "rounds", rounds)


@dataclass(frozen=True)
class Decaying(Schedule):
    """rho = scale / t^power in round t = 1, 2, ...

    >>> Decaying(scale=2.0, power=0.5).power
    0.5
    """

    scale: float = 1.0
    power: float = 0.5
    name: ClassVar[str] = "decaying"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("scale", 0.0, 1e12)
        self._check("power", 0.0, 10.0)


@dataclass(frozen=True)
class Adaptive(Schedule):
    """rho = scale times the recent error of the greedy label: it explores little while that label is mostly
    right.

    Args (beyond those of all schedules):
        scale: share of the error.
        memory: over how many verdicts the error is averaged.

    >>> Adaptive(scale=0.1).memory
    500.0
    """

    scale: float = 0.1
    memory: float = 500.0
    name: ClassVar[str] = "adaptive"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("scale", 0.0, 1e6)
        self._check("memory", 1.0, 1e12)


@dataclass(frozen=True)
class Divided(Schedule):
    """Explore where the learners are divided: rho = doubt^2, doubt being the share of votes (by weight) that
    the greedy label did not get.

    Four fifths of rho go to the other labels that were voted for, in proportion to their votes, one fifth to
    all others alike. It is for AdaBandit and OptBandit, whose learners vote.

    >>> Divided().least
    0.001
    """

    name: ClassVar[str] = "divided"


SCHEDULES: dict[str, type[Schedule]] = {kind.name: kind for kind in (Theory, Decaying, Adaptive, Divided)}


def from_plain(value: Any) -> Any:
    """A schedule from its name, or from what `to_plain` made of it; anything else is given back as it is."""
    if isinstance(value, str):
        return _kind(value)()
    if isinstance(value, Mapping):
        given = dict(value)
        try:
            return _kind(given.pop("schedule", None))(**given)
        except TypeError as error:
            raise ParameterError(f"exploration is {quoted(dict(value))}: {error}") from None
    return value


def to_plain(exploration: float | Schedule | None) -> Any:
    """What JSON can carry: a number, a dict for a schedule, None for a learner that does not explore."""
    return (
        {"schedule": exploration.name, **asdict(exploration)}
        if isinstance(exploration, Schedule)
        else exploration
    )


def _kind(name: Any) -> type[Schedule]:
    if name not in SCHEDULES:
        refuse("exploration", name, f"give a number in (0, 1), or one of {', '.join(SCHEDULES)}")
    return SCHEDULES[name]
