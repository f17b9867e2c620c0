"""River's AdaBoostClassifier over Hoeffding trees, in full information: it is told the label of every round."""

import time
from collections.abc import Iterable, Mapping
from math import inf, sqrt
from typing import Any

from benchmarks.cases import Case, Record
from benchmarks.rate import TURNS, Contender, Turn

Parameters = Mapping[str, Any]
_TRIAL_SECONDS = 1.5


def unavailable() -> str | None:
    """Why River cannot be used here, or None."""
    try:
        import river  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def as_shipped(case: Case) -> dict[str, Contender]:
    """River's own leaves (adaptive naive Bayes), with its own grace period of 200 or the middle of the
    paper's ranges.
    """
    return {"River's defaults": _sliced(case, {}), "River, the paper's middle": _sliced(case, _middle(case))}


def rate_in_a_trial(case: Case) -> float:
    """About how many rounds a second River makes."""
    trial = _play(_model(case, {}), case.records, _TRIAL_SECONDS)
    return trial.rounds / trial.seconds


def with_our_trees(case: Case) -> Contender:
    """The middle of the paper's ranges and majority leaves."""
    return _sliced(case, {**_middle(case), "leaf_prediction": "mc"})


def _middle(case: Case) -> Parameters:
    trees = case.setting("AdaBandit").trees
    return {
        "grace_period": round(sum(trees.grace_period) / 2),
        "delta": sqrt(trees.split_confidence[0] * trees.split_confidence[1]),
        "tau": sqrt(trees.tie_threshold[0] * trees.tie_threshold[1]),
    }


def _model(case: Case, parameters: Parameters) -> Any:
    from river.ensemble import AdaBoostClassifier
    from river.tree import HoeffdingTreeClassifier

    return AdaBoostClassifier(
        HoeffdingTreeClassifier(**parameters), n_models=case.setting("AdaBandit").n_learners, seed=7
    )


def _sliced(case: Case, parameters: Parameters) -> Contender:
    """It plays the stream once, a slice in each turn."""
    model, records = _model(case, parameters), case.records

    def turn(number: int) -> Turn:
        return _play(model, records[number * case.rounds // TURNS : (number + 1) * case.rounds // TURNS], inf)

    return turn


def _play(model: Any, records: Iterable[Record], limit: float) -> Turn:
    rounds = right = 0
    spent, start = 0.0, time.process_time()
    for row, label in records:
        right += model.predict_one(row) == label
        model.learn_one(row, label)
        rounds += 1
        spent = time.process_time() - start
        if spent > limit:
            break
    return Turn(rounds, spent, right)
