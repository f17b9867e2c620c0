"""Our boosters against the clock: a whole stream in one call, or a round at a time."""

from collections.abc import Callable
from functools import partial
from typing import Any

from banditboost import play
from benchmarks.cases import Case
from benchmarks.rate import Rate, repeated

_WARM_UP = 100


def played(case: Case, algorithm: str, seconds: float, n_learners: int | None = None) -> Rate:
    """Through `play`."""
    _play(case.cut(_WARM_UP), case.cut(_WARM_UP).model(algorithm, n_learners))  # compiles
    return repeated(lambda: partial(_play, case, case.model(algorithm, n_learners)), case.rounds, seconds)


def by_array(case: Case, seconds: float) -> Rate:
    """AdaBandit through `decide` and `learn`, a row of the matrix at a time."""
    return _by_round(case, list(case.stream.X), [case.stream.labels[i] for i in case.stream.y], seconds)


def by_dict(case: Case, seconds: float) -> Rate:
    """AdaBandit through `decide` and `learn`, a dict at a time."""
    return _by_round(case, [row for row, _ in case.records], [label for _, label in case.records], seconds)


def _by_round(case: Case, rows: list[Any], truths: list[str], seconds: float) -> Rate:
    _decide_and_learn(rows[:_WARM_UP], truths[:_WARM_UP], case.model("AdaBandit"))

    def prepare() -> Callable[[], float]:
        return partial(_decide_and_learn, rows, truths, case.model("AdaBandit"))

    return repeated(prepare, case.rounds, seconds)


def _play(case: Case, model: Any) -> float:
    return float(play(model, case.stream.X, case.stream.y).accuracy)


def _decide_and_learn(rows: list[Any], truths: list[str], model: Any) -> float:
    right = 0
    for row, truth in zip(rows, truths, strict=True):
        decision = model.decide(row)
        correct = decision.label == truth
        model.learn(decision, correct)
        right += correct
    return right / len(rows)
