"""What pages say about the paper's tables in both modes."""

from __future__ import annotations

from collections.abc import Callable

from banditboost.experiments import agreement, reading
from banditboost.experiments.protocol import MODES
from benchmarks.numbers.sources import reproduced
from benchmarks.reproduction import runs_of


def within(mode: str) -> str:
    """How many cells of a mode are near print."""
    (found,) = (
        row
        for row in agreement.within(runs_of("table1", reproduced())).numbers
        if (row["part"], row["protocol"]) == ("all", mode)
    )
    return f"{found['within']} of {found['cells']} cells ({found['above']} above, {found['below']} below)"


def minutes(artefact: str) -> str:
    """Of one core, in both modes."""
    seconds = sum(record["seconds"] for record in runs_of(artefact, reproduced()))
    return f"{seconds / 60:.1f} min"


def all_minutes() -> str:
    return f"{sum(record['seconds'] for record in reproduced()) / 60:.0f} minutes"


def once_played(value: Callable[..., str], *given: str) -> Callable[[], str]:
    """A value of records that may not have been kept yet."""
    return lambda: value(*given) if reproduced() else "(not played yet)"


VALUES: dict[str, Callable[[], str]] = {
    "tables.places": reading.table,
    **{f"tables.within-{mode}": once_played(within, mode) for mode in MODES},
    "tables.minutes-tables": once_played(minutes, "table1"),
    "tables.minutes-table4": once_played(minutes, "table4"),
    "tables.minutes-estimators": once_played(minutes, "estimators"),
    "tables.minutes-learners": once_played(minutes, "learners"),
    "tables.minutes": once_played(all_minutes),
}
