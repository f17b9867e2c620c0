"""The keyed random numbers are those of docs/random-numbers.md, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.compiled import rng
from tests.naive import rng as naive

LARGEST = 2**63 - 1
PURPOSES = [
    "EXPERT",
    "EXPLORE",
    "EXPERT_TIE",
    "LEAF_TIE",
    "COST_TIE",
    "TREE_PARAMETER",
    "LABEL_TIE",
    "DELAY",
    "LOSS",
]
whole = st.integers(0, LARGEST)


@pytest.mark.parametrize("name", PURPOSES)
def test_purposes_have_the_documented_values(name: str) -> None:
    assert getattr(rng, name) == getattr(naive, name) == PURPOSES.index(name) + 1


@given(seed=whole, round_=whole, purpose=st.integers(1, 9), index=st.integers(0, 10**6))
def test_numbers_equal_the_naive_ones(seed: int, round_: int, purpose: int, index: int) -> None:
    assert rng.uniform_at(seed, round_, purpose, index) == naive.uniform(seed, round_, purpose, index)


@pytest.mark.parametrize("seed", [0, 1, 2**32, 2**62, LARGEST])
@pytest.mark.parametrize("round_", [0, 1, 2**31, 2**53, LARGEST])
def test_corners_equal_the_naive_ones(seed: int, round_: int) -> None:
    for purpose in range(1, 10):
        for index in (0, 1, 63, 10_000):
            assert rng.uniform_at(seed, round_, purpose, index) == naive.uniform(seed, round_, purpose, index)


@given(seed=whole, first=st.integers(0, 2**40), n=st.integers(0, 20))
def test_a_run_of_rounds_is_the_single_numbers(seed: int, first: int, n: int) -> None:
    expected = [naive.uniform(seed, first + t, rng.LOSS, 0) for t in range(n)]
    assert rng.uniforms_at(seed, first, n, rng.LOSS).tolist() == expected


@pytest.mark.parametrize("purpose", range(1, 10))
def test_numbers_are_uniform_and_unrelated_to_their_neighbours(purpose: int) -> None:
    u = rng.uniforms_at(7, 0, 4000, purpose)
    assert u.min() >= 0.0
    assert u.max() < 1.0
    assert np.abs(np.sort(u) - (np.arange(4000) + 0.5) / 4000).max() < 1.95 / np.sqrt(
        4000
    )  # Kolmogorov and Smirnov, p = 0.001
    assert abs(np.corrcoef(u[1:], u[:-1])[0, 1]) < 0.06


def test_every_argument_matters() -> None:
    keys = [(s, r, p, i) for s in range(4) for r in range(4) for p in range(1, 5) for i in range(4)]
    assert len({rng.uniform_at(*key) for key in keys}) == len(keys)
