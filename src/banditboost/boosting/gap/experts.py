"""The experts of GapBoost: prefixes of the chains and regressions, and how much each one counts."""

from __future__ import annotations

import math

from banditboost.compiled.compile import inlined, kernel
from banditboost.compiled.rng import REST, uniform
from banditboost.types import Array

HEDGE_RATE = 1.0  # of the prefixes of a chain; squared error on [0, 1] is mixable up to 2
FAMILY_RATE = (
    0.3  # of chain and regressions: learners so different are better together than the best one alone
)
MEMORY = 500.0  # verdicts that the prefixes are judged by
N_REGRESSIONS = 2  # narrow and wide, after the prefixes
FAR_BEHIND = 8.0  # in recent squared error: of prefixes, those weigh too little to count
AWAKE = 0.25  # of the rounds: those in which they learn all the same
LEAST_SHARE = 1e-3  # of an expert that counts; trees after the last of these need not be asked


@inlined
def clip(score: float) -> float:
    return min(max(score, -1.0), 1.0)


@inlined
def share_out(weights: Array) -> None:
    total = 0.0
    for j in range(weights.size):
        total += weights[j]
    for j in range(weights.size):
        weights[j] /= total


@inlined
def least_loss(losses: Array, has_narrow: bool, has_wide: bool) -> float:
    """Of the prefixes, and of the regressions that there are."""
    n_prefixes = losses.size - N_REGRESSIONS
    least: float = losses[0]
    for j in range(1, n_prefixes):
        least = min(least, losses[j])
    if has_narrow:
        least = min(least, losses[n_prefixes])
    return min(least, losses[n_prefixes + 1]) if has_wide else least


@kernel
def weigh_experts(losses: Array, has_narrow: bool, has_wide: bool, weights: Array) -> float:
    """v_j, exponential in the recent squared error of expert j; 0 if it is next to nothing.

    Returns the least loss.
    """
    n_prefixes = losses.size - N_REGRESSIONS
    best_prefix = least_loss(losses, False, False)
    least = least_loss(losses, has_narrow, has_wide)
    for j in range(n_prefixes):
        weights[j] = math.exp(-HEDGE_RATE * (losses[j] - best_prefix))
    share_out(weights[:n_prefixes])
    for j in range(n_prefixes):
        weights[j] *= math.exp(-FAMILY_RATE * (best_prefix - least))
    weights[n_prefixes] = math.exp(-FAMILY_RATE * (losses[n_prefixes] - least)) if has_narrow else 0.0
    weights[n_prefixes + 1] = math.exp(-FAMILY_RATE * (losses[n_prefixes + 1] - least)) if has_wide else 0.0
    share_out(weights)
    for j in range(losses.size):
        if weights[j] < LEAST_SHARE:
            weights[j] = 0.0
    share_out(weights)
    return least


@inlined
def recent_error(least: float, verdicts: int) -> float:
    """Of the best expert: the root of its mean squared error, on the scale of scores."""
    return 2.0 * math.sqrt(least / min(max(verdicts, 1), MEMORY))


@inlined
def all_learn(verdicts: int, key: int) -> bool:
    """Whether those who are far behind learn in a round, too: in one of four, once the memory is full."""
    return verdicts <= MEMORY or uniform(key, REST, 0) < AWAKE


@inlined
def count_prefixes(losses: Array) -> int:
    """How many prefixes there are up to the last one that is not far behind the best."""
    n = losses.size - N_REGRESSIONS
    least = least_loss(losses, False, False) + FAR_BEHIND
    while losses[n - 1] > least:
        n -= 1
    return n


@inlined
def is_far(losses: Array, j: int, has_narrow: bool, has_wide: bool) -> bool:
    """Whether an expert is far behind the best one."""
    far: bool = losses[j] > least_loss(losses, has_narrow, has_wide) + FAR_BEHIND
    return far


@inlined
def judge(losses: Array, j: int, answer: float, y: float) -> None:
    """Let an answer count in the recent loss of its expert."""
    error = 0.5 * (y - clip(answer))
    losses[j] = (1.0 - 1.0 / MEMORY) * losses[j] + error * error
