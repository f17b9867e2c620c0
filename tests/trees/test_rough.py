"""Features are passed over when a rough merit says so: the exact one must lie within its range, wherever on
the number line they live.
"""

from __future__ import annotations

import numpy as np
import pytest

from banditboost.compiled.compile import kernel
from banditboost.trees.approximate_merit import rough_cut, rough_xlogx
from banditboost.trees.layout import Forest
from banditboost.trees.merit import (
    class_entropy,
    list_classes,
    look_at_features,
    make_work,
    numeric_merit,
    work_size,
)
from banditboost.trees.special_functions import cut
from tests.trees.forests import INTERPRETED, committee_of, random_weight, schema_of, teach


def leaf_of(seed: int, centre: float, spread: float, wide: bool) -> Forest:
    """A root that never tries to split; classes lie apart, together, or on single points."""
    draw = np.random.default_rng(seed)
    tree = committee_of(schema_of(["numeric"], [0]), 5, grace_period=1e12)
    places, widths = draw.uniform(-1, 1, 5), draw.choice([0.0, 1e-3, 0.3], 5)
    for _ in range(30):
        label = int(draw.integers(5))
        x = centre + spread * (places[label] + widths[label] * draw.normal())
        teach(tree, np.array([x]), label, random_weight(draw, wide))
    return tree.forest


@kernel
def both_merits(forest: Forest, numbers: np.ndarray) -> tuple[float, float, float]:
    work = make_work(forest, numbers)
    list_classes(forest, 0, work)
    look_at_features(forest, 0, class_entropy(forest.nodes[0]["n_classes"], work), -1.0, work)
    return work.low[0], work.high[0], numeric_merit(forest, 0, 0, work.lanes)[0]


def rough_and_exact(forest: Forest) -> tuple[float, float, float]:
    return both_merits(forest, np.empty(work_size(forest)))


@pytest.mark.parametrize("centre", [0.0, 1e3, -1e9, 1e12, 1e15])
@pytest.mark.parametrize("wide", [False, True], ids=["weight 1", "weights 1e-10 to 1e10"])
def test_a_merit_lies_within_its_rough_range(centre: float, wide: bool) -> None:
    for seed in range(5 if INTERPRETED else 100):
        for spread in (1.0, 0.01):
            forest = leaf_of(seed, centre, spread, wide)
            if np.ptp(forest.stats[[0, 1]]) > 0:  # else nobody asks
                low, high, merit = rough_and_exact(forest)
                assert low <= merit <= high, (seed, spread)


def test_most_ranges_are_narrow() -> None:
    """Or nothing would be gained by them. The others are those of classes on a point beside a threshold."""
    ranges = [
        rough_and_exact(leaf_of(seed, 0.0, 1.0, wide=False)) for seed in range(5 if INTERPRETED else 100)
    ]
    assert np.mean([high - low < 0.0011 for low, high, _ in ranges]) > 0.7


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1e90])
def test_the_range_does_not_care_for_the_scale(scale: float) -> None:
    for seed in range(5 if INTERPRETED else 50):
        one, scaled = leaf_of(seed, 0.0, 1.0, wide=False), leaf_of(seed, 0.0, scale, wide=False)
        assert rough_and_exact(scaled)[:2] == pytest.approx(rough_and_exact(one)[:2], abs=1e-4)


def test_the_rough_functions_against_the_exact_ones() -> None:
    points = np.linspace(-8, 8, 201 if INTERPRETED else 20_001)
    rough = np.array([rough_cut(np.float32(z)) for z in points])
    assert np.abs(rough - np.array([cut(float(np.float32(z))) for z in points])).max() < 1e-5
    shares = np.linspace(0, 1, 201 if INTERPRETED else 20_001)
    exact = shares * np.log(np.maximum(shares, 1e-300))
    assert np.abs(np.array([rough_xlogx(np.float32(x)) for x in shares]) - exact).max() < 1e-5
