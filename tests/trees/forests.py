"""Committees of compiled trees for tests, the naive tree beside them, and what both look like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import config

from banditboost.rows.schema import Schema
from banditboost.weak_learners.hoeffding import HoeffdingTree
from banditboost.weak_learners.tree_committee import TreeCommittee
from tests.naive import rng, tree

INTERPRETED = bool(config.DISABLE_JIT)  # a split attempt then takes milliseconds, not microseconds
SEED = 20


def schema_of(kinds: list[str], n_values: list[int]) -> Schema:
    """Features x0, x1, ..., open for more; value number v of a nominal feature is called str(v)."""
    values = [
        [str(v) for v in range(n)] if kind == "nominal" else None
        for kind, n in zip(kinds, n_values, strict=True)
    ]
    schema = Schema.of([f"x{i}" for i in range(len(kinds))], kinds, values)
    schema.declared = False
    schema.keeps_all_values = True
    return schema


def committee_of(
    schema: Schema, k: int, n_trees: int = 1, max_memory: int = 1 << 28, seed: int = SEED, **parameters: Any
) -> TreeCommittee:
    committee = TreeCommittee(HoeffdingTree(**parameters), k, schema, seed, max_memory)
    committee.add(n_trees)
    return committee


def teach(committee: TreeCommittee, x: np.ndarray, label: int, weight: float = 1.0) -> None:
    """Teach every tree the same."""
    n_trees = len(committee.forest.trees)
    committee.learn(np.asarray(x, dtype=np.float64), np.full(n_trees, label), np.full(n_trees, float(weight)))


def votes_of(committee: TreeCommittee, x: np.ndarray, round_: int = 0) -> list[int]:
    votes = np.full(len(committee.forest.trees), -1.0)
    committee.vote(np.asarray(x, dtype=np.float64), round_, votes)
    return [int(vote) for vote in votes]


def shape_of(committee: TreeCommittee, number: int = 0) -> dict[str, Any]:
    """The same nested dict as the naive tree's `shape`."""
    return _shape_below(committee, int(committee.forest.trees[number]["root"]))


def _shape_below(committee: TreeCommittee, at: int) -> dict[str, Any]:
    step = committee.forest.steps[at]
    if step["feature"] < 0:
        return {"classes": classes_of(committee, at)}
    return {
        "feature": int(step["feature"]),
        "threshold": None if math.isnan(step["threshold"]) else float(step["threshold"]),
        "children": [_shape_below(committee, child) for child in children_of(committee, at)],
    }


def same_arrays(one: TreeCommittee, other: TreeCommittee) -> bool:
    """Field by field, since the gaps between fields hold anything."""
    for mine, theirs in zip(one.forest, other.forest, strict=True):
        for name in mine.dtype.names or [...]:
            if not np.array_equal(mine[name], theirs[name], equal_nan=True):
                return False
    return True


def children_of(committee: TreeCommittee, at: int) -> range:
    first = int(committee.forest.steps[at]["next"])
    return range(first, first + int(committee.forest.nodes[at]["n_children"]))


def classes_of(committee: TreeCommittee, leaf: int) -> list[tuple[int, float]]:
    """Labels and class weights of a leaf, in the order of its list."""
    found = []
    entry = int(committee.forest.nodes[leaf]["first_entry"])
    while entry >= 0:
        found.append(
            (int(committee.forest.entries[entry]["label"]), float(committee.forest.entries[entry]["weight"]))
        )
        entry = int(committee.forest.entries[entry]["next"])
    return found


def skeleton(shape: dict[str, Any]) -> Any:
    """A shape without numbers: which features split, and the labels in the leaves."""
    if "classes" in shape:
        return [label for label, _ in shape["classes"]]
    return shape["feature"], [skeleton(child) for child in shape["children"]]


def thresholds_in(shape: dict[str, Any]) -> list[float]:
    if "classes" in shape:
        return []
    mine = [] if shape["threshold"] is None else [shape["threshold"]]
    return mine + [t for child in shape["children"] for t in thresholds_in(child)]


def assert_same_shape(compiled: dict[str, Any], naive: dict[str, Any]) -> None:
    """Splits are equal to the last bit; class weights as far as two ways to compute a normal distribution
    agree.
    """
    assert skeleton(compiled) == skeleton(naive)
    assert thresholds_in(compiled) == thresholds_in(naive)
    np.testing.assert_allclose(_weights_in(compiled), _weights_in(naive), rtol=1e-6)


def _weights_in(shape: dict[str, Any]) -> list[float]:
    if "classes" in shape:
        return [weight for _, weight in shape["classes"]]
    return [weight for child in shape["children"] for weight in _weights_in(child)]


class Twins:
    """A compiled tree and the naive one, taught the same."""

    def __init__(self, k: int, kinds: list[str], n_values: list[int], **parameters: Any) -> None:
        self.schema = schema_of(kinds, n_values)
        self.n_values = list(n_values)
        self.committee = committee_of(self.schema, k, **parameters)
        self.naive = tree.Tree(k, list(kinds), self.n_values, seed=SEED, **parameters)
        self.round = 0

    def predict(self, x: np.ndarray) -> None:
        """Both predict the same; a round passes."""
        x = np.asarray(x, dtype=np.float64)
        expected = self.naive.predict(x.tolist(), lambda: rng.uniform(SEED, self.round, rng.LEAF_TIE, 0))
        assert votes_of(self.committee, x, self.round) == [expected], f"example {self.round}"
        self.round += 1

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:
        x = np.asarray(x, dtype=np.float64)
        teach(self.committee, x, label, weight)
        self.naive.learn(x.tolist(), label, weight)

    def step(self, x: np.ndarray, label: int, weight: float) -> None:
        self.predict(x)
        self.learn(x, label, weight)

    def join_value(self, feature: int) -> None:
        """A value of a nominal feature is seen for the first time."""
        self.schema.admit({f"x{feature}": str(self.n_values[feature])})
        self.n_values[feature] += 1
        self.committee.follow_schema(self.schema)

    def join_feature(self, kind: str) -> None:
        """A new feature comes at the end; a nominal one with its first value."""
        self.schema.admit({f"x{len(self.n_values)}": 0.5 if kind == "numeric" else "0"})
        self.n_values.append(int(kind == "nominal"))
        self.naive.kinds.append(kind)
        self.committee.follow_schema(self.schema)

    def assert_same(self) -> None:
        assert int(self.committee.forest.head["n_nodes"][0]) == self.naive.n_nodes()
        assert_same_shape(shape_of(self.committee), self.naive.shape())


def random_weight(draw: np.random.Generator, wide: bool) -> float:
    """1, or anything from 1e-10 to 1e10."""
    return 10.0 ** draw.uniform(-10, 10) if wide else 1.0


def random_row(
    draw: np.random.Generator, kinds: list[str], n_values: list[int], missing: float = 0.0
) -> np.ndarray:
    row = [
        draw.normal() if kind == "numeric" else float(draw.integers(n))
        for kind, n in zip(kinds, n_values, strict=True)
    ]
    return np.where(draw.random(len(row)) < missing, math.nan, row)


def label_of(x: np.ndarray, k: int, draw: np.random.Generator) -> int:
    """A label that hangs on the first and the last feature, with some noise, so that trees have something to
    find.
    """
    if draw.random() < 0.1:
        return int(draw.integers(k))
    first, last = np.clip(np.nan_to_num(x[[0, -1]]), -3, 3)
    return int(np.floor(first) * 5 + np.floor(last)) % k
