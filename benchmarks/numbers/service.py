"""What the service does in numbers, where other pages tell of it."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.numbers.sources import lines
from benchmarks.tables import number


def requests() -> str:
    """A second, everything on disk before the answer."""
    return next(number(line["requests"]) for line in lines("serve") if line["part"] == "full")


VALUES: dict[str, Callable[[], str]] = {"service.requests": requests}
