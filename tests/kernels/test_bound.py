"""Features are passed over when an upper bound of their merit says so: it must hold, wherever on the number line they live."""

from __future__ import annotations

import numpy as np
import pytest

from banditboost.kernels.layout import Forest
from banditboost.kernels.merit import class_entropy, make_work, numeric_bound, numeric_merit
from tests.kernels.forests import INTERPRETED, committee_of, random_weight, schema_of, teach

SLACK = 2.0**-22  # what rounding may lift a merit above its bound


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


@pytest.mark.parametrize("centre", [0.0, 1e3, -1e9, 1e12, 1e15])
@pytest.mark.parametrize("wide", [False, True], ids=["weight 1", "weights 1e-10 to 1e10"])
def test_no_merit_exceeds_its_bound(centre: float, wide: bool) -> None:
    for seed in range(5 if INTERPRETED else 100):
        for spread in (1.0, 0.01):
            forest = leaf_of(seed, centre, spread, wide)
            if np.ptp(forest.stats[[0, 1]]) > 0:  # else nobody asks
                merit, _ = numeric_merit(forest, 0, 0, make_work(forest).lanes)
                assert merit <= min(class_entropy(forest, 0), numeric_bound(forest, 0, 0)) + SLACK, (seed, spread)


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1e90])
def test_the_bound_does_not_care_for_the_scale(scale: float) -> None:
    for seed in range(5 if INTERPRETED else 50):
        one, scaled = leaf_of(seed, 0.0, 1.0, wide=False), leaf_of(seed, 0.0, scale, wide=False)
        assert numeric_bound(scaled, 0, 0) == pytest.approx(numeric_bound(one, 0, 0), rel=1e-6)
