"""Keyed random numbers (docs/random-numbers.md) and how a number becomes a choice."""

import math

EXPERT = 1
EXPLORE = 2
EXPERT_TIE = 3
LEAF_TIE = 4
COST_TIE = 5
TREE_PARAMETER = 6
LABEL_TIE = 7
DELAY = 8
LOSS = 9
PAIR = 10
LEAF_COLUMN = 11
VERDICT = 12
REST = 13

GOLDEN = 0x9E3779B97F4A7C15
MODULUS = 2**64


def mix(z):
    z %= MODULUS
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 % MODULUS
    z ^= z >> 27
    z = z * 0x94D049BB133111EB % MODULUS
    z ^= z >> 31
    return z


def uniform(seed, round, purpose, index):
    """The number in [0, 1) that belongs to (seed, round, purpose, index)."""
    round_key = mix(mix(seed) + GOLDEN * round)
    return (mix(round_key + GOLDEN * (64 * index + purpose)) >> 11) * 2.0**-53


def verdict(seed, round, reward):
    """A reward in [0, 1] as a verdict: right with this probability."""
    return uniform(seed, round, VERDICT, 0) < reward


def pick(u, things):
    """One of m things: number floor(u m), in the order given."""
    return things[math.floor(u * len(things))]


def draw(u, v):
    """Index i with probability v_i / sum v."""
    total = 0.0
    for v_i in v:
        total += v_i
    running = 0.0
    for i in range(len(v)):
        running += v[i]
        if running > u * total:
            return i
    return len(v) - 1  # rounding left none


def show(u, greedy, rho, k):
    """Eq. (2): the greedy label, or one of the others with rho / (k - 1) each."""
    if u < 1 - rho:
        return greedy
    others = [label for label in range(k) if label != greedy]
    return others[min(math.floor((u - (1 - rho)) / rho * (k - 1)), k - 2)]


def between(u, low, high):
    return low + u * (high - low)


def log_between(u, low, high):
    return math.exp(math.log(low) + u * (math.log(high) - math.log(low)))
