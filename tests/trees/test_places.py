"""Arrays found by their addresses are those that were written down."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import config

from banditboost.boosting import adaptive, play
from banditboost.models.settings import SETTINGS
from banditboost.compiled.compile import entry
from banditboost.trees.layout import ENTRY, HEAD
from banditboost.types import Array
from banditboost.kernels.places import FLOAT, INT, array_at, forest_at, places_of
from tests.trees.forests import committee_of, schema_of, teach


@entry
def sizes(places: Array, found: Array) -> None:
    forest = forest_at(places)
    found[0], found[1], found[2], found[3] = forest.head.size, forest.trees.size, forest.steps.size, forest.nodes.size
    found[4], found[5], found[6] = forest.entries.size, forest.features.size, forest.stats.size
    found[7] = forest.head[0]["n_nodes"]


@entry
def double(places: Array) -> None:
    """Of each array the first item, or the first field of its first record."""
    array_at(places, 0, HEAD)[0]["n_labels"] *= 2
    array_at(places, 1, FLOAT)[0] *= 2.0
    array_at(places, 2, INT)[0] *= 2
    array_at(places, 3, SETTINGS)[0]["n_labels"] *= 2


def test_a_forest_is_found_by_its_addresses() -> None:
    tree = committee_of(schema_of(["numeric", "nominal"], [0, 3]), 3, grace_period=5)
    draw = np.random.default_rng(1)
    for _ in range(60):
        code = int(draw.integers(3))
        teach(tree, np.array([draw.normal(), code]), code, 1.0)
    found = np.zeros(8, np.int64)
    sizes(places_of(tree.forest), found)
    assert found.tolist() == [*(len(array) for array in tree.forest), tree.forest.head["n_nodes"][0]]
    assert found[7] > 1


def test_what_is_written_there_is_written_into_the_array() -> None:
    arrays: tuple[Any, ...] = np.zeros(1, HEAD), np.array([1.5, 7.0]), np.array([3, 7]), np.zeros(1, SETTINGS)
    arrays[0]["n_labels"], arrays[3]["n_labels"] = 4, 5
    double(places_of(arrays))
    assert (arrays[0]["n_labels"][0], arrays[3]["n_labels"][0]) == (8, 10)
    assert (arrays[1].tolist(), arrays[2].tolist()) == ([3.0, 7.0], [6, 7])


def test_places_are_addresses_and_lengths() -> None:
    numbers, nothing = np.arange(5.0), np.zeros(0, ENTRY)
    assert places_of((numbers, nothing)).tolist() == [numbers.ctypes.data, 5, nothing.ctypes.data, 0]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_only_a_long_call_lets_go_of_pythons_lock() -> None:
    """A call of a round that did would wait milliseconds for it beside a busy thread (docs/threads.md)."""
    kernels = {"play": play.play_rounds, **{name: getattr(adaptive, name)._kernel for name in ("decide_with_trees", "learn_with_trees")}}
    assert [name for name, kernel in kernels.items() if kernel.targetoptions.get("nogil")] == ["play"]
