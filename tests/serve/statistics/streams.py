"""Logs of a model that is served, drawn at random, for the statistics and for their twin."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from banditboost.serve.events import Closed, Decided, Judged, Settled
from banditboost.serve.statistics import ModelStatistics

REWARDS = (0.0, 4.0)


class Known(NamedTuple):
    """What the service knows of a decision."""

    at: float
    label: str | int
    probability: float
    arm: str
    choices: int
    assigned: float


class Stream:
    """The same events for the package (`told`) and for the twin (`events`)."""

    def __init__(self, seed: int, n: int, pace: float) -> None:
        self._random, self._at, self._pace = random.Random(seed), 1_000_000_000.0, pace
        self.told: list[tuple[Any, ...]] = []
        self.events: list[tuple[str, float, dict[str, Any]]] = []
        self._open: list[tuple[str, Known]] = []
        self._settle(["a", "b", 3], 0.25)
        for number in range(n):
            self._at += self._random.expovariate(1.0) * pace
            self._step(number)

    def _step(self, number: int) -> None:
        draw = self._random.random()
        if draw < 0.55 or not self._open:
            self._decide(str(number))
        elif draw < 0.9:
            self._judge()
        elif draw < 0.99:
            self._close()
        else:
            self._settle(
                self._random.choice([["a", "b", 3], ["a", "b", 3, "c"]]),
                self._random.choice([0.0, 0.25, 0.5]),
            )

    def _settle(self, labels: list[str | int], control: float) -> None:
        self._labels, self._control = labels, control
        told = {"labels": labels, "control": control, "rewards": REWARDS}
        self.told.append((self._at, Settled(told)))
        self.events.append(("settled", self._at, told))

    def _decide(self, id: str) -> None:
        draw = self._random
        arm = "control" if draw.random() < self._control else "model"
        choices = len(self._labels) - (draw.random() < 0.2)
        assigned = self._control if arm == "control" else 1.0 - self._control
        known = Known(
            self._at, draw.choice(self._labels), draw.choice([0.05, 0.3, 0.9]), arm, choices, assigned
        )
        explored = draw.random() < 0.3
        event = Decided(
            id, b"{}", None, None, arm, known.label, known.probability, explored, False, self._at + 60, "v"
        )
        self.told.append((self._at, event, known))
        self.events.append(("decided", self._at, {"label": known.label, "arm": arm, "explored": explored}))
        self._open.append((id, known))

    def _judge(self) -> None:
        place = self._random.randrange(len(self._open))
        id, known = self._open[place]
        outcome = self._random.choice(
            ["learned", "learned", "learned", "late", "duplicate", "held", "unknown"]
        )
        reward = self._random.choice([0.0, 1.0, 3.0, 4.0])
        if outcome == "unknown":
            self.told.append((self._at, Judged("nobody", reward, outcome)))
            self.events.append(("judged", self._at, {"outcome": outcome}))
        else:
            self._tell(Judged(id, reward, outcome), known, reward if outcome == "learned" else None, outcome)
        if outcome == "learned":
            del self._open[place]

    def _close(self) -> None:
        id, known = self._open.pop(0)
        reward = self._random.choice([None, 0.0, 4.0])
        self._tell(Closed(id, reward), known, reward, "forgotten" if reward is None else "closed")

    def _tell(self, event: Any, known: Known, learned: float | None, outcome: str) -> None:
        self.told.append((self._at, event, known, learned))
        told = {
            "outcome": outcome,
            "decided": known.at,
            "label": known.label,
            "p": known.probability,
            "arm": known.arm,
            "choices": known.choices,
            "assigned": known.assigned,
        }
        if learned is not None:
            told["u"] = (learned - REWARDS[0]) / (REWARDS[1] - REWARDS[0])
        self.events.append(("judged" if isinstance(event, Judged) else "closed", self._at, told))


def watched(stream: Stream) -> ModelStatistics:
    """Statistics that were told all of it."""
    made = ModelStatistics()
    for told in stream.told:
        made.note(*told)
    return made
