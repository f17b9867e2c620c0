"""Models that notice changes of the world, and tell: by the log, and by calling back."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from banditboost.errors import ParameterError
from banditboost.inspection.changes import Change, Watch, latest, stored_watch, watch_arrays
from banditboost.log import LOGGER
from banditboost.models.deciding import DecidingModel
from banditboost.models.locking import locked
from banditboost.models.settings import CHANGES
from banditboost.text import quoted
from banditboost.types import Array


class NoticingModel(DecidingModel):
    """A model that may look for changes; `_watch` is what it needs for that."""

    _watch: Watch
    _on_change: Callable[[Change], Any] | None = None
    _n_told: int = 0
    """Of how many changes was told."""

    def _is_watching(self) -> bool:
        """Whether it looks for changes."""
        return False

    @property
    @locked
    def changes(self) -> tuple[Change, ...]:
        """The changes of the world that were noticed, the oldest first; of more than 64 the last 64.

        >>> from banditboost import GapBoost
        >>> GapBoost(["yes", "no"], seed=1).changes
        ()
        """
        return self._latest_changes()

    def _latest_changes(self) -> tuple[Change, ...]:
        if not self._is_watching():
            return ()
        return latest(self._watch, self._calls.counters[CHANGES], self.labels)

    @property
    def on_change(self) -> Callable[[Change], Any] | None:
        """A function that is called with each `Change` when it is noticed, after `learn` or `learn_many` has
        learned, or when `play` ends; None if nobody asks.

        It runs in the thread that has told the verdict, when the model is free: it may look at the model, let
        it decide or learn, or save it. What it raises does not reach the caller of `learn`; it goes to
        `sys.excepthook`, which prints it. Files, copies and branches of the model do not have it.
        """
        return self._on_change

    @on_change.setter
    def on_change(self, given: Callable[[Change], Any] | None) -> None:
        if given is not None and not callable(given):
            raise ParameterError(
                f"on_change is {quoted(given)}; give a function that takes a Change, or None"
            )
        self._set_on_change(given)

    @locked
    def _set_on_change(self, given: Callable[[Change], Any] | None) -> None:
        self._on_change = given

    def _tell_changes(self) -> None:
        """Tell of changes that were noticed and not told of yet. Called when the lock is free."""
        while (change := self._next_to_tell()) is not None:
            LOGGER.info("%s: %s", type(self).__name__, change)
            tell = self._on_change
            if tell is not None:
                try:
                    tell(change)
                except Exception as error:
                    sys.excepthook(type(error), error, error.__traceback__)

    @locked
    def _next_to_tell(self) -> Change | None:
        """The first change of which nobody was told; it counts as told from now on."""
        for change in self._latest_changes():
            if change.number > self._n_told:
                self._n_told = change.number
                return change
        return None

    def _changes_to_show(self) -> dict[str, Any]:
        """Of the summary."""
        if not self._is_watching():
            return {}
        found = self._latest_changes()
        return {"changes": self._calls.counters[CHANGES], "last_change": found[-1] if found else None}

    # Copies and files

    def _kept(self) -> dict[str, Any]:
        return {name: value for name, value in super()._kept().items() if name != "_on_change"}

    def _watch_to_keep(self) -> dict[str, Array]:
        return watch_arrays(self._watch, self._calls.counters[CHANGES]) if self._is_watching() else {}

    def _restore_watch(self, arrays: dict[str, Array]) -> None:
        if self._is_watching():
            self._watch, n_changes = stored_watch(
                arrays, self._watch, len(self.labels), int(self._counts.verdicts)
            )
            self._counts.changes = self._n_told = n_changes
            found = latest(self._watch, n_changes, self.labels)
            self._counts.began = found[-1].verdicts if found else 0
