"""Options that were offered before, and their numbers: those that come again unchanged are not coded again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import chain, compress
from operator import eq, not_
from typing import Any

import numpy as np

from banditboost.types import Array

MOST_CELLS = 1 << 17  # numbers and features that are kept, of all options together
_FLAGS = (0.0, 1.0)  # numbers that are equal to a bool, which counts as a name
_NUMBERS = frozenset({float, int})


class Catalogue:
    """Features and numbers of options by id, for one version of a schema.

    Features are kept as copies, so that whoever changes a dict has it coded anew.
    """

    __slots__ = ("_coded", "_features", "_flagged", "_places", "_room")

    def __init__(self, n_columns: int) -> None:
        self._room = 1 + MOST_CELLS // (1 + n_columns)
        self._coded = np.empty((1, n_columns))
        self._forget()

    def _forget(self) -> None:
        self._places: dict[Hashable, int] = {}
        self._features: list[Mapping[Any, Any] | None] = [None]  # what no option is equal to
        self._flagged: set[int] = set()

    def write(
        self, ids: Sequence[Hashable], features: Sequence[Mapping[Any, Any]], columns: Any, rows: Array
    ) -> list[int]:
        """Write the numbers of those that are known into these columns of their rows, and tell the places of
        the others.
        """
        get = self._places.get
        places = [get(id_, 0) for id_ in ids]
        try:
            same = list(map(eq, features, map(self._features.__getitem__, places)))
            others = [] if all(same) else list(compress(range(len(ids)), map(not_, same)))
        except Exception:  # whatever a value raises when it is compared
            return list(range(len(ids)))
        if len(others) < len(ids):
            rows[:, columns] = self._coded[places]
        if self._flagged:
            others = sorted({*others, *self._doubtful(places, features)})
        return others

    def _doubtful(self, places: Sequence[int], features: Sequence[Mapping[Any, Any]]) -> list[int]:
        """Options with a bool where a number was that is equal to it."""
        flagged = [i for i, place in enumerate(places) if place in self._flagged]
        return [i for i in flagged if bool in set(map(type, features[i].values()))]

    def keep(self, ids: Sequence[Hashable], features: Sequence[Mapping[Any, Any]], coded: Array) -> None:
        """Keep options that were coded, and whose features are floats, ints and strings."""
        if len(self._places) + len(ids) >= self._room:
            self._forget()
        for id_, one, numbers in zip(ids[: self._room - 1], features, coded, strict=False):
            place = self._places.setdefault(id_, len(self._features))
            if place == len(self._features):
                self._features.append(None)
            self._make_room(place)
            self._features[place], self._coded[place] = dict(one), numbers
            self._flagged.discard(place)
            if not _FLAGS.isdisjoint(numbers.tolist()) : self._flagged.add(place)

    def _make_room(self, place: int) -> None:
        if place >= len(self._coded):
            more = np.empty((2 * len(self._coded), self._coded.shape[1]))
            more[: len(self._coded)] = self._coded
            self._coded = more
