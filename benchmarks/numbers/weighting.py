"""What guide-logs.md says about importance weighting."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import weighting
from benchmarks.numbers.sources import lines
from benchmarks.numbers.speed import origin

VALUES: dict[str, Callable[[], str]] = {
    "weighting.table": lambda: weighting.report(lines(weighting.NAME)),
    "weighting.verdict": lambda: weighting.verdict(lines(weighting.NAME)),
    "weighting.origin": lambda: origin(weighting.NAME),
}
