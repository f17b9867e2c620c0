"""`python -m benchmarks.departures`: what each departure from the paper's text is worth, one at a time.

The base is the mode "ours" of `banditboost reproduce`, with its seeds. Each run is written down when it is
done; the same command goes on where it was stopped, and then keeps the scores for docs/deviations.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from banditboost.experiments.paper import paper_tasks
from banditboost.experiments.protocol import ALGORITHMS, CLIP, STREAMS
from banditboost.experiments.results import Results
from banditboost.experiments.runner import Progress, run_tasks
from banditboost.experiments.task import Task
from benchmarks import machine, records

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "results/departures.jsonl"
OURS: Final = "ours"
BY_COSTS: Final = ("OptBandit", "AdaBandit")
LONG: Final = ("movement", "isolet")


PROGRAM_WEIGHT: Final = 12.5
"""The mean of c in the weights of AdaFull's trees in the published program.

They got c (-C[y, y]) / (k - 1), c drawn from 5..20 for each, where the appendix has -k C[y, y].
"""


def _program_scale(dataset: str) -> dict[str, Any]:
    k = STREAMS[dataset].n_labels
    return {"importance_scale": PROGRAM_WEIGHT / (k * (k - 1))}


@dataclass(frozen=True)
class Departure:
    """A change of the mode "ours", in the cells that it touches."""

    name: str
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...] = tuple(STREAMS)
    parameters: Callable[[str], dict[str, Any]] = lambda _: {}
    variant: str | None = None

    def change(self, task: Task) -> Task:
        """The same run, changed."""
        source = task.source if self.variant is None else replace(task.source, variant=self.variant)
        return replace(
            task, source=source, parameters={**task.parameters, **self.parameters(task.source.name)}
        )


DEPARTURES: Final = (
    Departure("differences", BY_COSTS, parameters=lambda _: {"lesson": "differences"}),
    Departure("text", BY_COSTS, parameters=lambda _: {"lesson": "text"}),
    Departure("clipped", ("BinBandit",), parameters=lambda _: {"clip": CLIP}),
    Departure("the program's scale", ("AdaFull",), parameters=_program_scale),
    Departure("data of the text", ALGORITHMS, LONG, variant="text"),
)


def planned() -> Iterator[tuple[str, Task]]:
    """What is played, each with the name of what was changed."""
    for task in paper_tasks():
        yield OURS, task
    for departure in DEPARTURES:
        for task in paper_tasks(departure.datasets, departure.algorithms):
            yield departure.name, departure.change(task)


def kept(results: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> list[records.Record]:
    """A line for each cell: the scores of all its seeds."""
    found = {record["id"]: record for record in results}
    cells: dict[tuple[str, str, str], list[tuple[int, Mapping[str, Any]]]] = {}
    for name, task in planned():
        if task.id in found:
            cells.setdefault((name, task.source.name, task.learner), []).append((task.seed, found[task.id]))
    return [
        {
            "change": name,
            "data": data,
            "algorithm": algorithm,
            "seeds": [seed for seed, _ in runs],
            "last": [round(record["last_accuracy"], 5) for _, record in runs],
            "total": [round(record["accuracy"], 5) for _, record in runs],
            **about,
        }
        for (name, data, algorithm), runs in cells.items()
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.departures", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--jobs", type=int, default=None, help="how many runs at a time (default: cores)")
    parser.add_argument(
        "--results", type=Path, default=RUNS, help="the file of runs; those of `reproduce` are used again"
    )
    records.add_option(parser, "departures")
    options = parser.parse_args(arguments)
    results = Results(options.results)
    run_tasks([task for _, task in planned()], results, jobs=options.jobs, progress=_tell)
    if options.record is not None:
        about = records.about(machine.describe(None), records.typed("benchmarks.departures", arguments))
        records.update(options.record, kept(results.records(), about), ("change", "data", "algorithm"))


def _tell(progress: Progress) -> None:
    print(f"\r{progress.done} of {progress.total}, {progress.share:.0%}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
