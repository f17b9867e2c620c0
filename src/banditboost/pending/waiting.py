"""What waits for a verdict, and what became of it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from enum import StrEnum
from typing import Any, NamedTuple, Protocol

from banditboost.decision import Decision


class Outcome(StrEnum):
    """What became of a verdict. (It is a string, too: `outcome == "learned"`.)

    >>> from banditboost import AdaBandit, PendingDecisions
    >>> pending = PendingDecisions(AdaBandit(["yes", "no"], n_learners=5, seed=1))
    >>> pending.learn("visit-1", correct=True)
    <Outcome.UNKNOWN: 'unknown'>
    >>> pending.counters[Outcome.UNKNOWN]
    1
    """

    LEARNED = "learned"  # the model has learned it
    DUPLICATE = "duplicate"  # a verdict for this id was learned before; nothing was learned now
    EXPIRED = (
        "expired"  # it comes too late: the decision was dropped, or learned as wrong; nothing was learned now
    )
    REFUSED = (
        "refused"  # the model cannot learn it, as after a crash that it lost rounds in; the log says why
    )
    UNKNOWN = (
        "unknown"  # no decision was kept under this id, or it was closed so long ago that the id is forgotten
    )


class Model(Protocol):
    """What the store asks of a bandit booster."""

    model_id: str
    rounds: int

    def decide(self, x: Any, allowed: Iterable[Hashable] | None = None) -> Decision:
        """Choose a label for x, among the allowed ones if some are given."""

    def learn(self, decision: Decision, correct: Any = None, *, reward: Any = None) -> None:
        """Learn the verdict on a decision, or its reward."""


class Waiting(NamedTuple):
    """A decision that is open, and since when."""

    decision: Decision
    round: int  # of the model, when the decision was added
    seconds: float  # of the clock


class Closing(NamedTuple):
    """A decision whose outcome is known, and what the counters will be.

    To close it twice is to close it once.
    """

    key: Hashable
    outcome: Outcome
    counters: dict[str, int]


COUNTERS = (
    "added",
    *Outcome,
    "expired_by_rounds",
    "expired_by_seconds",
    "expired_by_capacity",
)
