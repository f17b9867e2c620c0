"""Options that were offered before, and their numbers: what comes again unchanged is not coded again."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import compress
from operator import eq, not_
from typing import Any

import numpy as np

from banditboost.types import Array

MOST_CELLS = 1 << 17  # numbers that are kept, of all options together
MOST_IDS = 1 << 16  # that are kept in mind
_LIKE_BOOLS = frozenset({0.0, 1.0})  # numbers that a bool is equal to, though it counts as a name


class Catalogue:
    """Features and numbers of options by id, for one version of a schema.

    Features are kept as copies: whoever changes a dict has it coded anew. An id is kept when it comes for the
    second time. Those that never come again cost little so.
    """

    __slots__ = ("_coded", "_features", "_flagged", "_places", "_room")

    def __init__(self, n_columns: int) -> None:
        self._room = 1 + MOST_CELLS // max(1, n_columns)
        self._coded = np.full((1, n_columns), np.nan)
        self._forget()

    def _forget(self) -> None:
        self._places: dict[Hashable, int] = {}  # 0: the id came once, and nothing is kept of it
        self._features: list[Mapping[Any, Any] | None] = [None]
        self._flagged: set[int] = set()

    def write(
        self, ids: Sequence[Hashable], features: Sequence[Mapping[Any, Any]], rows: Array, columns: Any
    ) -> list[int]:
        """Write the numbers of options that are known into these columns of their rows. Returns which are not
        known.
        """
        find = self._places.get
        places = [find(id_, 0) for id_ in ids]
        try:
            same = list(map(eq, features, map(self._features.__getitem__, places)))
            others = [] if all(same) else list(compress(range(len(ids)), map(not_, same)))
        except Exception:  # whatever a value raises when it is compared
            return list(range(len(ids)))
        if len(others) < len(ids):
            rows[:, columns] = self._coded[places]
        return sorted({*others, *self._doubtful(places, features)}) if self._flagged else others

    def _doubtful(self, places: Sequence[int], features: Sequence[Mapping[Any, Any]]) -> list[int]:
        """Those that may have a bool where a number was."""
        flagged = [i for i, place in enumerate(places) if place in self._flagged]
        return [i for i in flagged if bool in set(map(type, features[i].values()))]

    def keep(self, ids: Sequence[Hashable], features: Sequence[Mapping[Any, Any]], coded: Array) -> None:
        """Keep options that were coded, and whose features are floats, ints and strings."""
        if len(self._places) + len(ids) > MOST_IDS or len(self._features) + len(ids) > self._room:
            self._forget()
        if len(ids) >= self._room:
            return
        for id_, one, numbers in zip(ids, features, coded, strict=True):
            place = self._places.get(id_)
            if place is None:
                self._places[id_] = 0
            else:
                self._places[id_] = self._put(place or len(self._features), one, numbers)

    def _put(self, place: int, features: Mapping[Any, Any], numbers: Array) -> int:
        if place == len(self._features):
            self._features.append(None)
        if place == len(self._coded):
            self._coded = np.concatenate([self._coded, np.empty_like(self._coded)])
        self._features[place], self._coded[place] = dict(features), numbers
        if _LIKE_BOOLS.isdisjoint(numbers.tolist()):
            self._flagged.discard(place)
        else:
            self._flagged.add(place)
        return place
