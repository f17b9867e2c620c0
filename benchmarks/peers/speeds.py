"""GapBoost's speed beside Vowpal Wabbit's, from rates that were measured in turns.

Rates of other days are of other machines, or of a machine that was busier: only those of one run tell who is
faster. `python -m benchmarks.wide STREAM ... --record docs/results/turns.jsonl` measures them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks import records
from benchmarks.peers.plan import CHAMPION
from benchmarks.tables import number, render

NAME = "turns"
SPEED = (
    "Rounds per CPU second on the first 5,000 rounds, in turns on one core: GapBoost through `play`, and Vowpal Wabbit "
    "with its most accurate setting (`python -m benchmarks.wide STREAM ... --record docs/results/turns.jsonl`)."
)
_ACCURATE = "most accurate"


@dataclass(frozen=True)
class Speed:
    """Rounds per second on a stream, of GapBoost and of Vowpal Wabbit's most accurate setting."""

    stream: str
    ours: float
    wabbit: float
    explorer: str

    @property
    def quotient(self) -> float:
        return self.ours / self.wabbit

    def row(self) -> list[str]:
        wabbit = f"{number(self.wabbit)} ({self.explorer.removeprefix('VW ')})"
        return [self.stream, number(self.ours), wabbit, f"{self.quotient:.2f}"]


def speeds() -> list[Speed]:
    """Of all streams that were measured."""
    lines = records.read(records.path_of(NAME))
    return [
        Speed(
            line["stream"],
            line["rates"][CHAMPION],
            line["rates"][_ACCURATE],
            line["settings"][_ACCURATE]["player"],
        )
        for line in lines
    ]


def speed_table(found: Sequence[Speed]) -> str:
    return render(["stream", "GapBoost", "VW, most accurate", "quotient"], [speed.row() for speed in found])
