"""A line for each label: how often it was shown, and what it earned."""

from __future__ import annotations

from typing import Any

import msgspec

from banditboost.serve.messages import Label

MOST_LABELS = 1_000
"""Beyond these the label that was not shown for the longest time loses its line."""


class Line(msgspec.Struct, array_like=True):
    """Of one label."""

    shown: int = 0
    rewards: int = 0
    earned: float = 0.0  # sum of shares of the range
    weights: float = 0.0  # sum of 1 / probability, of the model's own decisions whose reward is known
    weighted: float = 0.0  # sum of share / probability, of the same

    def learn(self, share: float, probability: float, by_model: bool) -> None:
        """A decision for this label has earned a share of the range."""
        self.rewards += 1
        self.earned += share
        if by_model:
            self.weights += 1.0 / probability
            self.weighted += share / probability


class LabelLines:
    """The lines, the label that was shown last at the end."""

    def __init__(self) -> None:
        self.lines: dict[Label, Line] = {}
        self.put_away = 0  # decisions for labels that have no line any more

    def shown(self, label: Label) -> None:
        line = self.lines.pop(label, None) or Line()
        line.shown += 1
        self.lines[label] = line
        if len(self.lines) > MOST_LABELS:
            self.put_away += self.lines.pop(next(iter(self.lines))).shown

    def to_plain(self) -> dict[str, Any]:
        lines = [[label, *msgspec.structs.astuple(line)] for label, line in self.lines.items()]
        return {"lines": lines, "put_away": self.put_away}

    def restore(self, plain: dict[str, Any]) -> None:
        self.lines = {label: Line(*numbers) for label, *numbers in plain["lines"]}
        self.put_away = plain["put_away"]
