"""Tasks played with a progress bar, and the directory of what came of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from banditboost.cli import INTERRUPTED, options, output
from banditboost.cli.options import EngineName
from banditboost.text import counted

if TYPE_CHECKING:
    from banditboost.experiments.runner import Progress
    from banditboost.experiments.sheets import Sheet
    from banditboost.experiments.task import Task


@dataclass(frozen=True)
class WorkerChoice:
    """Who plays tasks: the options that `compare`, `tune` and `reproduce` share."""

    jobs: options.Jobs = None
    engine: options.Engine = EngineName.local
    scheduler: options.Scheduler = None
    address: options.Address = None

    def check(self) -> None:
        """Refuse addresses that belong to another engine."""
        addresses = (
            ("--scheduler", self.scheduler, EngineName.dask),
            ("--address", self.address, EngineName.ray),
        )
        for option, given, engine in addresses:
            if given and self.engine is not engine:
                raise typer.BadParameter(
                    f"{option} goes with --engine {engine.value}; add that, or leave {option} out"
                )
            if not given and self.engine is engine:
                raise typer.BadParameter(f"--engine {engine.value} needs {option} ADDRESS")


@dataclass(frozen=True)
class Workspace:
    """The directory that keeps what comes of tasks, and who plays them."""

    out: Path
    workers: WorkerChoice
    data_directory: Path | None = None

    @property
    def results(self) -> Path:
        return self.out / "results.jsonl"

    def check(self) -> None:
        """Refuse a directory that is a file, and workers that cannot be."""
        if self.out.exists() and not self.out.is_dir():
            raise typer.BadParameter(f"--out {self.out} is a file; give a directory")
        self.workers.check()

    def play(self, tasks: Sequence[Task], title: str = "runs") -> list[dict[str, Any]]:
        """Play what is not in the results yet; the records of all the tasks."""
        from banditboost.experiments.results import Results
        from banditboost.experiments.runner import run_tasks

        results = Results(self.results)
        kept = {record["id"]: record for record in results.records()}
        waiting = {task.id for task in tasks} - kept.keys()
        self._tell_reused({task: kept[task.id] for task in tasks if task.id in kept})
        try:
            with output.progress("{task.fields[done]}/{task.fields[total_tasks]}") as bar:
                line = bar.add_task(title, total=1.0, done=0, total_tasks=len(waiting), visible=bool(waiting))

                def advance(event: Progress) -> None:
                    bar.update(line, completed=event.share, done=event.done)

                run_tasks(
                    tasks,
                    results,
                    engine=self.workers.engine.value,
                    jobs=self.workers.jobs,
                    address=self.workers.scheduler or self.workers.address,
                    data_directory=self.data_path,
                    progress=advance,
                )
        except KeyboardInterrupt:
            self._tell_how_to_go_on(tasks, results.finished_ids())
            raise typer.Exit(INTERRUPTED) from None
        wanted = {task.id for task in tasks}
        return [record for record in results.records() if record["id"] in wanted]

    def _tell_reused(self, kept: Mapping[Task, Mapping[str, Any]]) -> None:
        """Say what is not played again; and if a class has been edited since, say it aloud."""
        if not kept:
            return
        from banditboost.experiments.reuse import edited_since, span

        runs = counted(len(kept), "run")
        output.say(f"{runs} of {span(kept.values())} taken from {self.results}, and not played again")
        for path, stale in edited_since(kept).items():
            output.warn(
                f"{path} was edited after {counted(stale, 'run')} in {self.results}, which are shown as they "
                "were; give another --out to play them anew"
            )

    @property
    def data_path(self) -> str | None:
        return None if self.data_directory is None else str(self.data_directory)

    def _tell_how_to_go_on(self, tasks: Iterable[Task], finished: set[str]) -> None:
        ids = {task.id for task in tasks}
        kept = (
            f"{len(ids & finished)} of {len(ids)} runs are kept in {self.results}"
            if finished
            else "nothing was finished"
        )
        output.warn(f"stopped; {kept}; the same command goes on from there")

    def write_sheet(self, sheet: Sheet) -> list[Path]:
        """Write a table as CSV, Markdown and LaTeX."""
        from banditboost.experiments.sheets import FORMS
        from banditboost.experiments.writing import write_whole

        paths = []
        for ending, written in FORMS.items():
            paths.append(self.out / f"{sheet.name}{ending}")
            write_whole(paths[-1], written(sheet).encode())
        return paths

    def tell_files(self, files: Iterable[Path]) -> None:
        """Say on a terminal what was written."""
        output.say(f"{self.out}: results.jsonl, {', '.join(path.name for path in files)}")
