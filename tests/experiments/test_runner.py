"""Runs that are interrupted in every way, and what is then in the file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from banditboost.errors import ParameterError
from banditboost.experiments import runner
from banditboost.experiments.cost import cost
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.results import Results
from banditboost.experiments.run import run_task
from banditboost.experiments.runner import Progress, run_tasks
from banditboost.experiments.task import Source, Task
from tests.experiments.tasks import outcome, outcomes, small_tasks

RUN = """
import sys, time
from banditboost.experiments.results import Results
from banditboost.experiments.runner import run_tasks
from tests.experiments.tasks import small_tasks

def stop_here(event):
    if event.done == 3:
        print("three", flush=True)
        time.sleep(60)

run_tasks(small_tasks(), Results(sys.argv[1]), jobs=2, progress=stop_here)
"""


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, Any]]:
    """The records of the small tasks, played here one after the other."""
    return {task.id: outcome(run_task(task)) for task in small_tasks()}


def start(path: Path) -> subprocess.Popen[str]:
    """A run in a process group of its own that has written three records and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "three\n"
    return process


def test_workers_and_this_process_agree(expected: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    results, events = Results(tmp_path / "results.jsonl"), []
    assert run_tasks([*small_tasks(), *small_tasks()], results, jobs=2, progress=events.append) == 10
    assert outcomes(results.records()) == expected
    assert [(event.done, event.total) for event in events] == [(done, 10) for done in range(1, 11)]
    assert [event.record for event in events] == results.records()
    shares = [event.share for event in events]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_finished_tasks_are_not_played_again(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    tasks = small_tasks(rounds=10)
    assert run_tasks(tasks[:4], results, jobs=1) == 4
    before = results.path.read_bytes()
    assert run_tasks(tasks[:4], results, jobs=1) == 0
    assert results.path.read_bytes() == before
    assert run_tasks(tasks[:6], results, jobs=1) == 2
    assert results.path.read_bytes().startswith(before)
    assert results.finished_ids() == {task.id for task in tasks[:6]}


def test_killed_in_the_middle(expected: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """What was finished is kept, a record that was being written is not, and the rest is played by the next
    run.
    """
    results = Results(tmp_path / "results.jsonl")
    with start(results.path) as process:
        process.send_signal(signal.SIGKILL)
    assert len(results.records()) == 3
    whole = results.path.read_bytes()
    last = whole.splitlines()[-1]
    results.path.write_bytes(whole + last[: len(last) // 2])
    assert run_tasks(small_tasks(), results, jobs=2) == 7
    assert results.path.read_bytes().startswith(whole)
    assert outcomes(results.records()) == expected
    assert results.path.read_bytes().count(b"\n") == 10


def test_interrupted_from_the_keyboard(expected: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """Ctrl-C reaches the workers too; the run ends at once with KeyboardInterrupt and leaves a whole file."""
    results = Results(tmp_path / "results.jsonl")
    with start(results.path) as process:
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert errors.count("Traceback") == 1
    assert run_tasks(small_tasks(), results, jobs=2) == 10 - 3
    assert outcomes(results.records()) == expected


def test_a_killed_worker_costs_nothing_but_time(expected: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    psutil = pytest.importorskip("psutil", reason="psutil finds the workers; it comes with distributed")
    results, killed = Results(tmp_path / "results.jsonl"), []

    def kill_a_worker(event: Progress) -> None:
        if event.done == 1:
            workers = [
                child
                for child in psutil.Process().children()
                if any("popen_loky" in part for part in child.cmdline())
            ]
            workers[0].kill()
            killed.append(workers[0].pid)

    assert run_tasks(small_tasks(), results, jobs=2, progress=kill_a_worker) == 10
    assert len(killed) == 1
    assert outcomes(results.records()) == expected
    assert results.path.read_bytes().count(b"\n") == 10


def test_a_task_that_fails_does_not_end_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = Results(tmp_path / "results.jsonl")
    tasks = small_tasks(rounds=10)

    def fails_sometimes(task: Task, data_directory: str | None) -> dict[str, Any]:
        if task.learner == "OptFull":
            raise RuntimeError("no more memory")
        return run_task(task, data_directory)

    monkeypatch.setattr(runner, "run_task", fails_sometimes)
    with pytest.raises(
        ExperimentError, match=r"2 of 10 tasks failed; .*OptFull on car, seed 0: RuntimeError: no more memory"
    ) as caught:
        run_tasks(tasks, results, jobs=1)
    assert "in fails_sometimes" in caught.value.__notes__[0]
    assert results.finished_ids() == {task.id for task in tasks if task.learner != "OptFull"}


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [
        (Task(Source("cars"), "AdaBandit"), ValueError, "unknown data set 'cars'"),
        (
            Task(Source("car", rounds=0), "AdaBandit"),
            ParameterError,
            "rounds is 0; give a whole number from 1 to 1728",
        ),
        (Task(Source("car"), "Ada"), ExperimentError, "unknown learner 'Ada'"),
        (
            Task(Source("car"), "AdaBandit", {"rho": 0.1}),
            ParameterError,
            "'rho' is no parameter of AdaBandit",
        ),
        (Task(Source("car"), "AdaBandit", {"exploration": 2}), ParameterError, "exploration is 2"),
    ],
)
def test_what_cannot_be_played_is_refused_before_the_work(
    task: Task, error: type[Exception], message: str, tmp_path: Path
) -> None:
    results = Results(tmp_path / "results.jsonl")
    with pytest.raises(error, match=message):
        run_tasks([*small_tasks(), task], results, jobs=1)
    assert not results.path.exists()


def test_the_longest_tasks_begin_first(tmp_path: Path) -> None:
    lengths = [20, 50, 10, 40, 30]
    tasks = [Task(Source("car", rounds=rounds), "AdaBandit", {"n_learners": 2}) for rounds in lengths]
    events: list[Progress] = []
    run_tasks(tasks, Results(tmp_path / "results.jsonl"), jobs=1, progress=events.append)
    assert [event.record["rounds"] for event in events] == [50, 40, 30, 20, 10]


def test_costs_follow_rounds_trees_and_features(tmp_path: Path) -> None:
    task = Task(Source("car", repeat=6), "AdaBandit", {"n_learners": 10})
    assert cost(Task(Source("car", repeat=12), "AdaBandit", {"n_learners": 10})) == 2 * cost(task)
    assert cost(Task(task.source, "AdaBandit")) == 2 * cost(task)
    assert cost(Task(Source("mice", repeat=8), "AdaBandit", {"n_learners": 10})) > cost(task)
    assert cost(Task(task.source, "OptBandit", {"n_learners": 10})) < cost(task)
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_text("x,y\n" * 100)
    large.write_text("x,y\n" * 10_000)
    files = [Task(Source.file(path, "y"), "AdaBandit") for path in (small, large)]
    assert 0 < cost(files[0]) < cost(files[1])
    large.unlink()
    assert cost(files[1]) > 0
