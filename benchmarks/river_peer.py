"""River's AdaBoostClassifier over Hoeffding trees, in full information: it is told the label of every round."""

import time
from collections.abc import Mapping
from math import sqrt
from typing import Any

from benchmarks.cases import Case
from benchmarks.rate import Rate

Parameters = Mapping[str, Any]
_TRIAL_SECONDS = 1.5


def unavailable() -> str | None:
    """Why River cannot be used here, or None."""
    try:
        import river  # noqa: F401
    except ImportError as error:
        return str(error)
    return None


def as_shipped(case: Case, seconds: float, minimum_rounds: int) -> Rate:
    """River's own leaves (adaptive naive Bayes), with its own grace period of 200 or the middle of the paper's ranges: the faster.

    Plays until both `seconds` and `minimum_rounds` are spent, or the stream ends.
    """
    candidates = {"River's defaults": {}, "the paper's middle": _middle(case)}
    trials = {name: _play(case, parameters, _TRIAL_SECONDS, 0).per_second for name, parameters in candidates.items()}
    fastest = max(trials, key=trials.__getitem__)
    return _play(case, candidates[fastest], seconds, minimum_rounds, fastest)


def with_our_trees(case: Case) -> Rate:
    """The middle of the paper's ranges and majority leaves, over the whole of `case`."""
    return _play(case, {**_middle(case), "leaf_prediction": "mc"}, 0, case.rounds, "the paper's middle, majority leaves")


def _middle(case: Case) -> Parameters:
    trees = case.setting("AdaBandit").trees
    return {
        "grace_period": round(sum(trees.grace_period) / 2),
        "delta": sqrt(trees.split_confidence[0] * trees.split_confidence[1]),
        "tau": sqrt(trees.tie_threshold[0] * trees.tie_threshold[1]),
    }


def _play(case: Case, parameters: Parameters, seconds: float, minimum_rounds: int, note: str = "") -> Rate:
    from river.ensemble import AdaBoostClassifier
    from river.tree import HoeffdingTreeClassifier

    n_learners = case.setting("AdaBandit").n_learners
    model = AdaBoostClassifier(HoeffdingTreeClassifier(**parameters), n_models=n_learners, seed=7)
    rounds = right = 0
    spent, start = 0.0, time.process_time()
    for row, label in case.records:
        right += model.predict_one(row) == label
        model.learn_one(row, label)
        rounds += 1
        spent = time.process_time() - start
        if spent > seconds and rounds >= minimum_rounds:
            break
    return Rate(rounds, spent, right / rounds, note)
