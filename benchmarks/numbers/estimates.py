"""What evaluation.md says about the speed of estimates."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import estimates
from benchmarks.numbers.sources import lines
from benchmarks.numbers.speed import origin

VALUES: dict[str, Callable[[], str]] = {
    "estimates.table": lambda: estimates.report(lines(estimates.NAME)),
    "estimates.origin": lambda: origin(estimates.NAME),
}
