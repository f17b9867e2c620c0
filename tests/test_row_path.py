"""The path of a row: the files of the package that `decide` runs through after the first round.

It is recorded without the compiler, in a process of its own. Python sees the compiled round as one call: what
runs within it counts as its file alone. Whoever reads the kernels too walks the whole path.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import banditboost

ROOT = Path(__file__).parents[1]
PACKAGE = Path(banditboost.__file__).parent
ROUND = "boosting/round.py"
MOST_FILES = 6
MODELS = ["GapBoost", "AdaBandit"]
MOST_WITH_KERNELS = {"dict": 14, "array": 13}
"""As many files as there are now, of both models. Who comes to need fewer lowers the number."""
ROWS: dict[str, Any] = {"dict": {"hour": 21.0, "device": "phone"}, "array": np.array([21.0, 3.0])}
N_ROUNDS = 30


class Step(NamedTuple):
    """One call: where to, from where ("" is outside of the package), and whether a compiled round runs it."""

    file: str
    caller: str
    compiled: bool


class Recorder:
    """Notes the calls within the package, while it is the profiler of this thread."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def __call__(self, frame: Any, event: str, _argument: Any) -> None:
        if event == "call" and (file := file_of(frame)):
            callers = self._callers_of(frame)
            compiled = any(
                caller.f_code.co_name == "decide" and file_of(caller) == ROUND for caller in callers
            )
            self.steps.append(Step(file, file_of(callers[0]) if callers else "", compiled))

    @staticmethod
    def _callers_of(frame: Any) -> list[Any]:
        """Those in the package, the nearest first."""
        found = []
        while (frame := frame.f_back) is not None:
            if file_of(frame):
                found.append(frame)
        return found


def file_of(frame: Any) -> str:
    """The file within the package that a frame runs; "" for code of others."""
    path = Path(frame.f_code.co_filename)
    return path.relative_to(PACKAGE).as_posix() if path.is_relative_to(PACKAGE) else ""


def record(name: str, row: Any) -> list[Step]:
    """What one `decide` calls, of a model that has learned a few verdicts."""
    model = getattr(banditboost, name)(["a", "b", "c"], seed=1)
    for t in range(N_ROUNDS):
        model.learn(model.decide(row), correct=t % 2 == 0)
    recorder = Recorder()
    sys.setprofile(recorder)
    try:
        model.decide(row)
    finally:
        sys.setprofile(None)
    return recorder.steps


def print_all() -> None:
    """For another process: the paths of all models and rows, as JSON."""
    print(json.dumps({f"{name} {kind}": record(name, row) for name in MODELS for kind, row in ROWS.items()}))


@pytest.fixture(scope="module")
def paths() -> dict[str, list[Step]]:
    code = "from tests.test_row_path import print_all; print_all()"
    interpreted = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=interpreted, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name: [Step(*step) for step in steps] for name, steps in json.loads(done.stdout).items()}


def entered(steps: list[Step]) -> list[str]:
    """The folders in the order of entering them: by a call from another one. To return is not to enter."""
    folders = [
        (os.path.dirname(step.file), os.path.dirname(step.caller) if step.caller else None) for step in steps
    ]
    return [folder for folder, before in folders if folder != before]


def in_words(steps: list[Step]) -> str:
    """A path to print: its files in order, and after each whom it is called by."""
    calls = dict.fromkeys((step.file, step.caller) for step in steps)
    return "\n".join(["", *(f"    {file}  <-  {caller or 'the user'}" for file, caller in calls)])


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", MODELS)
def test_python_runs_through_few_files_and_enters_no_folder_twice(
    paths: dict[str, list[Step]], name: str, kind: str
) -> None:
    steps = [step for step in paths[f"{name} {kind}"] if not step.compiled]
    files = {step.file for step in steps}
    assert {"models/deciding.py", ROUND, "decision/decision.py"} <= files, in_words(steps)
    assert len(files) <= MOST_FILES, in_words(steps)
    folders = entered(steps)
    assert len(folders) == len(set(folders)), f"{folders}{in_words(steps)}"


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", MODELS)
def test_the_whole_path_does_not_grow(paths: dict[str, list[Step]], name: str, kind: str) -> None:
    steps = paths[f"{name} {kind}"]
    assert {"rows/checking.py", "compiled/rng.py"} <= {step.file for step in steps if step.compiled}, (
        in_words(steps)
    )
    assert len({step.file for step in steps}) <= MOST_WITH_KERNELS[kind], in_words(steps)


def test_a_folder_that_is_entered_from_another_one_again_is_seen() -> None:
    there = Step("models/bandit.py", "", False), Step("rows/schema.py", "models/bandit.py", False)
    assert entered([*there, Step("rows/many.py", "rows/schema.py", False)]) == ["models", "rows"]
    assert entered([*there, Step("rows/many.py", "models/bandit.py", False)]) == ["models", "rows", "rows"]
    assert entered([*there, Step("models/model.py", "rows/schema.py", False)]) == ["models", "rows", "models"]
