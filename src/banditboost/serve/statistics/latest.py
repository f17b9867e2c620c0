"""The last decisions: what was asked, what the model thought, what became of it."""

from __future__ import annotations

from typing import Any

from banditboost.serve.events import Decided

MOST_DECISIONS = 50
MOST_BYTES = 2_000  # of the features of one
MOST_PLACES = 10  # of a ranking


class LatestDecisions:
    """The last ones by id, the oldest first."""

    def __init__(self) -> None:
        self.decisions: dict[str, dict[str, Any]] = {}

    def add(self, at: float, event: Decided) -> None:
        self.decisions[event.id] = {
            "id": event.id,
            "at": at,
            "features": event.features[:MOST_BYTES].decode("utf-8", "replace"),
            "cut": len(event.features) > MOST_BYTES,
            "label": event.label,
            "probability": event.probability,
            "explored": event.explored,
            "arm": event.arm,
            "version": event.version,
            "ranking": [list(place) for place in event.ranking[:MOST_PLACES]],
            "outcome": None,
            "reward": None,
            "told": None,
        }
        if len(self.decisions) > MOST_DECISIONS:
            del self.decisions[next(iter(self.decisions))]

    def tell(self, at: float, id: str, outcome: str, reward: float | None) -> None:
        """What became of it; what was learned stays, whatever comes later."""
        found = self.decisions.get(id)
        if found is not None and found["outcome"] not in ("learned", "closed"):
            found.update(outcome=outcome, reward=reward, told=at)

    def to_plain(self) -> list[dict[str, Any]]:
        return [dict(told) for told in self.decisions.values()]  # they change as more is heard

    def restore(self, plain: list[dict[str, Any]]) -> None:
        self.decisions = {told["id"]: dict(told) for told in plain}
