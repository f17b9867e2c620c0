"""Our boosters against the clock: a whole stream in one call, or a round at a time; in each turn a fresh
model plays all of it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from banditboost import play
from benchmarks.cases import Case
from benchmarks.rate import Contender, Turn, timed

_WARM_UP = 100


def played(case: Case, algorithm: str, n_learners: int | None = None) -> Contender:
    """Through `play`."""
    _play(case.cut(_WARM_UP), case.cut(_WARM_UP).model(algorithm, n_learners))  # compiles
    return _contender(case.rounds, lambda: partial(_play, case, case.model(algorithm, n_learners)))


def by_array(case: Case, algorithm: str = "AdaBandit", n_learners: int | None = None) -> Contender:
    """Through `decide` and `learn`, a row of the matrix at a time."""
    return _by_round(case, list(case.stream.X), partial(case.model, algorithm, n_learners))


def by_dict(case: Case, algorithm: str = "AdaBandit", n_learners: int | None = None) -> Contender:
    """Through `decide` and `learn`, a dict at a time."""
    return _by_round(case, [row for row, _ in case.records], partial(case.model, algorithm, n_learners))


def _by_round(case: Case, rows: list[Any], make: Callable[[], Any]) -> Contender:
    truths = [case.stream.labels[i] for i in case.stream.y]
    decide_and_learn(rows[:_WARM_UP], truths[:_WARM_UP], make())  # compiles
    return _contender(case.rounds, lambda: partial(decide_and_learn, rows, truths, make()))


def _contender(rounds: int, prepare: Callable[[], Callable[[], float]]) -> Contender:
    def turn(_: int) -> Turn:
        seconds, accuracy = timed(prepare())  # the model is made outside the clock
        return Turn(rounds, seconds, accuracy * rounds)

    return turn


def _play(case: Case, model: Any) -> float:
    return float(play(model, case.stream.X, case.stream.y).accuracy)


def decide_and_learn(rows: list[Any], truths: list[str], model: Any) -> float:
    right = 0
    for row, truth in zip(rows, truths, strict=True):
        decision = model.decide(row)
        correct = decision.label == truth
        model.learn(decision, correct)
        right += correct
    return right / len(rows)
