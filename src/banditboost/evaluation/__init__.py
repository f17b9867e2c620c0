"""Judge a policy by the log of another one: docs/evaluation.md.

value.py        PolicyValue: estimates of what a policy earns, with intervals, in one running sum
difference.py   PolicyDifference: is it better than another one?
judging.py      evaluate: several policies, by blocks of a log; policies.py says who can be judged
apprentice.py   Apprentice: a model that learns from another policy while that one acts
replay.py       Replay: rows that could be the policy's own
predictions.py  what a model of the rewards adds
sequence.py     bounds that hold at any time; mixture.py is their mathematics
likelihood.py   empirical likelihood, with quantiles.py
doors.py        what is taken from a log, and what is refused
"""

from banditboost.evaluation.apprentice import Apprentice, ApprenticeSummary, Bounded
from banditboost.evaluation.difference import PolicyDifference
from banditboost.evaluation.judging import Evaluation, LoggedRows, Look, evaluate
from banditboost.evaluation.policies import Learner
from banditboost.evaluation.predictions import Baseline, baseline
from banditboost.evaluation.replay import Replay
from banditboost.evaluation.value import Interval, PolicyValue

__all__ = [
    "Apprentice",
    "ApprenticeSummary",
    "Baseline",
    "Bounded",
    "Evaluation",
    "Interval",
    "Learner",
    "LoggedRows",
    "Look",
    "PolicyDifference",
    "PolicyValue",
    "Replay",
    "baseline",
    "evaluate",
]
