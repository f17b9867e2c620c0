"""The time of day as logs tell it: it never goes back."""

from __future__ import annotations

import time
from collections.abc import Callable


class Clock:
    """Seconds since 1970, held at the last time while the machine's clock stands before it.

    >>> times = iter([100.0, 90.0, 105.0])
    >>> clock = Clock(lambda: next(times))
    >>> clock.now(), clock.now(), clock.behind, clock.now(), clock.behind
    (100.0, 100.0, 10.0, 105.0, 0.0)
    """

    def __init__(self, tell: Callable[[], float] = time.time) -> None:
        self._tell = tell
        self._last = 0.0
        self.behind = 0.0
        """By how many seconds the machine's clock stands before the last time."""

    def now(self) -> float:
        """The time, at least that of the call before."""
        told = self._tell()
        if told < self._last:
            self.behind = self._last - told
            return self._last
        self.behind, self._last = 0.0, told
        return told

    def at_least(self, time_: float) -> None:
        """A log tells of this time."""
        self._last = max(self._last, time_)
