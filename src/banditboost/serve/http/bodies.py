"""The JSON that callers send and are sent, beyond what all dialects share."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from banditboost.serve.messages import Label

_FEATURES = Meta(
    description="What is known: an object of features, or an array of numbers.",
    extra_json_schema={"type": ["object", "array"], "examples": [{"hour": 21, "device": "phone"}]},
)
_OPTIONS = Meta(
    description="What can be chosen, if options come with each decision: an object of ids and features.",
    extra_json_schema={"type": ["object", "null"], "examples": [{"a": {"price": 3}, "b": {"price": 4}}]},
)

_ONCE = "A name of this verdict: where verdicts are added up, a second one with it is a duplicate."


class DecisionBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decision asked for."""

    features: Annotated[msgspec.Raw, _FEATURES]
    options: Annotated[msgspec.Raw, _OPTIONS] = msgspec.field(default_factory=msgspec.Raw)
    allowed: Annotated[
        list[Label] | None, Meta(description="The labels that may be shown; all if left out.")
    ] = None
    id: Annotated[str | None, Meta(description="A name of your own; the same gives the same answer.")] = None
    deferred: Annotated[bool, Meta(description="Learn nothing of it before it is activated.")] = False
    baseline: Annotated[Label | None, Meta(description="What you would show without a model.")] = None
    ranking: Annotated[
        int, Meta(ge=-1, le=2**31 - 1, description="How many places of the ranking to answer; -1 for all.")
    ] = 0


class VerdictBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of a decision: `correct` or `reward`."""

    correct: Annotated[bool | None, Meta(description="Whether the label was right.")] = None
    reward: Annotated[float | None, Meta(description="What it earned, within the model's rewards.")] = None
    once: Annotated[str | None, Meta(description=_ONCE)] = None


class NamedVerdictBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What became of one of several decisions."""

    id: str
    correct: Annotated[bool | None, Meta(description="Whether the label was right.")] = None
    reward: Annotated[float | None, Meta(description="What it earned, within the model's rewards.")] = None
    once: Annotated[str | None, Meta(description=_ONCE)] = None


class ModelList(msgspec.Struct, frozen=True):
    """Names of models, in order."""

    models: list[str]
    next: Annotated[str | None, Meta(description="Ask again with this as `after`; null at the end.")]
