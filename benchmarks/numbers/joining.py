"""What performance.md says about values, columns and ids that join."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import joining
from benchmarks.numbers.sources import lines
from benchmarks.numbers.speed import origin

VALUES: dict[str, Callable[[], str]] = {
    "joining.table": lambda: joining.report([line for line in lines("joining") if line["part"] != "ids"]),
    "joining.ids": lambda: joining.report([line for line in lines("joining") if line["part"] == "ids"]),
    "joining.rounds": lambda: f"{joining.N_COLUMNS:,}",
    "joining.origin": lambda: origin("joining"),
}
