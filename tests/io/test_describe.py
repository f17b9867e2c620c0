"""What is inside a file, told without kernels."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import banditboost
from banditboost.errors import ModelFileError
from tests.boosting.twins import ALL_BOOSTERS
from tests.io.models import HALF, N, forge, trained


@pytest.mark.parametrize("name", ALL_BOOSTERS)
def test_describe_tells_what_the_model_would(name: str, tmp_path: Path) -> None:
    model = trained(name)
    model.save(tmp_path / "a")
    told = banditboost.io.describe(tmp_path / "a")
    assert told["class"] == name
    assert (told["rounds"], told["verdicts"], told["model_id"]) == (HALF, HALF, model.model_id)
    assert told["labels"] == model.labels
    assert told["memory"] == model.memory_usage
    assert told["file_size"] == (tmp_path / "a").stat().st_size
    assert told["versions"]["banditboost"] == banditboost.__version__
    assert told["parameters"]["n_learners"] == N
    assert told["parameters"]["weak_learner"]["class"] == "HoeffdingTree"
    assert told["parameters"]["weak_learner"]["grace_period"] == (5.0, 20.0)
    assert list(told["schema"]) == list(model.schema.names)
    assert told["schema"]["f0"] is None
    assert tuple(told["schema"]["f1"]) == model.schema.values("f1")


def test_a_branch_is_told(tmp_path: Path) -> None:
    model = banditboost.AdaBandit(["yes", "no"], n_learners=2, seed=1)
    for number, one in enumerate((model, branch := model.branch())):
        one.save(tmp_path / str(number))
    told = [banditboost.io.describe(tmp_path / name)["branch"] for name in "01"]
    assert told == ["", branch.decide({"a": 1.0}).branch]
    assert told[1]


def test_describe_loads_no_kernels(tmp_path: Path) -> None:
    trained("AdaBandit").save(tmp_path / "a")
    code = (
        "import sys, banditboost; told = banditboost.io.describe(sys.argv[1]);"
        "heavy = 'numba', *(f'banditboost.{name}' for name in ('compiled', 'trees', 'models', 'boosting'));"
        "print(told['class'], *[name for name in sys.modules if name.startswith(heavy)])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a")], check=True, capture_output=True, text=True
    ).stdout
    assert printed.split() == ["AdaBandit"]


@pytest.mark.parametrize(
    "schema", [{}, {"names": ["a"], "values": []}, {"names": [["a"]], "values": [None]}], ids=str
)
def test_describe_refuses_a_broken_schema(tmp_path: Path, schema: dict[str, object]) -> None:
    trained("AdaBandit").save(tmp_path / "a")
    with pytest.raises(ModelFileError, match="schema"):
        banditboost.io.describe(forge(tmp_path / "a", lambda header, _: header.update(schema=schema)))
