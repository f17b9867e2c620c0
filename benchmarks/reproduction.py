"""`python -m benchmarks.reproduction DIRECTORY`: keeps what `banditboost reproduce all` has played there.

The records go to docs/results without their curves, the figures as pictures. A cell that is beyond 0.02 of
the printed figure gets an entry in causes.toml, for somebody to fill. `make numbers` then makes the page.
"""

from __future__ import annotations

import argparse
import gzip
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from banditboost.experiments import figures
from banditboost.experiments.agreement import cells
from banditboost.experiments.paper import ARTEFACTS, artefact_tasks
from banditboost.experiments.protocol import ALGORITHMS, MODES, STREAMS
from banditboost.experiments.results import Results
from banditboost.experiments.task import Task
from benchmarks.records import FOLDER, Record

RECORDS_NAME = "tables.jsonl.gz"
CAUSES_NAME = "causes.toml"
UNKNOWN = "no cause found"
_KEPT = ("id", "task", "rounds", "n_labels", "accuracy", "last_accuracy")
_MEASURED = ("seconds", "memory_bytes", "machine", "versions", "finished")
_DIGITS = 6
_CAUSES_HEAD = """# Why cells of Tables 1 and 2 are beyond 0.02 of the printed figure: by mode, data set and algorithm.
# A cause was found by experiment; `python -m benchmarks.reproduction` adds what is missing, and drops the rest.
"""
Causes = dict[str, dict[str, dict[str, str]]]
"""Mode -> data set -> algorithm -> why its cells are beyond the tolerance."""


def planned(artefact: str) -> list[Task]:
    """The tasks of a table or figure in both modes."""
    return [task for mode in MODES for task in artefact_tasks(artefact, mode=mode)]


def runs_of(artefact: str, records: Iterable[Record]) -> list[Record]:
    """The runs that a table or figure shows."""
    wanted = {task.id for task in planned(artefact)}
    return [record for record in records if record["id"] in wanted]


def complete(records: Iterable[Record]) -> list[Record]:
    """The record of every task, in the order of the tables."""
    found = {record["id"]: record for record in records}
    tasks = list({task.id: task for name in ARTEFACTS for task in planned(name)}.values())
    missing = [task for task in tasks if task.id not in found]
    if missing:
        raise SystemExit(
            f"{len(missing)} of {len(tasks)} runs are missing, such as {missing[0]}; "
            "play them with banditboost reproduce all"
        )
    return [found[task.id] for task in tasks]


def small(record: Record) -> Record:
    """A record without its curve and weights, and with digits that tables show."""
    kept = {name: record[name] for name in (*_KEPT, *_MEASURED)}
    return {
        name: round(value, _DIGITS) if isinstance(value, float) else value for name, value in kept.items()
    }


def pack(records: Iterable[Record]) -> bytes:
    """JSON lines, packed; the same records give the same bytes."""
    lines = (json.dumps(small(record), separators=(",", ":")) + "\n" for record in records)
    return gzip.compress("".join(lines).encode(), 9, mtime=0)


def beyond(records: Sequence[Record]) -> list[tuple[str, str, str]]:
    """Mode, data set and algorithm of what is beyond the tolerance in Table 1 or 2, in the tables' order."""
    found = {(cell.mode, cell.data, cell.algorithm) for cell in cells(records) if cell.side}
    return [key for key in product(MODES, STREAMS, ALGORITHMS) if key in found]


def read_causes(path: Path) -> Causes:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def updated(causes: Mapping[str, Any], records: Sequence[Record]) -> Causes:
    """An entry for everything that is beyond the tolerance, known causes kept."""
    found: Causes = {}
    for mode, data, algorithm in beyond(records):
        known = causes.get(mode, {}).get(data, {}).get(algorithm, UNKNOWN)
        found.setdefault(mode, {}).setdefault(data, {})[algorithm] = known
    return found


def toml(causes: Causes) -> str:
    lines = [_CAUSES_HEAD]
    for mode, datasets in causes.items():
        for data, algorithms in datasets.items():
            lines.append(f"[{mode}.{data}]")
            lines += [
                f"{name} = {json.dumps(cause, ensure_ascii=False)}" for name, cause in algorithms.items()
            ]
            lines.append("")
    return "\n".join(lines)


def draw(records: Sequence[Record], target: Path) -> list[Path]:
    """Figures 1 and 2 and the exploration grid; these need the curves, which are not kept."""
    pictures = {
        "figure1": figures.learning_curves(runs_of("figure1", records)),
        "figure2": figures.learning_curves(runs_of("figure2", records)),
        "exploration": figures.exploration(runs_of("table4", records)),
    }
    for name, picture in pictures.items():
        figures.save(picture, target / f"{name}.png")
    return [target / f"{name}.png" for name in pictures]


def keep(directory: Path, target: Path = FOLDER) -> list[Path]:
    """Write records, causes and pictures; which files."""
    records = complete(Results(directory / "results.jsonl").records())
    packed, causes = target / RECORDS_NAME, target / CAUSES_NAME
    packed.write_bytes(pack(records))
    causes.write_text(toml(updated(read_causes(causes), runs_of("table1", records))), encoding="utf-8")
    return [packed, causes, *draw(records, target)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduction", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("directory", type=Path, help="the --out of banditboost reproduce all")
    for path in keep(parser.parse_args(arguments).directory):
        print(path)
    print("now `make numbers`, and fill docs/results/causes.toml")


if __name__ == "__main__":
    main()
