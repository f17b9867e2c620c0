"""Play what has not been played yet, and write down each result as it comes."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from banditboost.experiments.cost import cost
from banditboost.experiments.engine import Engine
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.learners import make
from banditboost.experiments.references import extend_search_path
from banditboost.experiments.results import Results
from banditboost.experiments.run import open_stream, run_task, warm_up
from banditboost.experiments.task import Task
from banditboost.text import quoted


@dataclass(frozen=True)
class Progress:
    """A task has finished.

    It is number `done` of the `total` to be played; `share` of the estimated work is behind us.

    >>> Progress(record={}, done=1, total=4, share=0.4).share
    0.4
    """

    record: dict[str, Any]
    done: int
    total: int
    share: float


def run_tasks(
    tasks: Iterable[Task],
    results: Results,
    *,
    engine: str = "local",
    jobs: int | None = None,
    address: str | None = None,
    data_directory: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> int:
    """Play the tasks whose records are not in the results yet, the longest first; how many that were.

    Args:
        tasks: those that are given twice are played once.
        results: each record is there as soon as its task is done; run again after an interruption, and the
            rest is played.
        engine: 'local', 'dask' or 'ray'.
        jobs: how many at a time; None is as many as there are cores.
        address: of the cluster.
        data_directory: where the files of the data sets are, on the machines that play them.
        progress: called here, after a record was written.
    """
    workers = Engine(engine, jobs, address)
    tasks = _tasks(tasks)
    if not isinstance(results, Results):
        raise ExperimentError(f"results is {quoted(results)}; give Results of a file")
    finished = results.finished_ids()
    waiting = sorted(
        {task.id: task for task in tasks if task.id not in finished}.values(), key=cost, reverse=True
    )
    if not waiting:
        return 0
    _prepare(waiting, data_directory, workers)
    results.prepare()
    _play(waiting, workers, results, _Attempt(data_directory, _search_path(workers)), progress)
    return len(waiting)


def _tasks(given: Any) -> list[Task]:
    try:
        tasks = list(given)
    except TypeError:
        raise ExperimentError(f"tasks is {quoted(given)}; give a list of tasks") from None
    for task in tasks:
        if not isinstance(task, Task):
            raise ExperimentError(f"tasks hold {quoted(task)}; give a list of tasks")
    return tasks


def _search_path(workers: Engine) -> tuple[str, ...]:
    """Where workers look for modules.

    Processes of this machine look where this one does; machines of a cluster have places of their own.
    """
    return tuple(sys.path) if workers.name == "local" else ()


def _prepare(tasks: Sequence[Task], data_directory: str | None, workers: Engine) -> None:
    """Refuse what could not be played, and make once what all workers then find on disk.

    That is machine code, which local workers compile side by side, a learner each, and decoded data; a
    cluster's data may be on its own machines only.
    """
    local = workers.name == "local"
    for source in dict.fromkeys(task.source for task in tasks if local):
        open_stream(source, 0, data_directory)
    for task in {replace(task, source=tasks[0].source, seed=0).id: task for task in tasks}.values():
        make(task.learner, ("a", "b"), None, task.parameters, task.seed)
    learners = sorted({task.learner for task in tasks})
    if local and len(learners) > 1:
        with closing(workers.outcomes(_WarmUp(_search_path(workers)), learners)) as outcomes:
            list(outcomes)
    else:
        for learner in learners:
            warm_up(learner)


def _play(
    tasks: Sequence[Task],
    workers: Engine,
    results: Results,
    attempt: _Attempt,
    progress: Callable[[Progress], None] | None,
) -> None:
    failures: list[_Failure] = []
    work, behind = sum(map(cost, tasks)), 0.0
    with closing(workers.outcomes(attempt, tasks)) as outcomes:
        for done, (position, outcome) in enumerate(outcomes, start=1):
            behind += cost(tasks[position])
            if isinstance(outcome, _Failure):
                failures.append(outcome)
                continue
            results.append(outcome)
            if progress is not None:
                progress(Progress(outcome, done, len(tasks), behind / work))
    if failures:
        first = failures[0]
        error = ExperimentError(
            f"{len(failures)} of {len(tasks)} tasks failed; the others are in {results.path}. {first.task}: "
            f"{first.reason}"
        )
        error.add_note(first.trace)
        raise error


@dataclass(frozen=True)
class _Failure:
    task: Task
    reason: str
    trace: str


@dataclass(frozen=True)
class _WarmUp:
    """Compiles a learner's kernels on a worker."""

    search_path: tuple[str, ...]

    def __call__(self, learner: str) -> None:
        extend_search_path(self.search_path)
        warm_up(learner)


@dataclass(frozen=True)
class _Attempt:
    """Plays a task on a worker.

    What goes wrong there comes back as data: one bad task must not end the others.
    """

    data_directory: str | None
    search_path: tuple[str, ...] = ()

    def __call__(self, task: Task) -> dict[str, Any] | _Failure:
        extend_search_path(self.search_path)
        try:
            return run_task(task, self.data_directory)
        except Exception as error:
            return _Failure(task, f"{type(error).__name__}: {error}", traceback.format_exc())
