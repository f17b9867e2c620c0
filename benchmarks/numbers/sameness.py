"""What data.md says about the forms of words."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import sameness
from benchmarks.numbers.sources import lines
from benchmarks.numbers.speed import origin

VALUES: dict[str, Callable[[], str]] = {
    "sameness.table": lambda: sameness.report(lines("sameness")),
    "sameness.furthest": lambda: f"{sameness.furthest(lines('sameness')):.3f}",
    "sameness.origin": lambda: origin("sameness"),
}
