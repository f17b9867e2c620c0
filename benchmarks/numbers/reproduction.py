"""What pages say about the paper's tables in both modes."""

from __future__ import annotations

from collections.abc import Callable

from banditboost.experiments import agreement, reading
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


VALUES: dict[str, Callable[[], str]] = {
    "tables.places": reading.table,
    "tables.within-text": lambda: within("text"),
    "tables.within-ours": lambda: within("ours"),
    "tables.minutes-tables": lambda: minutes("table1"),
    "tables.minutes-table4": lambda: minutes("table4"),
    "tables.minutes-estimators": lambda: minutes("estimators"),
    "tables.minutes-learners": lambda: minutes("learners"),
    "tables.minutes": all_minutes,
}
