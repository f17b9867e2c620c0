"""What is known of records that are used again: from when they are, and which classes were edited since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path

from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.records import Record, checked
from banditboost.experiments.references import is_reference, source_files
from banditboost.experiments.task import Task


def span(records: Iterable[Record]) -> str:
    """When the first and the last of some runs were finished, in UTC.

    >>> span([{"finished": "2026-11-18T05:18:00Z"}, {"finished": "2026-11-17T04:00:00Z"}])
    '2026-11-17 04:00 to 2026-11-18 05:18 UTC'
    """
    moments = sorted(record["finished"][:16].replace("T", " ") for record in checked(records, "finished"))
    first, last = moments[0], moments[-1]
    return f"{first} UTC" if first == last else f"{first} to {last} UTC"


def edited_since(kept: Mapping[Task, Record]) -> dict[Path, int]:
    """Files of the user's classes that are newer than the records of their runs; of how many runs each is."""
    stale: Counter[Path] = Counter()
    for task, record in kept.items():
        finished = _seconds(record)
        for reference in (task.learner, task.parameters.get("weak_learner")):
            stale.update(path for path in _files(reference) if path.stat().st_mtime > finished + 1)
    return dict(stale)


def _files(reference: object) -> list[Path]:
    if not isinstance(reference, str) or not is_reference(reference):
        return []
    try:
        return source_files(reference)
    except ExperimentError:  # it is not at hand any more, and its records are
        return []


def _seconds(record: Record) -> float:
    """When a run was finished, to the second; as if it never had been if that cannot be read."""
    try:
        return datetime.fromisoformat(record["finished"]).timestamp()
    except (OSError, OverflowError, ValueError):
        return float("inf")
