"""Runs that are written down one by one: a command that was stopped goes on where it was."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from banditboost.experiments.results import Results
from benchmarks import machine, records

ROOT = Path(__file__).parents[1]


class Run(Protocol):
    """One run."""

    @property
    def id(self) -> str: ...

    def play(self) -> dict[str, Any]:
        """What came of it; plain data with this `id`."""


def parser_of(name: str, about: str | None) -> argparse.ArgumentParser:
    """The options of a benchmark whose runs are kept in results/, and recorded on request."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=about.partition("\n\n")[0] if about else None
    )
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / f"results/{name}.jsonl",
        help="what was played (default: %(default)s)",
    )
    records.add_option(parser, name)
    return parser


def play_missing(runs: Iterable[Run], path: Path) -> list[dict[str, Any]]:
    """Play what was not yet, and return the records of all, in the order of the runs."""
    results, wanted = Results(path), list(runs)
    finished = results.finished_ids()
    for number, run in enumerate(wanted, start=1):
        if run.id not in finished:
            print(f"{number}/{len(wanted)} {run.id}", file=sys.stderr, flush=True)
            results.append(run.play())
    found = {record["id"]: record for record in results.records()}
    return [found[run.id] for run in wanted]


def grouped(
    played: Iterable[dict[str, Any]], key: Sequence[str], lists: Sequence[str]
) -> list[dict[str, Any]]:
    """One line for the runs that differ in nothing but seed and scores, of which it has lists."""
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for run in played:
        line = lines.setdefault(
            tuple(run[name] for name in key), {name: run[name] for name in key} | {name: [] for name in lists}
        )
        for name in lists:
            line[name].append(run[name])
    return list(lines.values())


def keep(path: Path, name: str, lines: Iterable[dict[str, Any]], key: Sequence[str]) -> None:
    """Write lines for the pages, with what every line says."""
    about = records.about(
        machine.describe(None, ("numpy", "numba")), records.typed(f"benchmarks.{name}", None)
    )
    records.update(path, [{**line, **about} for line in lines], key)
