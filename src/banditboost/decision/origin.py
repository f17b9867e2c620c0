"""Whose a decision is."""

from __future__ import annotations

from dataclasses import dataclass, field

from banditboost.rows.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Origin:
    """Who made a decision; with its round it is the decision's identity. All decisions of a run share one."""

    model: str
    branch: str  # empty: the model itself
    run: str  # empty: a version that did not tell runs apart
    vocabulary: Vocabulary | None = field(default=None, compare=False, repr=False)  # of a branch
