"""The log as rows: each decision with what it has earned, as soon as that is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from banditboost.serve.events import Activated, AnyEvent, Closed, Decided, Judged, Replaced, Settled
from banditboost.serve.messages import Label


class Row:
    """A decision, and what it has earned."""

    __slots__ = ("at", "decided", "held", "labels", "reward", "waiting")

    def __init__(self, at: float, decided: Decided, labels: list[Label]) -> None:
        self.at, self.decided, self.labels = at, decided, labels
        self.held: float | None = None  # what verdicts have said that do not count yet
        self.reward: float | None = None
        self.waiting = decided.deferred  # to be activated


class Joining:
    """Joins the events of one log. What it keeps in memory are the decisions that are open."""

    def __init__(self) -> None:
        self._open: dict[str, Row] = {}
        self._labels: list[Label] = []

    def rows(self, at: float, event: AnyEvent) -> Iterator[Row]:
        """The rows that an event finishes."""
        if isinstance(event, Decided):
            self._open[event.id] = Row(at, event, self._labels)
        elif isinstance(event, (Settled, Replaced)):
            self._labels = msgspec.convert(event.settings.get("labels", []), list[Label])
            if isinstance(event, Replaced):  # what was decided before is not learned any more
                yield from self.rest()
        elif (row := self._open.get(event.id)) is not None and self._ends(row, event):
            yield self._open.pop(event.id)

    def rest(self) -> Iterator[Row]:
        """The rows of decisions that are still open: nobody knows what they will earn."""
        yield from self._open.values()
        self._open.clear()

    def _ends(self, row: Row, event: Judged | Activated | Closed) -> bool:
        """Note what an event tells of a decision; whether that is the last word."""
        if isinstance(event, Closed):
            unlearned = event.reward is None and not row.waiting
            row.reward = row.held if unlearned else event.reward
            return True
        row.waiting = row.waiting and not isinstance(event, Activated)
        if isinstance(event, Judged) and event.outcome in ("added", "held"):
            row.held = (row.held or 0.0) + event.reward
        if event.outcome not in ("learned", "logged"):
            return False
        row.reward = event.reward if isinstance(event, Judged) else row.held
        return True


def features_of(decided: Decided) -> dict[str, Any]:
    """The features by name; those of an array are named by their places."""
    told = msgspec.json.decode(decided.features)
    return told if isinstance(told, dict) else {str(place): value for place, value in enumerate(told)}


def options_of(row: Row) -> dict[Label, Any]:
    """What could be shown, with its features."""
    if row.decided.options is not None:
        told: dict[Label, Any] = msgspec.json.decode(row.decided.options)
        return told if row.decided.allowed is None else {id_: told[str(id_)] for id_ in row.decided.allowed}
    return {label: {} for label in row.decided.allowed or row.labels}
