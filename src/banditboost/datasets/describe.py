"""A table in words: a line for each feature."""

from collections.abc import Sequence
from typing import NamedTuple

from banditboost.datasets.frequent import Frequent
from banditboost.text import visible

_VALUES_SHOWN = 5


class Fact(NamedTuple):
    """What a line says."""

    name: str
    values: tuple[str, ...] | None
    """None if the feature is numeric."""
    low: float
    high: float
    missing: int
    is_words: bool = False

    @property
    def kind(self) -> str:
        if self.is_words:
            return "words"
        return "numeric" if self.values is None else "nominal"


def lines(facts: Sequence[Fact]) -> str:
    """Name, kind, and range or values, in columns; and how many cells are missing."""
    names = [visible(fact.name) for fact in facts]
    width = max(map(len, names), default=0)
    return "\n".join(
        f"{name:<{width}}  {fact.kind:<7}  {_content(fact)}" for name, fact in zip(names, facts, strict=True)
    )


def _content(fact: Fact) -> str:
    missing = f", {fact.missing:,} missing" if fact.missing else ""
    if fact.is_words:
        return f"each word counts{missing}"
    if fact.values is None:
        return ("no number" if fact.low > fact.high else f"{fact.low:g} to {fact.high:g}") + missing
    shown = ", ".join(map(visible, fact.values[:_VALUES_SHOWN]))
    more = ", ..." if len(fact.values) > _VALUES_SHOWN else ""
    if isinstance(fact.values, Frequent):
        return f"{len(fact.values)} frequent values: {shown}{more}; others share places{missing}"
    return f"{len(fact.values)} values: {shown}{more}{missing}"
