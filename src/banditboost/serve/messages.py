"""What callers ask and what they are answered, whatever the dialect: plain structs without behaviour."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Label = str | int
Arm = Literal["model", "control", "baseline"]
"""Who chose: the model, the baseline for the control group, or the baseline that an apprentice watches."""
Outcome = Literal["learned", "added", "held", "logged", "activated", "duplicate", "late", "unknown"]
"""What became of a verdict, or of an activation: learned now; added to a sum that is learned when the window
ends; held until the decision is activated; written down only, since the model is not to learn it; activated
before any verdict came; not counted since one was before, or since the window has ended; of no decision."""


class DecisionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One decision asked for."""

    features: bytes  # JSON as it came: an object, or an array of numbers
    options: bytes | None = None  # JSON: an object {id: features}, for models without labels of their own
    allowed: list[Label] | None = None
    id: str | None = None  # None: the service makes one
    deferred: bool = False  # no verdict is learned before it is activated
    baseline: Label | None = None  # what the caller would show without a model (apprentice, control group)
    ranking: int = 0  # how many places of the ranking are asked for; -1 for all


class Place(msgspec.Struct, frozen=True):
    """A place in a ranking."""

    label: Label
    probability: float


class DecisionAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What to show. The same id gives the same answer, for as long as the log keeps it."""

    id: str
    label: Label
    probability: float
    explored: bool
    arm: Arm
    version: str  # of the model: its id and how many events of its log it had learned
    deferred: bool
    expires: float  # seconds since 1970: verdicts count until then
    ranking: list[Place] = []
    repeated: bool = False  # whether the decision was made by an earlier request with this id


class VerdictRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a decision: exactly one of `correct` and `reward`."""

    id: str
    correct: bool | None = None
    reward: float | None = None
    once: str | None = None  # a name of this verdict: where verdicts are added up, one with the same is none


class VerdictAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the service did with a verdict."""

    id: str
    outcome: Outcome


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A model as the service shows it."""

    name: str
    id: str
    settings: dict[str, Any]
    events: int  # of its log
    rounds: int
    verdicts: int
    open: int  # decisions that wait for a verdict
    created: float
    changed: float
    labels: list[Label]
