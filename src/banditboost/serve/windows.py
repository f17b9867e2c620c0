"""Decisions that wait for a verdict, in the order in which their windows end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice, takewhile
from typing import Any

from banditboost.decision import Decision
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, Label

_BYTES = 900  # of an open decision, besides its numbers and features


class OpenDecision:
    """What is known of a decision until its window ends, or until what ended it is on disk."""

    __slots__ = (
        "answer",
        "asked",
        "assigned",
        "at",
        "choices",
        "content",
        "decision",
        "done",
        "heard",
        "made",
        "names",
        "sum",
        "waiting",
        "window",
    )

    def __init__(self, answer: DecisionAnswer, at: float, window: float, content: int) -> None:
        self.answer, self.at, self.window, self.content = answer, at, window, content
        self.choices = 0  # how many labels could have been shown
        self.assigned = 1.0  # the probability that this arm decides
        self.decision: Decision | None = None  # of the model, if it is to be learned that way
        self.made: bytes | None = None  # of a branch of the model: its decision in JSON
        self.asked: DecisionRequest | None = None  # else
        self.waiting = answer.deferred  # to be activated
        self.heard = 0  # verdicts that count or are held
        self.sum = 0.0  # of what they said
        self.names: dict[str, None] = {}  # of those that have one, in their order
        self.done: str | None = None  # what a verdict is answered from now on: "duplicate" or "late"

    @property
    def label(self) -> Label:
        """What is shown."""
        return self.answer.label

    @property
    def probability(self) -> float:
        """With what probability."""
        return self.answer.probability

    @property
    def arm(self) -> str:
        """Who chose."""
        return self.answer.arm

    @property
    def memory_usage(self) -> int:
        """Bytes, roughly."""
        numbers: Any = None if self.decision is None else self.decision._memo
        told = _BYTES + (0 if numbers is None else int(numbers.nbytes)) + len(self.made or b"")
        if self.asked is not None:
            told += len(self.asked.features) + len(self.asked.options or b"")
        return told


class OpenDecisions:
    """By id. Those of one window's length end in the order in which they were made."""

    def __init__(self) -> None:
        self._by_window: dict[float, OrderedDict[str, OpenDecision]] = {}
        self._done = 0
        self.memory_usage = 0

    def __len__(self) -> int:
        """How many are not done."""
        return sum(map(len, self._by_window.values())) - self._done

    def __iter__(self) -> Iterator[OpenDecision]:
        """Those that are not done, in the order of each window."""
        for waiting in self._by_window.values():
            yield from (one for one in waiting.values() if one.done is None)

    def get(self, id_: str) -> OpenDecision | None:
        """The decision of this id, if it is known."""
        for waiting in self._by_window.values():
            if (found := waiting.get(id_)) is not None:
                return found
        return None

    def add(self, one: OpenDecision) -> None:
        """Decisions are added in the order in which they were made."""
        waiting = self._by_window.get(one.window)
        if waiting is None:
            waiting = self._by_window[one.window] = OrderedDict()
        waiting[one.answer.id] = one
        self.memory_usage += one.memory_usage

    def finish(self, one: OpenDecision, answer: str) -> None:
        """Nothing is learned of it any more; verdicts are answered like this until it is forgotten."""
        self.memory_usage -= one.memory_usage
        one.done, one.decision, one.made, one.asked = answer, None, None, None
        self.memory_usage += one.memory_usage
        self._done += 1

    def forget(self, id_: str) -> None:
        """What has finished it is on disk."""
        for window, waiting in self._by_window.items():
            if (one := waiting.pop(id_, None)) is not None:
                self._done -= one.done is not None
                self.memory_usage -= one.memory_usage
                if not waiting:
                    del self._by_window[window]
                return

    def ended(self, now: float, most: int) -> list[OpenDecision]:
        """Those whose window has ended and that are not done, in the order of the ends, so many at most."""
        found: list[OpenDecision] = []
        for waiting in self._by_window.values():
            ended = takewhile(lambda one: one.answer.expires < now, waiting.values())
            found += islice((one for one in ended if one.done is None), most)
        found.sort(key=lambda one: (one.answer.expires, one.at))
        return found[:most]
