"""`banditboost reproduce`: the paper's tables and figures beside the printed numbers."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.learner_choice import check_learner
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.workspace import WorkerChoice, Workspace

if TYPE_CHECKING:
    from banditboost.experiments.sheets import Sheet
    from banditboost.experiments.task import Task


class What(StrEnum):
    """A table or a figure of the paper; or a sentence of it that has none, as a table."""

    table1 = "table1"
    table2 = "table2"
    table4 = "table4"
    figure1 = "figure1"
    figure2 = "figure2"
    estimators = "estimators"
    learners = "learners"
    all = "all"


class Protocol(StrEnum):
    """Which of the two modes."""

    text = "text"
    ours = "ours"
    both = "both"


BUILT_IN = ("balance", "car", "nursery")
CURVES = ("table1", "table2", "figure1", "figure2")
"""What is played on the streams of Tables 1 and 2, and has learning curves to show."""
OTHERS = ("estimators", "learners")
QUICK_SEEDS = 2
WhatOf = Annotated[
    What,
    typer.Argument(
        help="Which table or figure; estimators: equation (3) against (4); learners: the choice of N."
    ),
]
ProtocolOf = Annotated[
    Protocol,
    typer.Option(
        help="text: what the paper's text says, wherever it speaks; ours: what the package does; both: side "
        "by side."
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option(
        help="How many seeds; as the paper if not given: 20, and 10 for isolet and movement (table4 and "
        "learners: 5).",
        min=1,
        metavar="N",
    ),
]
Datasets = Annotated[str | None, typer.Option(help="Keep to these data sets.", metavar="A,B,...")]
Algorithms = Annotated[str | None, typer.Option(help="Keep to these algorithms.", metavar="A,B,...")]
Out = Annotated[
    Path, typer.Option(help="Directory for results, tables, figures and report.html.", metavar="DIR")
]
Quick = Annotated[
    bool,
    typer.Option("--quick", help="Two seeds and the built-in sets: 25 seconds of computing."),
]


@takes_groups
def reproduce(
    what: WhatOf = What.all,
    protocol: ProtocolOf = Protocol.both,
    seeds: Seeds = None,
    seed: options.FirstSeed = options.FIRST_SEED,
    datasets: Datasets = None,
    algorithms: Algorithms = None,
    quick: Quick = False,
    directory: options.DataDirectory = None,
    out: Out = Path("reproduction"),
    *,
    workers: WorkerChoice,
    as_json: options.Json = False,
) -> None:
    """Make the paper's Tables 1, 2 and 4 and Figures 1 and 2, and report.html with all of it.

    Each number stands beside the printed one, to the letter of the text and as the package does it. Means
    have 95 % intervals if there are at least three seeds. Everything is 3,470 runs, half an hour of one core.
    Runs that are in the directory already are not played again: stop with Ctrl-C, and the same command goes
    on.

    \b
    Examples:
      banditboost reproduce --quick
      banditboost reproduce table1 --protocol text --datasets balance,car --seeds 5
      banditboost reproduce all --data ~/uci --jobs 8 --out reproduction
    """
    workspace = Workspace(out, workers, directory)
    workspace.check()
    wanted = tuple(map(check_learner, options.names(algorithms)))
    order = Order(what, protocol, _known_datasets(datasets, quick), wanted, _seeds(seeds, seed, quick))
    with output.waiting(output.LOADING):
        tasks = order.tasks()
        if not any(tasks.values()):
            raise typer.BadParameter(
                f"{what.value} shows none of these data sets and algorithms; name others, or none"
            )
    records = workspace.play([task for some in tasks.values() for task in some], what.value)
    present(workspace, tasks, records, as_json)


def _known_datasets(text: str | None, quick: bool) -> tuple[str, ...]:
    from banditboost import datasets

    chosen = options.names(text) or (BUILT_IN if quick else ())
    for name in chosen:
        if name not in datasets.names():
            raise typer.BadParameter(
                f"unknown data set {name!r}: the paper has {', '.join(datasets.names())}"
            )
    return chosen


def _seeds(count: int | None, first: int, quick: bool) -> range | None:
    """The seeds to play; None is as many as in the paper."""
    if count is None and quick:
        count = QUICK_SEEDS
    if count is None and first != options.FIRST_SEED:
        raise typer.BadParameter(
            f"--seed {first} without --seeds: say how many, since the paper's number differs between data "
            "sets"
        )
    return None if count is None else range(first, first + count)


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    what: What
    protocol: Protocol
    datasets: tuple[str, ...]
    algorithms: tuple[str, ...]
    seeds: range | None

    def tasks(self) -> dict[str, list[Task]]:
        """Tasks of each table and figure; most are shared."""
        from banditboost.experiments.paper import ARTEFACTS, artefact_tasks
        from banditboost.experiments.protocol import MODES

        names = list(ARTEFACTS) if self.what is What.all else [self.what.value]
        modes = [mode for mode in MODES if self.protocol in (mode, Protocol.both)]
        return {
            name: [
                task
                for mode in modes
                for task in artefact_tasks(name, self.datasets, self.algorithms, self.seeds, mode)
            ]
            for name in names
        }


def present(
    workspace: Workspace, tasks: dict[str, list[Task]], records: Sequence[dict[str, Any]], as_json: bool
) -> None:
    """Tables on the terminal and in files, figures, and the report."""
    from banditboost.experiments import figures, report, tables
    from banditboost.experiments.writing import write_whole

    shown = {name: _of(wanted, records) for name, wanted in tasks.items() if wanted}
    sheets = make_sheets(shown)
    files = [path for sheet in sheets for path in workspace.write_sheet(sheet)]
    for name, runs in shown.items():
        if name.startswith("figure"):
            files += figures.write(figures.learning_curves(runs), workspace.out / name)
    grid = shown.get("table4", [])
    if grid:
        files += figures.write(figures.exploration(grid), workspace.out / "exploration")
    curves = _of([task for name in CURVES for task in tasks.get(name, ())], records)
    others = _of([task for name in OTHERS for task in tasks.get(name, ())], records)
    page = workspace.out / "report.html"
    made = report.page(report.Report(_command(), [*sheets, tables.table3()], curves, grid, others))
    write_whole(page, made.encode())
    if as_json:
        output.print_json(
            {
                "tables": {sheet.name: sheet.numbers for sheet in sheets},
                "out": str(workspace.out),
                "files": [*map(str, files), str(page)],
            }
        )
        return
    for sheet in sheets:
        output.print_sheet(sheet)
    output.say(
        f"{workspace.out}: {', '.join(path.name for path in files)}, results.jsonl; open {page} in a browser"
    )


def make_sheets(shown: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Sheet]:
    """The tables of what was played; with Table 1 or 2 how far they agree with print."""
    from banditboost.experiments import agreement, estimators, searches, tables

    makers: dict[str, Callable[[Any], Sheet]] = {
        "table1": tables.table1,
        "table2": tables.table2,
        "table4": searches.table4,
        "estimators": estimators.estimators,
        "learners": searches.learners,
    }
    sheets = [makers[name](runs) for name, runs in shown.items() if name in makers]
    if compared := shown.get("table1") or shown.get("table2"):
        sheets += [agreement.within(compared), agreement.orders(compared)]
    return sheets


def _of(tasks: Sequence[Task], records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    wanted = {task.id for task in tasks}
    return [record for record in records if record["id"] in wanted]


def _command() -> str:
    return shlex.join(["banditboost", *sys.argv[1:]])
