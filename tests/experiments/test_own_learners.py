"""Boosters and weak learners of the user's, in a module of the user's: in tasks, in worker processes, on the
command line.
"""

from __future__ import annotations

import importlib
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from banditboost.errors import ParameterError
from banditboost.experiments import references
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.grouping import is_told_the_label, learner_of
from banditboost.experiments.learners import learner_class, make, parameters_of
from banditboost.experiments.references import is_reference, reference_to, resolve
from banditboost.experiments.results import Results
from banditboost.experiments.run import run_task
from banditboost.experiments.runner import run_tasks
from banditboost.experiments.task import Source, Task
from banditboost.experiments.tune import Search, tune_by_grid
from tests.boosting.kernels import INTERPRETED
from tests.experiments.tasks import outcome

MODULE = '''
import os

from banditboost.boosting.adaptive import AdaBandit
from banditboost.boosting.full_information import AdaFull

NUMBER = 3


class Shy(AdaBandit):
    """Explores less than it is told to."""

    def __init__(self, labels, *, shyness=2.0, n_learners=3, exploration=0.1, schema=None, seed=None):
        rate = exploration / shyness
        super().__init__(labels, n_learners=n_learners, exploration=rate, schema=schema, seed=seed)
        self.shyness = shyness


class Told(AdaFull):
    pass


class Frequent:
    """The label with the largest weight so far."""

    def __init__(self):
        self.weights = {}
        self.maker = os.getpid()

    def predict(self, x):
        return max(self.weights, key=self.weights.get, default=0)

    def learn(self, x, label, weight):
        self.weights[label] = self.weights.get(label, 0.0) + weight


def frequent():
    return Frequent()
'''
CAR = Source("car", repeat=6, rounds=60)


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module of the user's in a directory of its own, which this process finds."""
    place = tmp_path / "modules"
    place.mkdir()
    (place / "my_learners.py").write_text(textwrap.dedent(MODULE))
    (place / "broken_learners.py").write_text("1 / 0\n")
    (place / "hungry_learners.py").write_text("import a_package_that_nobody_has\n")
    monkeypatch.syspath_prepend(str(place))
    importlib.invalidate_caches()
    yield importlib.import_module("my_learners")
    for name in ("my_learners", "broken_learners", "hungry_learners"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a:B", True), ("a.b:C.D", True), ("_a1:_B", True),
        ("AdaBandit", False), ("5:20", False), ("a:", False), (":B", False),
        ("a:b:c", False), ("a.:b", False), ("a b:c", False), ("", False),
    ],
)  # fmt: skip
def test_references_have_a_form_of_their_own(text: str, is_one: bool) -> None:
    assert is_reference(text) is is_one


def test_classes_and_references_to_them_are_one_task(mine: Any) -> None:
    task = Task(CAR, mine.Shy, {"weak_learner": mine.Frequent, "n_learners": 2}, seed=1)
    assert task.learner == "my_learners:Shy"
    assert task.parameters == {"weak_learner": "my_learners:Frequent", "n_learners": 2}
    assert (
        task.id
        == Task(CAR, "my_learners:Shy", {"weak_learner": "my_learners:Frequent", "n_learners": 2}, seed=1).id
    )
    assert Task.from_dict(json.loads(json.dumps(task.to_dict()))) == task


def test_parameters_are_those_of_the_users_signature(mine: Any) -> None:
    assert learner_class("my_learners:Shy") is mine.Shy
    assert parameters_of("my_learners:Shy") == ("shyness", "n_learners", "exploration")
    model = make("my_learners:Shy", ("a", "b"), None, {"shyness": 4, "exploration": 0.2}, seed=9)
    assert (model.exploration, model.seed) == (0.05, 9)  # type: ignore[attr-defined]
    with pytest.raises(
        ParameterError,
        match="'clip' is no parameter of my_learners:Shy; it has shyness, n_learners, exploration",
    ):
        make("my_learners:Shy", ("a", "b"), None, {"clip": 3}, seed=9)


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("reference", ["my_learners:Frequent", "my_learners:frequent"])
def test_a_weak_learner_of_the_users_is_boosted(reference: str) -> None:
    record = run_task(Task(CAR, "AdaBandit", {"n_learners": 2, "weak_learner": reference}, seed=4))
    assert record["rounds"] == 60
    assert learner_of(record) == f"AdaBandit+{reference}"
    assert (
        outcome(record)["accuracy"] != run_task(Task(CAR, "AdaBandit", {"n_learners": 2}, seed=4))["accuracy"]
    )


def test_worker_processes_find_what_is_found_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also processes that began before the directory of the module was known."""
    run_tasks(
        [Task(CAR, "Majority", seed=seed) for seed in (4, 5)], Results(tmp_path / "before.jsonl"), jobs=2
    )
    place = tmp_path / "late"
    place.mkdir()
    (place / "late_learners.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.syspath_prepend(str(place))
    boosters = (
        ("late_learners:Shy", {}),
        ("AdaBandit", {"weak_learner": "late_learners:Frequent"}),
        ("AdaBandit", {}),
    )
    tasks = [
        Task(CAR, learner, {"n_learners": 2, **own}, seed) for learner, own in boosters for seed in (4, 5)
    ]
    results = Results(tmp_path / "results.jsonl")
    assert run_tasks(tasks, results, jobs=2) == 6
    found = {record["id"]: outcome(record) for record in results.records()}
    for task in tasks if not INTERPRETED else tasks[:1]:
        assert found[task.id] == outcome(run_task(task))
    sys.modules.pop("late_learners")


@pytest.mark.usefixtures("mine")
def test_a_search_tunes_a_booster_of_the_users(tmp_path: Path) -> None:
    results = Results(tmp_path / "results.jsonl")
    search = Search(CAR, "my_learners:Shy", {"shyness": [1, 5]}, {"n_learners": 2}, seeds=(4,))
    ranked = tune_by_grid(search, results, lambda tasks: run_tasks(tasks, results, jobs=1))
    assert {candidate.parameters["shyness"] for candidate in ranked} == {1, 5}


@pytest.mark.usefixtures("mine")
def test_who_is_told_the_label_is_seen_of_the_users_class() -> None:
    told = ["my_learners:Told", "my_learners:Shy", "gone:Away", "AdaFull+my_learners:Frequent"]
    assert [is_told_the_label(name) for name in told] == [True, False, False, True]


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (
            "my_learnerz:Shy",
            "there is no module 'my_learnerz'; install it, or put its directory into PYTHONPATH",
        ),
        ("my_learners:Shyy", "the module 'my_learners' has no 'Shyy'; did you mean 'Shy'?"),
        ("my_learners:Absent.Inner", "has no 'Absent.Inner'; check the spelling"),
        ("broken_learners:Shy", "'broken_learners' cannot be imported: ZeroDivisionError"),
        ("hungry_learners:Shy", "'hungry_learners' needs a_package_that_nobody_has; install that"),
        ("Shy", "names no class; give it as package.module:Class"),
    ],
)
def test_what_cannot_be_found_is_named_with_the_remedy(reference: str, said: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        resolve(reference)
    assert said in str(refused.value)
    assert repr(reference) in str(refused.value)


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize("name", ["my_learners:NUMBER", "my_learners:Frequent", "my_learners:frequent"])
def test_what_is_no_booster_is_refused_as_one(name: str) -> None:
    with pytest.raises(ExperimentError, match=r"which is no booster; derive it from one"):
        learner_class(name)


def test_weak_learners_and_trees_exclude_each_other(mine: Any) -> None:
    with pytest.raises(
        ParameterError, match="'grace_period' is a parameter of the built-in trees, and weak_learner is"
    ):
        make(
            "AdaBandit", ("a", "b"), None, {"weak_learner": "my_learners:Frequent", "grace_period": 5}, seed=0
        )
    with pytest.raises(ParameterError, match="weak_learner is 3; give a class of yours"):
        make("AdaBandit", ("a", "b"), None, {"weak_learner": 3}, seed=0)
    with pytest.raises(
        ExperimentError, match="cannot be found by other processes; define it at the top of a module"
    ):
        Task(CAR, "AdaBandit", {"weak_learner": lambda: mine.Frequent()})


def test_what_only_this_process_has_is_refused(mine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(mine.Shy):  # type: ignore[misc]
        pass

    with pytest.raises(ExperimentError, match=r"Local.* cannot be found by other processes"):
        reference_to(Local)
    monkeypatch.setattr(mine.Shy, "__module__", "__main__")
    with pytest.raises(ExperimentError, match="cannot be found by other processes"):
        reference_to(mine.Shy)


def test_a_place_to_look_in_is_added_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["a", "b"])
    references.extend_search_path(("b", "c"))
    references.extend_search_path(("c",))
    assert sys.path == ["a", "b", "c"]
