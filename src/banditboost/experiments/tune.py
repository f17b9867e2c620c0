"""Which parameters suit a stream.

A grid plays every combination; successive halving drops bad ones after a few rounds. Every run is a task, so
a search goes on where it was interrupted, and a wider grid plays only what is new. The last rung of a halving
is the whole stream: its tasks are those of the grid.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.records import check_record, checked, listed
from banditboost.experiments.results import Results
from banditboost.experiments.statistics import mean_interval
from banditboost.experiments.task import Source, Task
from banditboost.text import quoted
from banditboost.validation import check_choice, check_count

Score = Literal["accuracy", "last_accuracy", "greedy_accuracy"]
Parameters = dict[str, Any]
_FEWEST_ROUNDS = 500
"""The first rung of a halving has at least so many rounds: fewer tell nothing."""


@dataclass(frozen=True)
class Search:
    """What is searched: `choices` has the values to try for each parameter, `fixed` the others' values.

    >>> choices = {"exploration": [0.001, 0.1], "n_learners": [5, 15]}
    >>> Search(Source("car"), "AdaBandit", choices).candidates()[1]
    {'exploration': 0.001, 'n_learners': 15}
    >>> len(Search(Source("car"), "AdaBandit", choices, seeds=(4, 5)).candidates())
    4
    """

    source: Source
    learner: str
    choices: Mapping[str, Sequence[Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    seeds: Sequence[int] = (0, 1, 2)
    score: Score = "accuracy"

    def __post_init__(self) -> None:
        for name, given in (("choices", self.choices), ("fixed", self.fixed)):
            if not isinstance(given, Mapping):
                raise ExperimentError(f"{name} is {quoted(given)}; give a dict by name of the parameter")
        if not isinstance(self.seeds, Sequence) or isinstance(self.seeds, (str, bytes)):
            raise ExperimentError(f"seeds is {quoted(self.seeds)}; give a list of seeds")
        check_choice("score", self.score, get_args(Score))
        for name, values in self.choices.items():
            if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
                raise ExperimentError(
                    f"the values to try for {quoted(name)} are {quoted(values)}; give a list"
                )
            if not values:
                raise ExperimentError(f"there are no values to try for {quoted(name)}; give at least one")
            if name in self.fixed:
                raise ExperimentError(f"{quoted(name)} is both to be tried and fixed; give it once")
        if not self.choices or not self.seeds:
            raise ExperimentError("a search needs at least one parameter to try and one seed")

    def candidates(self) -> list[Parameters]:
        """Every combination."""
        return [
            dict(zip(self.choices, values, strict=True))
            for values in itertools.product(*self.choices.values())
        ]

    def tasks(self, candidate: Parameters, rounds: int | None = None) -> list[Task]:
        """A candidate's runs, over the whole stream or its first `rounds`."""
        source = self.source if rounds is None else replace(self.source, rounds=rounds)
        return [Task(source, self.learner, {**self.fixed, **candidate}, seed) for seed in self.seeds]


@dataclass(frozen=True)
class Ranked:
    """A candidate and how it did.

    That is its mean score and half the 95 % interval over seeds, at the most rounds that it was given.

    >>> Ranked({"exploration": 0.01}, mean=0.91, half_width=0.02, rounds=2500, seeds=3).mean
    0.91
    """

    parameters: Parameters
    mean: float
    half_width: float
    rounds: int
    seeds: int


def tune_by_grid(search: Search, results: Results, run: Callable[[list[Task]], Any]) -> list[Ranked]:
    """Play every candidate over the whole stream; the best first.

    `run` plays tasks and puts their records into `results`: `partial(run_tasks, results=results)` with
    whatever else it is to be told.
    """
    return _rung(search, search.candidates(), None, results, run)


def tune_by_halving(
    search: Search, results: Results, run: Callable[[list[Task]], Any], *, rounds: int, factor: int = 3
) -> list[Ranked]:
    """Play all candidates for few rounds, and the best of them for more.

    Each rung has `factor` times as many rounds as the one before, up to the whole stream of `rounds`. Of each
    rung one in `factor` goes on. Those that got further are ranked first. (`run.count_rounds` tells how long
    a stream is.)
    """
    candidates = search.candidates()
    dropped: list[Ranked] = []
    for cut in rungs(len(candidates), rounds, factor)[:-1]:
        ranking = _rung(search, candidates, cut, results, run)
        kept = math.ceil(len(ranking) / factor)
        candidates = [ranked.parameters for ranked in ranking[:kept]]
        dropped = ranking[kept:] + dropped
    return _rung(search, candidates, None, results, run) + dropped


def rungs(n_candidates: int, rounds: int, factor: int) -> list[int]:
    """After how many rounds candidates are compared: the last is the whole stream.

    >>> rungs(n_candidates=9, rounds=9000, factor=3)
    [1000, 3000, 9000]
    """
    cuts = [check_count("rounds", rounds, 1)]
    check_count("n_candidates", n_candidates, 1)
    check_count("factor", factor, 2)
    while n_candidates > 1 and cuts[0] // factor >= _FEWEST_ROUNDS:
        cuts.insert(0, cuts[0] // factor)
        n_candidates = math.ceil(n_candidates / factor)
    return cuts


def rank(
    search: Search, candidates: Iterable[Parameters], rounds: int | None, records: Iterable[Mapping[str, Any]]
) -> list[Ranked]:
    """Candidates by their records, the best first; nothing is played."""
    found = {}
    for record in listed(records):
        check_record(record, "id")
        found[record["id"]] = record
    return sorted(
        (_ranked(search, candidate, rounds, found) for candidate in candidates),
        key=lambda ranked: -ranked.mean,
    )


def _rung(
    search: Search,
    candidates: list[Parameters],
    rounds: int | None,
    results: Results,
    run: Callable[[list[Task]], Any],
) -> list[Ranked]:
    run([task for candidate in candidates for task in search.tasks(candidate, rounds)])
    return rank(search, candidates, rounds, results.records())


def _ranked(
    search: Search, candidate: Parameters, rounds: int | None, found: Mapping[str, Mapping[str, Any]]
) -> Ranked:
    missing = [str(task) for task in search.tasks(candidate, rounds) if task.id not in found]
    if missing:
        raise ExperimentError(
            f"{candidate} has not been played: {missing[0]} is not in the results; play it first"
        )
    records = checked([found[task.id] for task in search.tasks(candidate, rounds)], "rounds", search.score)
    mean, half_width = mean_interval([record[search.score] for record in records])
    return Ranked(candidate, mean, half_width, records[0]["rounds"], len(records))
