"""The tasks of the paper's tables and figures."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest

from banditboost.experiments import protocol
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.learners import make
from banditboost.experiments.paper import (
    ARTEFACTS,
    ESTIMATING,
    RATES,
    SIZES,
    artefact_tasks,
    estimator_tasks,
    exploration_tasks,
    learner_tasks,
    paper_parameters,
    paper_tasks,
)
from banditboost.experiments.task import Source, Task

COUNTS = {"balance": 2500, "car": 6912, "nursery": 12960, "movement": 165631, "mice": 4320, "isolet": 38985}
"""Table 4's column Count."""


def test_every_cell_has_the_papers_seeds() -> None:
    tasks = paper_tasks()
    cells = Counter((task.source.name, task.learner) for task in tasks)
    assert cells == {
        (data, learner): 10 if data in ("isolet", "movement") else 20
        for data in protocol.STREAMS
        for learner in protocol.ALGORITHMS
    }
    assert len({task.id for task in tasks}) == len(tasks) == 500
    assert {task.seed for task in tasks if task.source.name == "car"} == set(range(4, 24))
    assert {(task.source.name, task.source.repeat) for task in tasks} == {
        (name, plan.repeat) for name, plan in protocol.STREAMS.items()
    }


def test_a_task_has_the_papers_parameters() -> None:
    (task,) = paper_tasks(["isolet"], ["AdaBandit"], seeds=[4])
    assert task == Task(
        Source("isolet", repeat=15),
        "AdaBandit",
        {
            "n_learners": 20,
            "exploration": 0.1,
            "clip": 100,
            "importance_scale": 1 / 25,
            "grace_period": [300, 301],
            "tie_threshold": [0.7, 0.8],
            "split_confidence": [1e-11, 1e-10],
        },
        seed=4,
    )
    assert paper_parameters("car", "OptFull")["edge"] == 0.1


@pytest.mark.parametrize("mode", protocol.MODES)
@pytest.mark.parametrize("dataset", protocol.STREAMS)
@pytest.mark.parametrize("algorithm", protocol.ALGORITHMS)
def test_every_learner_takes_its_parameters(dataset: str, algorithm: str, mode: protocol.Mode) -> None:
    make(algorithm, ("a", "b"), None, paper_parameters(dataset, algorithm, mode), seed=4)


def test_a_task_of_the_text_says_so() -> None:
    ada, binary = paper_tasks(["isolet"], ["AdaBandit", "BinBandit"], seeds=[4], mode="text")
    assert ada.source == binary.source == Source("isolet", variant="text", repeat=15)
    assert (ada.parameters["lesson"], ada.parameters["clip"]) == ("text", 100)
    assert binary.parameters["clip"] is None
    assert "lesson" not in binary.parameters
    assert Task.from_dict(json.loads(json.dumps(binary.to_dict()))).id == binary.id


def test_ids_of_ours_are_those_of_earlier_records() -> None:
    """Ids by which records of earlier versions are found.

    BinBandit was clipped then, and AdaFull's weights were scaled.
    """
    known = {"table1": "4dc27e3089c9", "table4": "044dc8a644de"}
    for name, digest in known.items():
        ids = "".join(task.id for task in artefact_tasks(name) if task.learner not in ("BinBandit", "AdaFull"))
        assert hashlib.sha256(ids.encode()).hexdigest()[:12] == digest


def test_the_modes_share_no_run() -> None:
    ids = {
        mode: {task.id for name in ARTEFACTS for task in artefact_tasks(name, mode=mode)}
        for mode in protocol.MODES
    }
    assert len(ids["text"]) == len(ids["ours"]) == 1735
    assert not ids["text"] & ids["ours"]


def test_estimators_are_the_runs_of_the_tables_and_the_same_with_equation_3() -> None:
    tasks = estimator_tasks(["car"], seeds=3, mode="text")
    others = [task for task in tasks if "estimator" in task.parameters]
    assert [task for task in tasks if task not in others] == paper_tasks(
        ["car"], ESTIMATING, seeds=3, mode="text"
    )
    assert {task.parameters["estimator"] for task in others} == {3}
    assert [(task.learner, task.seed, {**task.parameters, "estimator": 4}) for task in others] == [
        (task.learner, task.seed, {**task.parameters, "estimator": 4}) for task in tasks[: len(others)]
    ]


def test_the_choice_of_n_is_among_multiples_of_five_at_the_printed_rate() -> None:
    tasks = learner_tasks(["mice"], ["AdaBandit"], seeds=2)
    assert [(task.parameters["n_learners"], task.seed) for task in tasks] == [
        (size, seed) for size in SIZES for seed in (4, 5)
    ]
    assert all(size % 5 == 0 for size in SIZES)
    printed = {protocol.setting(d, a).n_learners for d in protocol.STREAMS for a in ESTIMATING}
    assert printed <= set(SIZES)
    of_table_4 = {task.id for task in exploration_tasks(["mice"], ["AdaBandit"], seeds=2)}
    assert len({task.id for task in tasks} & of_table_4) == 2  # the printed N at the printed rate


def test_figures_show_runs_of_the_tables() -> None:
    ids = {name: {task.id for task in artefact_tasks(name)} for name in ARTEFACTS}
    assert ids["table1"] == ids["table2"]
    assert ids["figure1"] | ids["figure2"] == {
        task.id for task in paper_tasks() if task.learner != "BinBandit"
    }
    assert not ids["figure1"] & ids["figure2"]
    assert {task.source.name for task in artefact_tasks("figure1")} == {"car", "isolet"}


def test_the_search_plays_as_many_rounds_as_table_4_says() -> None:
    tasks = exploration_tasks(seeds=1)
    assert len(tasks) == 6 * 3 * len(RATES)
    for task in tasks:
        rounds = task.source.repeat * protocol.STREAMS[task.source.name].rows
        assert rounds - COUNTS[task.source.name] == (2 if task.source.name == "movement" else 0)
        others = {**paper_parameters(task.source.name, task.learner), "exploration": None}
        assert {**task.parameters, "exploration": None} == others
    assert set(protocol.EXPLORATION.values()) <= set(RATES)


def test_some_of_it() -> None:
    tasks = artefact_tasks("table1", datasets=["car", "mice"], algorithms=["AdaFull"], seeds=3)
    assert [(task.source.name, task.learner, task.seed) for task in tasks] == [
        (name, "AdaFull", seed) for name in ("car", "mice") for seed in (4, 5, 6)
    ]
    assert artefact_tasks("figure1", datasets=["mice"]) == []


def test_refusals() -> None:
    with pytest.raises(ExperimentError, match="unknown table or figure 'table3': there are table1"):
        artefact_tasks("table3")
    with pytest.raises(ExperimentError, match="unknown data set 'cars': the paper has balance"):
        artefact_tasks("table1", datasets=["cars"])
    with pytest.raises(ExperimentError, match="unknown algorithm 'Ada'"):
        paper_tasks(algorithms=["Ada"])
    with pytest.raises(ExperimentError, match="unknown bandit algorithm 'AdaFull': the paper has OptBandit"):
        exploration_tasks(algorithms=["AdaFull"])
