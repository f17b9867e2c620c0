"""Which models are in memory: loaded when asked for, put away when idle, under one ceiling."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from banditboost.serve.store.base import StoredModel

_BESIDE = 30_000  # bytes of a model that its own count does not tell


class Resident(Protocol):
    """A model in memory."""

    stored: StoredModel

    @property
    def memory_usage(self) -> int: ...

    def leave(self) -> None:
        """It is put away."""
        ...


_Resident = TypeVar("_Resident", bound=Resident)


class Residents(Generic[_Resident]):
    """Models in memory by name, the one that was asked for last at the end."""

    def __init__(self) -> None:
        self._by_name: OrderedDict[str, _Resident] = OrderedDict()
        self._weights: dict[str, int] = {}
        self._touched: set[str] = set()
        self.memory = 0
        """Bytes of all, as they were last weighed."""

    def __len__(self) -> int:
        return len(self._by_name)

    def __iter__(self) -> Iterator[_Resident]:
        """The one that nobody has asked for the longest first."""
        return iter(list(self._by_name.values()))

    def names(self) -> list[str]:
        """In the same order. Who has names only does not keep what is put away meanwhile."""
        return list(self._by_name)

    def look(self, name: str) -> _Resident | None:
        """The model, for which nobody has asked."""
        return self._by_name.get(name)

    def get(self, name: str) -> _Resident | None:
        """The model, which has been asked for now."""
        served = self._by_name.get(name)
        if served is not None:
            self._by_name.move_to_end(name)
            self._touched.add(name)
        return served

    def put(self, served: _Resident) -> None:
        """It is in memory from now on."""
        self._by_name[served.stored.name] = served
        self._weigh(served.stored.name)

    def drop(self, name: str) -> None:
        """Forget it; its log makes it again."""
        if (served := self._by_name.pop(name, None)) is not None:
            served.leave()
            self.memory -= self._weights.pop(name)

    def clear(self) -> None:
        """Forget all."""
        for served in self:
            self.drop(served.stored.name)

    def weigh(self) -> None:
        """Weigh those that were asked for since this was last called."""
        touched, self._touched = self._touched, set()
        for name in touched:
            if name in self._by_name:
                self._weigh(name)

    def _weigh(self, name: str) -> None:
        weight = self._by_name[name].memory_usage + _BESIDE
        self.memory += weight - self._weights.get(name, 0)
        self._weights[name] = weight
