"""The command: see the package."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import machine, records
from benchmarks.crash.found import Found
from benchmarks.crash.killing import kill_again_and_again

PACKAGES = ("numpy", "numba", "psycopg")
ALONE, TOGETHER = "`kill -9` of the service under load", "`kill -9` of one of three workers with PostgreSQL"


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, tell, and keep a record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", action="store_true", help="three processes on a PostgreSQL of their own")
    parser.add_argument("--folder", type=Path, help="keeps what was found; the same command goes on there")
    records.add_option(parser, "reliability")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = _found(given, given.folder or Path(folder))
    print(*found.lost[:5], *found.wrong[:5], sep="\n")
    line = _line(found, given.workers)
    print(line)
    if given.record:
        about = records.about(machine.describe(None, PACKAGES), _typed(given))
        records.update(given.record, [{**line, **about}], ["tried"])
    return 1 if found.lost or found.wrong else 0


def _found(given: argparse.Namespace, folder: Path) -> Found:
    folder.mkdir(parents=True, exist_ok=True)
    if not given.workers:
        return kill_again_and_again(folder, given.kills, given.seed)
    from benchmarks.crash.workers import kill_workers
    from tests.serve.postgresql import running

    with running() as database:
        return kill_workers(database.fresh(), folder, given.kills, given.seed)


def _line(found: Found, workers: bool) -> dict[str, Any]:
    starts = [kill.start for kill in found.kills]
    return {
        "tried": TOGETHER if workers else ALONE,
        "counted": f"{len(found.kills)} kills after {found.answers:,} answers",
        "found": f"{len(found.lost)} answers lost, {len(found.wrong)} faults"
        if found.lost or found.wrong
        else "no answer lost, models the same",
        "start_median": round(statistics.median(starts), 2),
        "start_most": round(max(starts), 2),
    }


def _typed(given: argparse.Namespace) -> str:
    workers = " --workers" if given.workers else ""
    return f"python -m benchmarks.crash --kills {given.kills} --seed {given.seed}{workers} --record"


if __name__ == "__main__":
    raise SystemExit(main())
