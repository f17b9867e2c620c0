"""Models with options, as the checks see them: with the same options in every call, whose ids are their
labels.
"""

from __future__ import annotations

from typing import Any

from banditboost.decision import Decision
from banditboost.models.offering import OfferingModel

OPTIONS: dict[str, dict[str, Any]] = {
    "a": {"price": 1.0, "kind": "small"},
    "b": {"price": 2.5, "kind": "large"},
    "c": {"price": 4.0},
    "d": {},
}


class Offered:
    """A model with options, to be called like one with labels."""

    def __init__(self, model: OfferingModel) -> None:
        self.model = model
        self.labels = tuple(OPTIONS)

    def decide(self, x: Any) -> Decision:
        """Choose one of the options."""
        return self.model.decide(x, OPTIONS)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "model" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.model, name)


def with_labels(model: Any) -> Any:
    """A model that can be asked with a row alone."""
    return Offered(model) if isinstance(model, OfferingModel) else model
