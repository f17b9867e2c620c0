"""When a leaf splits and on what, recomputed from its raw examples: no running statistics, entropies written
as entropies.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import entropy, norm

from tests.trees.forests import INTERPRETED, committee_of, label_of, random_row, schema_of, shape_of, teach

KINDS, N_VALUES = ["numeric", "nominal", "numeric", "nominal"], [0, 3, 0, 5]
FRACTION = 0.05
N_LEAVES = 8 if INTERPRETED else 60
GRID = 2.0**-24


class Leaf:
    """The raw examples of one leaf."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        n, self.k = int(draw.integers(6, 60)), int(draw.integers(2, 6))
        self.X = np.array([random_row(draw, KINDS, N_VALUES, missing=0.1) for _ in range(n)])
        self.X[:, 0] = 1e3 + 10 * self.X[:, 0]
        self.y = np.array([label_of(x, self.k, draw) for x in self.X])
        self.w = np.float64(np.float32(10.0 ** draw.uniform(-2, 2, n)))

    def class_weights(self, masks: list[np.ndarray]) -> np.ndarray:
        return np.array([[self.w[mask & (self.y == c)].sum() for c in range(self.k)] for mask in masks])

    def gain(self, children: np.ndarray) -> float:
        """Information gain of class weights [child, class], scaled by the share of the examples that know the
        feature.
        """
        children = children[children.sum(axis=1) > 0]
        known = children.sum()
        before = entropy(children.sum(axis=0), base=2)
        after = sum(child.sum() / known * entropy(child, base=2) for child in children)
        return float((before - after) * known / self.w.sum())

    def numeric_candidates(self, f: int) -> list[tuple[float, float]]:
        """(merit, threshold) of each threshold that leaves enough on both sides."""
        known = ~np.isnan(self.X[:, f])
        low, high = self.X[known, f].min(), self.X[known, f].max()
        found = []
        for t in low + (high - low) * np.arange(1, 11) / 11:
            left = np.array([self.mass_below(known & (self.y == c), f, t, high - low) for c in range(self.k)])
            total = self.class_weights([known])[0]
            if min(left.sum(), (total - left).sum()) >= FRACTION * total.sum():
                found.append((self.gain(np.array([left, total - left])), float(t)))
        return found

    def mass_below(self, mask: np.ndarray, f: int, t: float, spread: float) -> float:
        """Of one class, if its values were normal."""
        if not mask.any():
            return 0.0
        mean = np.average(self.X[mask, f], weights=self.w[mask])
        deviation = math.sqrt(np.average((self.X[mask, f] - mean) ** 2, weights=self.w[mask]))
        return float(self.w[mask].sum() * norm.cdf(t, mean, max(deviation, 1e-6 * spread)))

    def nominal_candidates(self, f: int) -> list[tuple[float, None]]:
        children = self.class_weights([self.X[:, f] == v for v in range(N_VALUES[f])])
        fair = children.sum(axis=1) >= FRACTION * children.sum()
        return [(self.gain(children), None)] if fair.sum() >= 2 else []

    def best_of_features(self) -> list[tuple[float, int, float | None]]:
        """(merit, feature, threshold) of every feature that can split, the best first; the null split is
        feature -1.
        """
        found: list[tuple[float, int, float | None]] = [(0.0, -1, None)]
        for f, kind in enumerate(KINDS):
            candidates = self.numeric_candidates(f) if kind == "numeric" else self.nominal_candidates(f)
            if candidates:
                merit, threshold = max(candidates, key=lambda candidate: candidate[0])
                found.append((merit, f, threshold))
        return sorted(found, key=lambda one: -one[0])


def compiled(leaf: Leaf, confidence: float, tie: float) -> dict:
    """The shape of a tree whose only attempt to split comes with the leaf's last example."""
    tree = committee_of(
        schema_of(KINDS, N_VALUES), leaf.k, grace_period=float(leaf.w.sum() - leaf.w[-1] / 2),
        split_confidence=confidence,
        tie_threshold=tie, min_branch_fraction=FRACTION,
    )  # fmt: skip
    for x, label, weight in zip(leaf.X, leaf.y, leaf.w, strict=True):
        assert "classes" in shape_of(tree)
        teach(tree, x, int(label), float(weight))
    return shape_of(tree)


@pytest.mark.parametrize("seed", range(N_LEAVES))
def test_the_best_feature_and_threshold_split(seed: int) -> None:
    """A confidence of 1 makes the bound 0: whatever gains most splits."""
    leaf = Leaf(seed)
    (merit, feature, threshold), (second, *_), *_ = leaf.best_of_features()
    assert merit - second > 4 * GRID, "too close to call"
    shape = compiled(leaf, confidence=1.0, tie=1e-9)
    assert shape["feature"] == feature
    assert shape["threshold"] == (None if threshold is None else pytest.approx(threshold, rel=1e-12))


@pytest.mark.parametrize("seed", range(N_LEAVES))
def test_children_start_with_the_estimated_class_weights(seed: int) -> None:
    leaf = Leaf(seed)
    shape = compiled(leaf, confidence=1.0, tie=1e-9)
    f, threshold = shape["feature"], shape["threshold"]
    if threshold is None:
        expected = leaf.class_weights([leaf.X[:, f] == v for v in range(N_VALUES[f])])
    else:
        known = ~np.isnan(leaf.X[:, f])
        spread = np.ptp(leaf.X[known, f])
        left = np.array([leaf.mass_below(known & (leaf.y == c), f, threshold, spread) for c in range(leaf.k)])
        expected = np.array([left, leaf.class_weights([known])[0] - left])
    for child, weights in zip(shape["children"], expected, strict=True):
        kept = {c: w for c, w in enumerate(weights) if w > 1e-6 * expected.sum()}
        assert dict(child["classes"]) == pytest.approx(kept, rel=1e-5)


@pytest.mark.parametrize("seed", range(N_LEAVES))
def test_a_leaf_splits_just_when_the_lead_exceeds_the_hoeffding_bound(seed: int) -> None:
    leaf = Leaf(seed)
    (merit, *_), (second, *_), *_ = leaf.best_of_features()
    largest = math.log2(len(np.unique(leaf.y)))
    for bound, splits in [
        ((merit - second) * 1.001 + 4 * GRID, False),
        ((merit - second) * 0.999 - 4 * GRID, True),
    ]:
        if (
            bound > 0.0 and 2 * leaf.w.sum() * (bound / largest) ** 2 < 600
        ):  # the confidence must be a number above 0
            confidence = math.exp(-2 * leaf.w.sum() * (bound / largest) ** 2)
            assert ("feature" in compiled(leaf, confidence, tie=1e-12)) == splits
            assert "feature" in compiled(leaf, confidence, tie=bound * 1.001), (
                "a bound below the tie threshold"
            )
