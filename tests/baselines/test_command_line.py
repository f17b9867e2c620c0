"""`run` and `compare` know the baselines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import banditboost
from banditboost.cli.app import app
from tests.baselines.models import NAMES
from tests.boosting.kernels import INTERPRETED

ROUNDS = "40" if INTERPRETED else "150"


def call(command: str) -> dict[str, object]:
    result = CliRunner().invoke(app, [*command.split(), "--rounds", ROUNDS, "--json"])
    assert result.exit_code == 0, result.output
    printed: dict[str, object] = json.loads(result.stdout)
    return printed


@pytest.mark.parametrize("name", NAMES)
def test_run_keeps_and_resumes_a_baseline(name: str, tmp_path: Path) -> None:
    summary = call(f"run balance --learner {name.lower()} --save {tmp_path / 'model.bb'}")
    assert (summary["learner"], summary["rounds"]) == (name, int(ROUNDS))
    assert bool(summary["n_learners"]) == ("EpsilonGreedy" in name)
    assert call(f"run balance --resume {tmp_path / 'model.bb'} --skip 10")["rounds"] == int(ROUNDS) - 10
    assert banditboost.load(tmp_path / "model.bb").rounds == int(ROUNDS)


def test_compare_gives_each_learner_what_it_has(tmp_path: Path) -> None:
    chosen = "AdaBandit,EpsilonGreedyTree,DiagonalSOBA,Majority,Random"
    compared = call(
        f"compare balance --learners {chosen} --seeds 1 --jobs 1 --n-learners 2 "
        f"--exploration 0.3 --set regularization=2 --out {tmp_path}"
    )
    assert {row["learner"] for row in compared["learners"]} == set(chosen.split(","))  # type: ignore[attr-defined]
    records = [
        json.loads(line) for line in (tmp_path / "results.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    given = {record["task"]["learner"]: record["task"]["parameters"] for record in records}
    assert given["DiagonalSOBA"] == {"exploration": 0.3, "regularization": 2}
    assert given["Majority"] == given["EpsilonGreedyTree"] == {"exploration": 0.3}
    assert given["Random"] == {}
    assert (given["AdaBandit"]["n_learners"], given["AdaBandit"]["exploration"]) == (2, 0.3)


def test_a_parameter_that_none_of_them_has_is_refused(tmp_path: Path) -> None:
    options = f"--seeds 1 --jobs 1 --set edge=0.1 --out {tmp_path} --rounds 20"
    command = f"compare balance --learners Majority,Banditron {options}"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code != 0
    assert "edge" in str(result.exception) + result.output
