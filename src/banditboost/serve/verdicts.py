"""What becomes of a verdict: rules without a model, a store or a clock."""

from __future__ import annotations

from collections.abc import Iterable

from banditboost.serve.events import AnyEvent, Decided
from banditboost.serve.messages import Outcome
from banditboost.serve.settings import ModelSettings
from banditboost.serve.windows import OpenDecision

COUNTED = ("learned", "logged")
"""Outcomes after which a decision is done."""


def outcome_of(one: OpenDecision, now: float, settings: ModelSettings, once: str | None = None) -> Outcome:
    """Of a verdict that comes now; `once` is its name, if it has one."""
    if one.done is not None:
        return "duplicate" if one.done == "duplicate" else "late"
    if now > one.answer.expires:
        return "late"
    if one.heard and (settings.counting == "first" or once in one.names):
        return "duplicate"
    return "held" if one.waiting else _counted(settings)


def activated(one: OpenDecision, now: float, settings: ModelSettings) -> Outcome:
    """Of an activation that comes now."""
    if one.done is not None:
        return "duplicate" if one.done == "duplicate" else "late"
    if now > one.answer.expires:
        return "late"
    if not one.waiting:
        return "duplicate"
    return _counted(settings) if one.heard else "activated"


def _counted(settings: ModelSettings) -> Outcome:
    if settings.counting == "sum":
        return "added"
    return "logged" if settings.mode == "logging" else "learned"


def outcome_of_past(events: Iterable[AnyEvent]) -> Outcome:
    """Of a verdict on a decision that is not open any more, from all events about it."""
    told = list(events)
    if not any(isinstance(event, Decided) for event in told):
        return "unknown"
    return "duplicate" if any(getattr(event, "outcome", None) in COUNTED for event in told) else "late"


def earned(one: OpenDecision, settings: ModelSettings) -> float | None:
    """What a decision has earned when its window ends; None if nothing is to be learned."""
    if one.waiting or settings.mode == "logging":
        return None
    low, high = settings.rewards
    if one.heard:
        return min(max(one.sum, low), high)
    if settings.silence == "nothing":
        return None
    return low if settings.silence == "wrong" else settings.silence_reward
