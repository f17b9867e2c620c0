"""The rules that every booster and every weak learner keeps, to be run on yours. docs/checks.md lists them.

>>> from banditboost import baselines, checks
>>> checks.check_booster(lambda: baselines.Majority(["yes", "no"], seed=1))

A rule that is broken raises an AssertionError that states it and tells what was seen. In pytest, a test for
each:

    @pytest.mark.parametrize("check", checks.booster_checks(), ids=lambda check: check.__name__)
    def test_my_booster(check):
        check(lambda: MyBooster(["yes", "no"], seed=1))

Where to look:

- `boosters.py`, `weak_learners.py`: the rules, one function for each;
- `rule.py`: how a function becomes a check, and what checks have in common;
- `feedback.py`: how a model is asked and taught, by verdicts or by right labels;
- `streams.py`: the rows that boosters are asked for; `offering.py`: options, where there are no labels;
- `threads.py`: threads that begin together.
"""

from __future__ import annotations

from typing import Any

from banditboost.checks.boosters import BOOSTER_CHECKS
from banditboost.checks.rule import Check
from banditboost.checks.weak_learners import WEAK_LEARNER_CHECKS

__all__ = ["booster_checks", "check_booster", "check_weak_learner", "weak_learner_checks"]


def check_booster(model: Any) -> None:
    """Run every check of boosters.

    Args:
        model: a function without arguments that makes a fresh booster, each time with the same seed; or a
            fresh booster, of which each check takes a copy. A booster has `labels`, `rounds`, and either
            `verdicts`, `model_id`, `decide(x)` and `learn(decision, correct)`, or `predict_one(x)`,
            `predict_proba_one(x)` and `learn_one(x, y)`. One with options (OptionBoost) is offered the same
            few in every round.
    """
    for check in BOOSTER_CHECKS:
        check(model)


def check_weak_learner(learner: Any) -> None:
    """Run every check of weak learners, on the labels 0 and 1.

    Args:
        learner: what a booster takes as `weak_learner`: a HoeffdingTree, an object with `predict(x)` and
            `learn(x, label, weight)` or `learn_costs(x, costs)`, or a function without arguments that makes
            one.
    """
    for check in WEAK_LEARNER_CHECKS:
        check(learner)


def booster_checks() -> tuple[Check, ...]:
    """The checks one by one, to be called with what `check_booster` takes."""
    return BOOSTER_CHECKS


def weak_learner_checks() -> tuple[Check, ...]:
    """The checks one by one, to be called with what `check_weak_learner` takes."""
    return WEAK_LEARNER_CHECKS
