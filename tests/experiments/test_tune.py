"""Searches: a grid, successive halving, and both again from the results file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from banditboost.errors import ParameterError
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.results import Results
from banditboost.experiments.runner import run_tasks
from banditboost.experiments.statistics import mean_interval
from banditboost.experiments.task import Source, Task
from banditboost.experiments.tune import Search, rank, rungs, tune_by_grid, tune_by_halving

SEARCH = Search(
    Source("balance", repeat=10),
    "AdaBandit",
    {"exploration": [0.5, 0.01, 0.1], "n_learners": [1, 2, 3]},
    {"clip": 50},
    (4, 5),
)


def quality(task: Task) -> float:
    """What the tasks below are said to have reached: more learners and less exploration are better, by seed a
    little different.
    """
    return 0.5 + 0.1 * task.parameters["n_learners"] - 0.2 * task.parameters["exploration"] + 0.01 * task.seed


class Played:
    """Stands for the runner: notes what it was asked to play, and writes records."""

    def __init__(self, results: Results) -> None:
        self.results = results
        self.asked: list[list[Task]] = []

    def __call__(self, tasks: list[Task]) -> None:
        self.asked.append(tasks)
        for task in tasks:
            self.results.append(
                {
                    "id": task.id,
                    "accuracy": quality(task),
                    "last_accuracy": 1 - quality(task),
                    "rounds": task.source.rounds or 6250,
                }
            )


@pytest.fixture
def played(tmp_path: Path) -> Played:
    return Played(Results(tmp_path / "results.jsonl"))


def test_the_grid_ranks_every_candidate(played: Played) -> None:
    ranking = tune_by_grid(SEARCH, played.results, played)
    assert len(played.asked[0]) == 9 * 2
    assert all(task.parameters["clip"] == 50 and task.source == SEARCH.source for task in played.asked[0])
    assert [ranked.parameters for ranked in ranking[:3]] == [
        {"exploration": rate, "n_learners": 3} for rate in (0.01, 0.1, 0.5)
    ]
    assert ranking[0].parameters == {"exploration": 0.01, "n_learners": 3}
    best = [quality(task) for task in SEARCH.tasks(ranking[0].parameters)]
    assert (ranking[0].mean, ranking[0].half_width) == mean_interval(best)
    assert (ranking[0].rounds, ranking[0].seeds) == (6250, 2)


def test_another_score_turns_the_ranking_around(played: Played) -> None:
    search = Search(SEARCH.source, "AdaBandit", SEARCH.choices, SEARCH.fixed, (4, 5), score="last_accuracy")
    assert tune_by_grid(search, played.results, played)[0].parameters == {"exploration": 0.5, "n_learners": 1}


def test_halving_drops_two_of_three_at_each_rung(played: Played) -> None:
    ranking = tune_by_halving(SEARCH, played.results, played, rounds=6250, factor=3)
    assert [len(tasks) for tasks in played.asked] == [9 * 2, 3 * 2, 1 * 2]
    assert [{task.source.rounds for task in tasks} for tasks in played.asked] == [{694}, {2083}, {None}]
    assert [ranked.rounds for ranked in ranking] == [6250, 2083, 2083, *[694] * 6]
    assert [ranked.parameters for ranked in ranking] == [
        ranked.parameters for ranked in tune_by_grid(SEARCH, played.results, played)
    ]


def test_the_last_rung_is_the_grids(played: Played) -> None:
    winner = tune_by_halving(SEARCH, played.results, played, rounds=6250)[0]
    last = {task.id for task in played.asked[-1]}
    tune_by_grid(SEARCH, played.results, played)
    assert last <= {task.id for task in played.asked[-1]}
    assert rank(SEARCH, [winner.parameters], None, played.results.records()) == [winner]


def test_rungs_stop_where_rounds_tell_nothing() -> None:
    assert rungs(100, 4000, 2) == [500, 1000, 2000, 4000]
    assert rungs(1, 4000, 2) == [4000]
    assert rungs(5, 600, 3) == [600]


def test_a_search_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    """Played for real: the second search finds all of the first, and a wider grid plays only what is new."""
    results = Results(tmp_path / "results.jsonl")
    counts: list[int] = []

    def run(tasks: list[Task]) -> None:
        counts.append(run_tasks(tasks, results, jobs=1))

    source = Source("balance", repeat=2, rounds=60)
    search = Search(source, "AdaBandit", {"exploration": [0.01, 0.1]}, {"n_learners": 2}, (4, 5))
    first = tune_by_grid(search, results, run)
    assert tune_by_grid(search, results, partial(run_tasks, results=results, jobs=1)) == first
    wider = Search(source, "AdaBandit", {"exploration": [0.01, 0.1, 0.3]}, {"n_learners": 2}, (4, 5))
    assert len(tune_by_grid(wider, results, run)) == 3
    assert counts == [4, 2]
    assert {ranked.rounds for ranked in first} == {60}


def test_what_was_not_played_cannot_be_ranked() -> None:
    with pytest.raises(
        ExperimentError, match=r"AdaBandit on balance, seed 4 is not in the results; play it first"
    ):
        rank(SEARCH, SEARCH.candidates(), None, [])


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ({"choices": {}}, "at least one parameter to try"),
        ({"choices": {"clip": [1]}, "seeds": ()}, "and one seed"),
        ({"choices": {"clip": []}}, "no values to try for 'clip'"),
        ({"choices": {"clip": [1]}, "fixed": {"clip": 2}}, "'clip' is both to be tried and fixed"),
    ],
)
def test_refusals(search: dict[str, Any], message: str) -> None:
    with pytest.raises(ExperimentError, match=message):
        Search(Source("car"), "AdaBandit", **search)


def test_a_factor_below_two_is_refused(played: Played) -> None:
    with pytest.raises(ParameterError, match="factor is 1; give a whole number from 2"):
        tune_by_halving(SEARCH, played.results, played, rounds=1000, factor=1)
