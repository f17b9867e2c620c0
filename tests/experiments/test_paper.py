"""The tasks of the paper's tables and figures."""

from __future__ import annotations

from collections import Counter

import pytest

from banditboost.experiments import protocol
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.learners import make
from banditboost.experiments.paper import (
    ARTEFACTS,
    RATES,
    artefact_tasks,
    exploration_tasks,
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


@pytest.mark.parametrize("dataset", protocol.STREAMS)
@pytest.mark.parametrize("algorithm", protocol.ALGORITHMS)
def test_every_learner_takes_its_parameters(dataset: str, algorithm: str) -> None:
    make(algorithm, ("a", "b"), None, paper_parameters(dataset, algorithm), seed=4)


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
