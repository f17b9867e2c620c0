"""Which values of nominal features have a place of their own, which get one now, and which share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager

from banditboost.rows.positions import Positions
from banditboost.rows.sharing import FIRST_VALUES, MAX_VALUES, SHARED, Comings, Note, code_of


class ValuePlaces(Positions):
    """What a schema knows of the features and of their values; it codes no rows."""

    gathered: list[tuple[Hashable, str]] | None = None
    """What comes without getting a place, as long as somebody gathers it (`gathering`)."""

    def _is_own(self, name: Hashable, value: str) -> bool:
        """Whether a nominal value has a place of its own."""
        codes = self._columns[name][1] if name in self._columns else None
        return codes is not None and value in codes

    def _joins(self, name: Hashable, value: str, codes: Mapping[Hashable, int], told: bool = False) -> bool:
        """Whether a value gets a place of its own now."""
        if len(codes) < FIRST_VALUES or self.keeps_all_values:
            return True
        if told:
            return len(codes) < MAX_VALUES
        if self._ahead is None:
            self._newcomers.settle(self.rounds)
        return len(codes) < MAX_VALUES and self._newcomers.has(name, value)

    def write_notes(self, found: list[tuple[Hashable, str]]) -> None:
        """Note what came without getting a place, in the round that the row is for."""
        if self.gathered is not None:
            self.gathered.extend(found)
            return
        round_ = self.rounds if self._ahead is None else self._ahead
        self._newcomers.note([Note(round_, name, value) for name, value in found])
        if not self.counters:
            self._newcomers.settle(round_ + 1)

    @contextmanager
    def gathering(self) -> Iterator[list[tuple[Hashable, str]]]:
        """Rows that are coded now are of one round: what is to be noted of all of them, later and at once."""
        found: list[tuple[Hashable, str]] = []
        self.gathered = found
        try:
            yield found
        finally:
            self.gathered = None

    def number_of(self, name: Hashable, value: str) -> float:
        """The number that a nominal value has in a coded row, if it does not join."""
        codes = self._columns[name][1] if name in self._columns else None
        return (codes or {}).get(value, SHARED + code_of(name, value))

    def comings(self, name: Hashable, rows: list[int], values: list[str]) -> Comings:
        """With which of these rows one of these values gets a place of its own; in between nothing is
        decided but rows of the same table.
        """
        self._newcomers.settle(self.rounds)
        codes = self._columns[name][1] if name in self._columns else None
        return self._newcomers.comings(name, len(codes or ()), rows, values)

    def note_ahead(self, found: list[Note]) -> None:
        """Note what comes without a place in rounds that are not decided yet."""
        if found:
            self._newcomers.look_ahead(self.rounds, has_joined=True)
            self._newcomers.note(found)

    def shared_values(self) -> dict[Hashable, tuple[int, int]]:
        """Of each nominal feature to which values came that had no place of their own: how many values have
        one now, and about how many have none.
        """
        about = self._newcomers.about(self.rounds)
        return {name: self._own_and_sharing(name, n) for name, n in about.items()}

    def _own_and_sharing(self, name: Hashable, n_without: int) -> tuple[int, int]:
        """Of so many values that came without a place, those have one now that were not the first ones."""
        own = len(self._columns[name][1] or ())
        n_given = own - max(FIRST_VALUES, self._declared_values.get(name, 0))
        return own, max(0, n_without - max(0, n_given))

    def look_ahead(self, has_joined: bool = False) -> None:
        """Rows are coded before those before them are decided; the first may be one that has just joined."""
        self._newcomers.look_ahead(self.rounds, has_joined)
