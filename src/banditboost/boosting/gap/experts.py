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
AWAKE = 2.0  # divided by how far behind a prefix is: the share of the rounds in which it learns all the same
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
def draw_rest(verdicts: int, key: int) -> float:
    """The number in [0, 1) that tells who rests in a round: nobody does if it is 0, as it is until the memory
    is full.
    """
    return 0.0 if verdicts <= MEMORY else uniform(key, REST, 0)


@inlined
def prefix_rests(behind: float, draw: float) -> bool:
    """Whether a prefix rests that is so far behind the best one: the further, the more often."""
    return behind > FAR_BEHIND and behind * draw >= AWAKE


@inlined
def wide_rests(behind: float, draw: float) -> bool:
    """Whether a wide regression rests: never more often than one that is just far behind, since it may come
    late, and be the best one then.
    """
    return behind > FAR_BEHIND and FAR_BEHIND * draw >= AWAKE


@inlined
def count_prefixes(losses: Array, draw: float) -> int:
    """How many prefixes there are up to the last one that does not rest."""
    n, least = losses.size - N_REGRESSIONS, least_loss(losses, False, False)
    while prefix_rests(losses[n - 1] - least, draw):
        n -= 1
    return n


@inlined
def judge(losses: Array, j: int, answer: float, y: float) -> None:
    """Let an answer count in the recent loss of its expert."""
    error = 0.5 * (y - clip(answer))
    losses[j] = (1.0 - 1.0 / MEMORY) * losses[j] + error * error
