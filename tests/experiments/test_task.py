"""Tasks: equal ones have equal ids, everywhere and always."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from banditboost.datasets import DatasetError
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.task import Source, Task

CAR = Task(
    Source("car", repeat=6),
    "AdaBandit",
    {"n_learners": 15, "grace_period": [5, 20], "exploration": 0.001},
    seed=4,
)


def test_ids_are_the_same_for_ever() -> None:
    """A pin: were it to change, nobody's finished tasks would be found again."""
    parameters = '{"exploration":0.001,"grace_period":[5,20],"n_learners":15}'
    canonical = (
        '{"learner":"AdaBandit","parameters":' + parameters + ',"seed":4,"source":{"name":"car","repeat":6}}'
    )
    assert CAR.id == hashlib.sha256(canonical.encode()).hexdigest()[:16] == "9c71c9d761db94bc"


def test_numbers_have_one_spelling() -> None:
    spelled = Task(
        CAR.source,
        "AdaBandit",
        {"exploration": np.float64(0.001), "grace_period": (5.0, np.int64(20)), "n_learners": 15.0},
        4,
    )
    assert spelled.id == CAR.id
    assert spelled == CAR


@pytest.mark.parametrize(
    "other",
    [
        Task(Source("car", repeat=5), CAR.learner, CAR.parameters, 4),
        Task(Source("car", repeat=6, rounds=100), CAR.learner, CAR.parameters, 4),
        Task(Source("car", repeat=6, variant="raw"), CAR.learner, CAR.parameters, 4),
        Task(CAR.source, "AdaFull", CAR.parameters, 4),
        Task(CAR.source, CAR.learner, {**CAR.parameters, "n_learners": 16}, 4),
        Task(CAR.source, CAR.learner, CAR.parameters, 5),
    ],
)
def test_whatever_differs_is_in_the_id(other: Task) -> None:
    assert other.id != CAR.id


def test_a_task_survives_json() -> None:
    task = Task.from_dict(json.loads(json.dumps(CAR.to_dict())))
    assert task == CAR
    assert task.id == CAR.id


def test_a_source_that_says_its_defaults_is_the_same() -> None:
    assert (
        Task(Source("car", "paper", repeat=6, rounds=None, shuffle=True), CAR.learner, CAR.parameters, 4).id
        == CAR.id
    )


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    here, there, changed = (tmp_path / name for name in ("here.csv", "there.csv", "changed.csv"))
    here.write_text("a,y\n1,yes\n")
    there.write_text("a,y\n1,yes\n")
    changed.write_text("a,y\n2,yes\n")
    ids = [Task(Source.file(path, "y", nominal=("a",)), "AdaBandit").id for path in (here, there, changed)]
    assert ids[0] == ids[1] != ids[2]
    assert Task(Source.file(here, "y"), "AdaBandit").id != ids[0]
    source = Source.file(here, "y", nominal=("a",))
    assert source.name == "here"
    assert Source.from_dict(json.loads(json.dumps(source.to_dict()))) == source


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"cannot read .*no.csv.*No such file.*give the path"):
        Source.file(tmp_path / "no.csv", "y")
    with pytest.raises(ExperimentError, match=r"without label and sha256.*Source.file"):
        Source("mine", path="mine.csv")
    with pytest.raises(ExperimentError, match="shuffle is False for the data set 'car'"):
        Source("car", shuffle=False)
    with pytest.raises(ExperimentError, match="parameters hold nan"):
        Task(CAR.source, "AdaBandit", {"exploration": float("nan")})
    with pytest.raises(ExperimentError, match="parameters hold <object"):
        Task(CAR.source, "AdaBandit", {"weak_learner": object()})
    with pytest.raises(ExperimentError, match="source has 'drift', which this version"):
        Source.from_dict({"name": "car", "drift": 1})


def test_a_folder_is_known_by_the_names_and_contents_of_its_files(tmp_path):
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        for name in ("a.csv", "b.csv"):
            (tmp_path / place / name).write_text("x,y\n1,a\n2,b\n")
    sources = [Source.file(tmp_path / "here", "y"), Source.file(tmp_path / "there", "y")]
    sources.append(Source.file(tmp_path / "there" / "*.csv", "y"))
    assert len({Task(source, "AdaBandit").id for source in sources}) == 1
    assert [source.name for source in sources] == ["here", "there", "there"]
    (tmp_path / "there" / "b.csv").rename(tmp_path / "there" / "c.csv")
    assert Source.file(tmp_path / "there", "y").sha256 != sources[0].sha256
    with pytest.raises(DatasetError, match="no file is called"):
        Source.file(tmp_path / "*.parquet", "y")


def test_how_a_file_is_read_is_part_of_a_task(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,when,y\n1,2024-01-01,a\n2,2024-01-02,b\n")
    plain = Source.file(path, "y")
    told = Source.file(path, "y", dates=["when"], encoding="cp1252", separator=",", decimal=".")
    assert Source.from_dict(told.to_dict()) == told
    assert Task(plain, "AdaBandit").id != Task(told, "AdaBandit").id
    assert set(plain.to_dict()) == {"name", "path", "label", "sha256"}
    for name in ("encoding", "separator", "decimal"):
        with pytest.raises(ExperimentError, match=f"{name} is 5; give a text"):
            Source.file(path, "y", **{name: 5})
