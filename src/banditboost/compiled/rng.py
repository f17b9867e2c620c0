"""Keyed random numbers: a uniform number is a hash of (seed, round, purpose, index).

See docs/random-numbers.md.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from banditboost.compiled.compile import allocating, inlined, kernel
from banditboost.types import Array

EXPERT = 1
EXPLORE = 2
EXPERT_TIE = 3
LEAF_TIE = 4
COST_TIE = 5
TREE_PARAMETER = 6
LABEL_TIE = 7
DELAY = 8
LOSS = 9
PAIR_OF_COLUMNS = 10
LEAF_COLUMN = 11
VERDICT = 12
REST = 13

# Compiled, the arithmetic is that of uint64 and wraps. Interpreted (NUMBA_DISABLE_JIT=1), Python's own
# integers are masked instead, since NumPy's scalars would warn of every overflow.
_u64: Any = int if numba.config.DISABLE_JIT else np.uint64
_MASK = _u64(0xFFFFFFFFFFFFFFFF)
_GOLDEN = _u64(0x9E3779B97F4A7C15)
_FIRST = _u64(0xBF58476D1CE4E5B9)
_SECOND = _u64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _S64 = _u64(30), _u64(27), _u64(31), _u64(11), _u64(64)


@inlined
def mix(z: int) -> int:
    """The finaliser of splitmix64: every bit of the result depends on every bit of z."""
    z = ((z ^ (z >> _S30)) * _FIRST) & _MASK
    z = ((z ^ (z >> _S27)) * _SECOND) & _MASK
    return z ^ (z >> _S31)


@inlined
def round_key(seed: int, round_: int) -> int:
    return mix((mix(_u64(seed)) + _GOLDEN * _u64(round_)) & _MASK)


@inlined
def uniform(key: int, purpose: int, index: int) -> float:
    """A number in [0, 1) that belongs to this round, purpose and index alone."""
    bits = mix((key + _GOLDEN * (_S64 * _u64(index) + _u64(purpose))) & _MASK)
    return float(bits >> _S11) * 2.0**-53


@inlined
def to_u64(number: int) -> int:
    """A number that `mix` can take."""
    return _u64(number)


@kernel
def uniform_at(seed: int, round_: int, purpose: int, index: int) -> float:
    """A keyed number in one call from Python, where keys, being uint64, do not fit an int64."""
    return uniform(round_key(seed, round_), purpose, index)


@allocating
def uniforms_at(seed: int, first_round: int, n_rounds: int, purpose: int) -> Array:
    """The numbers of one purpose for rounds first_round, first_round + 1, ..."""
    numbers = np.empty(n_rounds)
    for t in range(n_rounds):
        numbers[t] = uniform(round_key(seed, first_round + t), purpose, 0)
    return numbers
