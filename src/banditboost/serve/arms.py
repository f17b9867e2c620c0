"""Who chooses: the model, or a baseline in its place.

It is drawn by the decision's id, so that it can be drawn again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from banditboost.serve.messages import Arm, Label
from banditboost.serve.settings import ModelSettings


class Shown(NamedTuple):
    """What a baseline shows."""

    label: Label
    probability: float


def drawn(seed: int, purpose: str, id_: str) -> float:
    """A number in [0, 1) that belongs to this model, purpose and decision alone."""
    digest = hashlib.blake2b(
        f"{seed}/{purpose}/{id_}".encode("utf-8", "surrogatepass"), digest_size=8
    ).digest()
    return (int.from_bytes(digest, "big") >> 11) * 2.0**-53


def arm_of(settings: ModelSettings, seed: int, id_: str) -> Arm:
    """Who chooses for this decision."""
    if settings.mode != "online":
        return "baseline"
    if settings.control and drawn(seed, "control", id_) < settings.control:
        return "control"
    return "model"


def assigned(settings: ModelSettings, arm: Arm) -> float:
    """The probability that this arm decides."""
    if settings.mode != "online" or not settings.control:
        return 1.0
    return settings.control if arm == "control" else 1.0 - settings.control


def shown_by_baseline(
    settings: ModelSettings, seed: int, id_: str, allowed: Sequence[Label], named: Label | None
) -> Shown:
    """What the baseline shows of the allowed; `named` is what the caller says it would have shown."""
    if settings.baseline == "first":
        return Shown(allowed[0] if named is None else named, 1.0)
    return Shown(allowed[int(drawn(seed, "baseline", id_) * len(allowed))], 1.0 / len(allowed))
