"""Tasks played with a progress bar, stopped with Ctrl-C and gone on with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from banditboost.cli import output
from banditboost.cli.options import EngineName

if TYPE_CHECKING:
    from banditboost.experiments.runner import Progress
    from banditboost.experiments.tables import Sheet
    from banditboost.experiments.task import Task


@dataclass(frozen=True)
class Workshop:
    """Where tasks are played, and the directory that keeps what comes of them."""

    out: Path
    jobs: int | None = None
    engine: EngineName = EngineName.local
    scheduler: str | None = None
    address: str | None = None
    data: Path | None = None

    @property
    def results(self) -> Path:
        return self.out / "results.jsonl"

    def check(self) -> None:
        """Refuse a directory that is a file, and addresses that belong to another engine."""
        if self.out.exists() and not self.out.is_dir():
            raise typer.BadParameter(f"--out {self.out} is a file; give a directory")
        for option, given, engine in (("--scheduler", self.scheduler, EngineName.dask), ("--address", self.address, EngineName.ray)):
            if given and self.engine is not engine:
                raise typer.BadParameter(f"{option} goes with --engine {engine.value}; add that, or leave {option} out")
            if not given and self.engine is engine:
                raise typer.BadParameter(f"--engine {engine.value} needs {option} ADDRESS")

    def play(self, tasks: Sequence[Task], title: str = "runs") -> list[dict[str, Any]]:
        """Play what is not in the results yet; the records of all the tasks."""
        from banditboost.experiments.results import Results
        from banditboost.experiments.runner import run_tasks

        results = Results(self.results)
        waiting = {task.id for task in tasks} - results.finished_ids()
        try:
            with output.progress("{task.fields[done]}/{task.fields[total_tasks]}") as bar:
                line = bar.add_task(title, total=1.0, done=0, total_tasks=len(waiting), visible=bool(waiting))

                def advance(event: Progress) -> None:
                    bar.update(line, completed=event.share, done=event.done)

                run_tasks(
                    tasks,
                    results,
                    engine=self.engine.value,
                    jobs=self.jobs,
                    address=self.scheduler or self.address,
                    data_directory=None if self.data is None else str(self.data),
                    progress=advance,
                )
        except KeyboardInterrupt:
            self._tell_how_to_go_on(tasks, results.finished_ids())
            raise typer.Exit(output.INTERRUPTED) from None
        wanted = {task.id for task in tasks}
        return [record for record in results.records() if record["id"] in wanted]

    def _tell_how_to_go_on(self, tasks: Iterable[Task], finished: set[str]) -> None:
        ids = {task.id for task in tasks}
        kept = f"{len(ids & finished)} of {len(ids)} runs are kept in {self.results}" if finished else "nothing was finished"
        output.warn(f"stopped; {kept}; the same command goes on from there")

    def write_sheet(self, sheet: Sheet) -> list[Path]:
        """A table as CSV and Markdown."""
        from banditboost.experiments import tables

        texts = {".csv": tables.csv_text(sheet), ".md": tables.markdown(sheet)}
        paths = [self.out / f"{sheet.name}{suffix}" for suffix in texts]
        for path, text in zip(paths, texts.values(), strict=True):
            path.write_text(text, encoding="utf-8")
        return paths
