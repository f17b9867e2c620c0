"""Local workers: outcomes as they come, in spite of workers that die."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from banditboost.errors import BanditBoostError
from banditboost.experiments.engine import Engine
from banditboost.experiments.errors import ExperimentError

WITHOUT = """
import sys
sys.modules[sys.argv[2]] = None
from banditboost.experiments.engine import Engine
from banditboost.experiments.errors import ExperimentError
try:
    list(Engine(sys.argv[1], address=None if sys.argv[1] == "local" else "here:1").outcomes(abs, [1]))
except ExperimentError as error:
    print(error)
"""

DEAF = """
import signal
from banditboost.experiments.engine import Engine
def is_deaf(_=None):
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])
print(all(deaf for _, deaf in Engine(jobs=2).outcomes(is_deaf, range(4))), is_deaf())
"""


def square(number: int) -> int:
    return number * number


def wait(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def die_once(flags: Path, number: int) -> tuple[int, int]:
    """Number 3 takes its worker along the first time; so does 5."""
    flag = flags / str(number)
    if number in (3, 5) and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number, os.getpid()


def die(number: int) -> int:
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_once(jobs: int) -> None:
    assert sorted(Engine(jobs=jobs).outcomes(square, range(9))) == [(n, n * n) for n in range(9)]


def test_outcomes_do_not_wait_for_each_other() -> None:
    order = [seconds for _, seconds in Engine(jobs=2).outcomes(wait, [1.0, 0.0, 0.1])]
    assert order == [0.0, 0.1, 1.0]


def test_a_lost_worker_costs_nothing_but_time(tmp_path: Path) -> None:
    found = dict(Engine(jobs=2).outcomes(partial(die_once, tmp_path), range(8)))
    assert [found[number][0] for number in range(8)] == list(range(8))
    assert sorted(flag.name for flag in tmp_path.iterdir()) == ["3", "5"]
    assert os.getpid() not in {process for _, process in found.values()}


def test_a_deadly_item_ends_it_after_some_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("banditboost.experiments.engine._MOST_LOSSES", 1)
    with pytest.raises(
        ExperimentError, match=r"workers were lost 2 times, last: .*; if memory is short, give fewer jobs"
    ):
        list(Engine(jobs=2).outcomes(die, range(2)))


def test_closing_gives_up_what_is_under_way() -> None:
    start = time.perf_counter()
    with closing(Engine(jobs=2).outcomes(wait, [0.0, *[5.0] * 4])) as outcomes:
        assert next(outcomes) == (0, 0.0)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        ({"name": "spark"}, "engine is 'spark'; give one of local, dask, ray"),
        ({"jobs": 0}, r"jobs is 0; give a whole number from 1 to .*: None uses all cores"),
        ({"address": "here"}, "address is 'here', but engine 'local' has none"),
        ({"name": "dask"}, "engine 'dask' needs the address of a running cluster"),
        ({"name": "ray", "jobs": 2}, "engine 'ray' needs the address of a running cluster"),
    ],
)
def test_refusals(engine: dict[str, object], message: str) -> None:
    with pytest.raises(BanditBoostError, match=message):
        Engine(**engine)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("local", "joblib", "cli"), ("dask", "distributed", "dask"), ("ray", "ray", "ray")],
)
def test_what_is_not_installed_is_named(name: str, module: str, extra: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, name, module], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"engine '{name}' cannot be used: ")
    assert done.stdout.endswith(f"pip install 'banditboost[{extra}]'\n")


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows")
def test_ctrl_c_is_for_the_first_process_alone() -> None:
    """A worker that is interrupted while it starts would print a traceback of its own."""
    done = subprocess.run([sys.executable, "-c", DEAF], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
