"""What a log says has happened, by plain calls of the library: nothing of the service decides or learns here."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from banditboost import Decision
from banditboost.loading import from_bytes
from banditboost.models.saving import to_bytes
from banditboost.serve.events import Activated, Closed, Decided, Judged, Settled, chained, decode
from banditboost.serve.store.base import Store, StoredEvent, StoredModel


class Truth:
    """One model that was never killed, and what its log tells of each decision."""

    def __init__(self, store: Store, stored: StoredModel) -> None:
        first = store.snapshot(stored.number, 0)
        self.model: Any = from_bytes(first.file, stored.name)
        self.model._identity.go_on()  # in the run in which the service decides
        self.stored, self.n, self.chain, self.at = stored, 0, 0, 0.0
        self.decided: dict[str, Decided] = {}
        self.outcomes: dict[str, list[str]] = {}
        self.decisions: dict[str, Any] = {}
        self.held: dict[str, float] = {}
        self.learned: set[str] = set()
        self.wrong: list[str] = []
        self.learned_n = 0
        """The last event that the model knows."""
        self._behind: deque[tuple[int, Callable[[], None]]] = deque()

    def read_on(self, store: Store) -> None:
        """Take in what is new in the log; `learn_to` teaches it to the model."""
        while events := store.read(self.stored.number, self.n):
            for event in events:
                self._take(event)

    def learn_to(self, n: int) -> None:
        """Let the model decide and learn what the log tells, up to this event."""
        while self._behind and self._behind[0][0] <= n:
            self.learned_n, do = self._behind.popleft()
            do()

    def _take(self, stored: StoredEvent) -> None:
        self.chain = chained(self.chain, stored.n, stored.at, stored.body)
        if stored.n != self.n + 1 or stored.chain != self.chain or stored.at < self.at:
            self.wrong.append(f"event {stored.n} does not follow {self.n}")
        self.n, self.at = stored.n, stored.at
        event = decode(stored.body)
        if isinstance(event, Decided):
            if event.id in self.decided:
                self.wrong.append(f"{event.id} was decided twice")
            self.decided[event.id] = event
            self._later(partial(self._decide, event))
        elif not isinstance(event, Settled):
            self._hear(event)
        self._later(lambda: None)

    def _later(self, do: Callable[[], None]) -> None:
        self._behind.append((self.n, do))

    def _decide(self, event: Decided) -> None:
        if event.made is None:
            decision = self.model.decide(msgspec.json.decode(event.features))
        else:  # by a branch
            decision = Decision.from_dict(msgspec.json.decode(event.made))
        if (decision.label, decision.probability) != (event.label, event.probability):
            self.wrong.append(f"{event.id} is {decision.label!r} here and {event.label!r} in the log")
        self.decisions[event.id] = decision

    def _hear(self, event: Any) -> None:
        if isinstance(event, Judged):
            self.outcomes.setdefault(event.id, []).append(event.outcome)
            if event.outcome in ("held", "added"):
                self.held[event.id] = self.held.get(event.id, 0.0) + event.reward
            elif event.outcome == "learned":
                self._learn(event.id, event.reward)
        elif isinstance(event, Activated):
            self.outcomes.setdefault(f"activate {event.id}", []).append(event.outcome)
            if event.outcome == "learned":
                self._learn(event.id, self.held[event.id])
        elif isinstance(event, Closed) and event.reward is not None:
            self._learn(event.id, event.reward)

    def _learn(self, id_: str, reward: float) -> None:
        if id_ in self.learned:
            self.wrong.append(f"{id_} was learned twice")
        self.learned.add(id_)
        self._later(lambda: self.model.learn(self.decisions.pop(id_), reward=reward))

    def file(self) -> bytes:
        """The model as far as it has learned."""
        return to_bytes(self.model, self.stored.name)

    def lacks(self, line: list[Any]) -> bool:
        """Whether an answer that was given is not in the log."""
        what, _, id_, *told = line
        if what == "decided":
            event = self.decided.get(id_)
            return event is None or [event.label, event.probability, event.expires] != told
        if what == "judged":
            return told[0] not in self.outcomes.get(id_, [])
        if told[0] in ("duplicate", "late", "unknown"):
            return False  # an activation without effect is not written down
        return told[0] not in self.outcomes.get(f"activate {id_}", [])
