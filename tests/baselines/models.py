"""Baselines and their slow twins, made alike."""

from __future__ import annotations

from typing import Any

from banditboost import Schema, baselines
from tests.naive import baselines as naive
from tests.naive import rng
from tests.naive.tree import Tree

SEED = 5
RHO = 0.2
N = 3
NAMES = list(baselines.__all__)
LINEAR = ["Banditron", "DiagonalSOBA"]
TREES = ["EpsilonGreedyTree", "EpsilonGreedyForest"]


def make(name: str, labels: Any, schema: Schema | None = None, **options: Any) -> Any:
    """A small model; Random has no exploration to set."""
    own: dict[str, Any] = {} if name == "Random" else {"exploration": RHO}
    if name == "EpsilonGreedyForest":
        own["n_learners"] = N
    return getattr(baselines, name)(labels, **{**own, "schema": schema, "seed": SEED, **options})


def make_twin(name: str, k: int, kinds: list[str], n_values: list[int]) -> Any:
    """`kinds` and `n_values` may grow later."""
    if name == "Random":
        return naive.Random(k, SEED)
    if name == "Majority":
        return naive.Majority(k, RHO, SEED)
    if name in LINEAR:
        return getattr(naive, name)(k, kinds, RHO, SEED)
    bagged = name == "EpsilonGreedyForest"
    return naive.EpsilonGreedyForest(
        k, N if bagged else 1, lambda number: _tree(number, kinds, n_values), RHO, SEED, bagged
    )


def _tree(number: int, kinds: list[str], n_values: list[int]) -> Tree:
    """Binary, with the parameters of `baselines.trees.TREE`; what is no range goes through the same
    arithmetic as one.
    """
    u = [rng.uniform(SEED, number, rng.TREE_PARAMETER, index) for index in range(3)]
    return Tree(2, kinds, n_values, 10.0, rng.log_between(u[1], 0.1, 0.1), rng.log_between(u[2], 0.3, 0.3))
