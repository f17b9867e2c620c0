"""Runs that are written down one by one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchmarks import condition, cost_vectors, records, resumed


@dataclass(frozen=True)
class Run:
    seed: int
    fails: bool = False

    @property
    def id(self) -> str:
        return f"seed={self.seed}"

    def play(self) -> dict[str, Any]:
        if self.fails:
            raise KeyboardInterrupt
        return {"id": self.id, "data": "car", "seed": self.seed, "accuracy": self.seed / 10}


def test_what_was_stopped_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt):
        resumed.play_missing([Run(1), Run(2, fails=True), Run(3)], path)
    played = resumed.play_missing([Run(1, fails=True), Run(2), Run(3)], path)
    assert [run["seed"] for run in played] == [1, 2, 3]
    assert capsys.readouterr().err.count("1/3") == 1


def test_runs_of_one_kind_are_one_line(tmp_path: Path) -> None:
    lines = resumed.grouped([Run(1).play(), Run(2).play()], ["data"], ["seed", "accuracy"])
    assert lines == [{"data": "car", "seed": [1, 2], "accuracy": [0.1, 0.2]}]
    resumed.keep(tmp_path / "kept.jsonl", "condition", lines, ["data"])
    [line] = records.read(tmp_path / "kept.jsonl")
    assert line["source"] == records.MEASURED
    assert line["seed"] == [1, 2]


@pytest.mark.parametrize("runs", [condition.all_runs, cost_vectors.all_runs, cost_vectors.choice_runs])
def test_every_run_has_an_id_of_its_own(runs: Any) -> None:
    ids = [run.id for run in runs()]
    assert len(set(ids)) == len(ids) > 0


def test_a_run_tells_what_the_pages_ask_for() -> None:
    run = cost_vectors.Run("balance", "OptBandit", "text", seed=4, rounds=60)
    assert {*cost_vectors.KEY, "seed", "accuracy", "last_accuracy"} <= run.play().keys()


def test_parameters_were_not_chosen_on_what_is_reported() -> None:
    assert not set(cost_vectors.CHOICE_SEEDS) & set(cost_vectors.SEEDS)
    assert cost_vectors.CHOICE_ROUNDS < cost_vectors.ROUNDS
