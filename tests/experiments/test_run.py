"""A task's record is what `play` gives."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import banditboost
from banditboost import datasets
from banditboost.errors import ParameterError
from banditboost.experiments import run
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.learners import make
from banditboost.experiments.run import count_rounds, open_stream, run_task
from banditboost.experiments.task import Source, Task
from banditboost.simulation.result import Result

TASK = Task(
    Source("balance", repeat=10, rounds=300), "AdaBandit", {"n_learners": 3, "exploration": 0.1}, seed=5
)


@pytest.fixture(scope="module")
def played() -> tuple[banditboost.AdaBandit, Result]:
    stream = datasets.load("balance").stream(repeat=10, seed=5, rounds=300)
    model = banditboost.AdaBandit(
        stream.labels, n_learners=3, exploration=0.1, schema=stream.schema(), seed=5
    )
    return model, banditboost.play(model, *stream)


def test_the_record_says_what_play_says(played: tuple[banditboost.AdaBandit, Result]) -> None:
    model, result = played
    record = run_task(TASK)
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert Task.from_dict(record["task"]) == TASK
    assert (record["format"], record["id"], record["rounds"], record["n_labels"]) == (1, TASK.id, 300, 3)
    assert record["accuracy"] == result.accuracy
    assert record["last_accuracy"] == result.last_accuracy
    assert record["greedy_accuracy"] == result.greedy_accuracy
    assert record["explored"] == result.explored.mean() > 0
    assert result.edges is not None
    assert record["alphas"] == model.alphas.tolist()
    assert record["expert_weights"] == model.expert_weights.tolist()
    assert record["edges"] == result.edges.tolist()
    assert record["memory_bytes"] == model.memory_usage
    assert record["rounds_per_second"] == pytest.approx(300 / record["seconds"])
    assert record["peak_rss_bytes"] > 2**24
    assert record["versions"]["banditboost"] == banditboost.__version__
    assert record["finished"].endswith("Z")


def test_the_curve_is_the_moving_average_from_the_beginning(
    played: tuple[banditboost.AdaBandit, Result],
) -> None:
    correct = played[1].correct
    curve = run_task(TASK)["curve"]
    assert (curve["window"], curve["grows"]) == (0.2, True)
    assert (curve["round"][0], curve["round"][-1], len(curve["round"])) == (3, 300, 200)
    for end, accuracy in zip(curve["round"], curve["accuracy"], strict=True):
        assert accuracy == pytest.approx(correct[max(0, end - 60) : end].mean())


@pytest.mark.parametrize("learner", ["OptBandit", "BinBandit", "OptFull"])
def test_who_has_no_weights_says_so(learner: str) -> None:
    record = run_task(Task(Source("balance", rounds=5), learner, {"n_learners": 2}))
    assert record["alphas"] is record["expert_weights"] is record["edges"] is None
    assert record["curve"] == {
        "window": 0.2,
        "grows": True,
        "round": [1, 2, 3, 4, 5],
        "accuracy": record["curve"]["accuracy"],
    }


def test_json_has_no_nan() -> None:
    assert run._numbers(np.array([0.5, math.nan, math.inf])) == [0.5, None, None]


def test_how_long_a_source_is() -> None:
    assert count_rounds(Source("balance", repeat=4)) == 2500
    assert count_rounds(TASK.source) == 300


def test_a_cut_that_is_too_long_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"rounds is .*; give a whole number from 1 to 625: 625 rows x repeat=1"
    ):
        open_stream(Source("balance", rounds=626), 0)


needs_files = pytest.mark.skipif(not hasattr(datasets, "read"), reason="datasets.read is not there")


@needs_files
def test_a_file_is_played(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    rows = [f"{t % 7},{'phone' if t % 2 else 'desk'},{'yes' if t % 2 else 'no'}" for t in range(200)]
    path.write_text("\n".join(["hour,device,answer", *rows]) + "\n")
    for shuffle in (True, False):
        task = Task(Source.file(path, "answer", shuffle=shuffle), "AdaBandit", {"n_learners": 3}, seed=1)
        record = run_task(task)
        assert (record["rounds"], record["n_labels"]) == (200, 2)
        assert record["last_accuracy"] > 0.7
    path.write_text(path.read_text() + "1,desk,no\n")
    run._load.cache_clear()
    with pytest.raises(ExperimentError, match=r"mine.csv has changed since the task was made"):
        run_task(task)


def test_the_first_rounds_compile_what_a_task_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So `seconds` holds no compilation: each learner is warmed up once in a process, before the clock
    starts.
    """
    made: list[str] = []
    monkeypatch.setattr(
        run, "make", lambda name, *rest, **others: made.append(name) or make(name, *rest, **others)
    )
    run.warm_up.cache_clear()
    run_task(TASK)
    run_task(TASK)
    assert made == ["AdaBandit"] * 3
