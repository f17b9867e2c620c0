"""How fast each model was answered in the last minutes, and what went wrong, in bounded memory."""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict, deque
from itertools import accumulate
from typing import Any

import msgspec

SECONDS = 10  # of a slot
SLOTS = 60
MOST_MODELS = 256
"""Beyond these the model that was not asked for the longest time is forgotten here."""
EDGES = tuple(0.00025 * 2.0**step for step in range(16))
"""Seconds, where the bars of a histogram end; one more has no end."""


class Slot(msgspec.Struct):
    """Requests about one model in ten seconds."""

    start: int
    answered: int = 0
    refused: int = 0  # statuses 4xx
    failed: int = 0  # statuses 5xx
    bars: list[int] = msgspec.field(default_factory=lambda: [0] * (len(EDGES) + 1))

    def add(self, status: int, seconds: float) -> None:
        self.bars[bisect_left(EDGES, seconds)] += 1
        if status < 400:
            self.answered += 1
        elif status < 500:
            self.refused += 1
        else:
            self.failed += 1


class Traffic:
    """The last ten minutes of the models that were asked last."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, deque[Slot]] = OrderedDict()

    def add(self, model: str, at: float, status: int, seconds: float) -> None:
        """A request about a model was answered."""
        slots = self._models.get(model)
        if slots is None:
            slots = self._models[model] = deque(maxlen=SLOTS)
            if len(self._models) > MOST_MODELS:
                self._models.popitem(last=False)
        else:
            self._models.move_to_end(model)
        start = int(at) - int(at) % SECONDS
        if not slots or slots[-1].start < start:
            slots.append(Slot(start))
        slots[-1].add(status, seconds)

    def show(self, model: str, now: float) -> dict[str, Any]:
        """What the page draws."""
        first = now - SECONDS * SLOTS
        slots = [slot for slot in self._models.get(model, ()) if slot.start > first]
        return {
            "seconds": SECONDS,
            "slots": SLOTS,
            "points": [_told(slot) for slot in slots],
            "all": _told(merged(slots, int(first))),
        }


def merged(slots: list[Slot], start: int) -> Slot:
    """All of them together."""
    made = Slot(start)
    for slot in slots:
        made.answered += slot.answered
        made.refused += slot.refused
        made.failed += slot.failed
        made.bars = [a + b for a, b in zip(made.bars, slot.bars, strict=True)]
    return made


def quantile(bars: list[int], share: float) -> float | None:
    """Below how many seconds this share of the requests were answered; between two edges, in proportion."""
    wanted = share * sum(bars)
    if not wanted:
        return None
    for place, reached in enumerate(accumulate(bars)):
        if reached >= wanted:
            low = EDGES[place - 1] if place else 0.0
            high = EDGES[min(place, len(EDGES) - 1)]
            return low + (high - low) * (wanted - (reached - bars[place])) / bars[place]
    raise AssertionError("the last bar reaches the sum")


def _told(slot: Slot) -> dict[str, Any]:
    return {
        "start": slot.start,
        "answered": slot.answered,
        "refused": slot.refused,
        "failed": slot.failed,
        "p50": quantile(slot.bars, 0.5),
        "p99": quantile(slot.bars, 0.99),
    }
