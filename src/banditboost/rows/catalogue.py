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
        # Places with a 0 or 1, which a bool is equal to, though it counts as a name.
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
        again = [i for i, id_ in enumerate(ids) if id_ in self._places]
        if len(again) == len(ids):
            self._put(ids, features, coded)
        else:
            self._put([ids[i] for i in again], [features[i] for i in again], coded[again])
            for id_ in ids:
                self._places.setdefault(id_, 0)

    def _put(self, ids: Sequence[Hashable], features: Sequence[Mapping[Any, Any]], coded: Array) -> None:
        """Keep options whose ids have come before."""
        known = self._places
        for id_ in ids:
            if known[id_] == 0:
                known[id_] = len(self._features)
                self._features.append(None)
        while len(self._coded) < len(self._features):
            self._coded = np.concatenate([self._coded, np.empty_like(self._coded)])
        places = [known[id_] for id_ in ids]
        self._coded[places] = coded
        for place, one in zip(places, features, strict=True):
            self._features[place] = dict(one)
        self._flagged.difference_update(places)
        like_bools = ((coded == 0.0) | (coded == 1.0)).any(axis=1).tolist()
        self._flagged.update(compress(places, like_bools))
