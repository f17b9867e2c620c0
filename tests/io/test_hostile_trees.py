"""Trees from a file with a right checksum and wrong numbers: kernels follow indices without a look, so every
one is looked at before.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import HoeffdingTree
from banditboost.errors import BanditBoostError, ModelFileError
from banditboost.io import container
from tests.boosting.twins import make_booster
from tests.io.models import STREAM, K, forge, go_on
from tests.trees.forests import INTERPRETED
from tests.weak_learners.invariants import check_committee

Arrays = dict[str, np.ndarray]
N_FUZZED = 60 if INTERPRETED else 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An AdaFull and a BinBandit, both with splits, leaves, ties and free entries and rows; and an AdaFull whose
    leaves look at two columns of more.
    """
    path = tmp_path_factory.mktemp("trees")
    for name in ("AdaFull", "BinBandit"):
        model = make_booster(name, K, 4, leaf_prediction="adaptive")
        go_on(model, STREAM.dicts(), STREAM.y)
        model.save(path / name)
    wide = make_booster(
        "AdaFull", K, 4, weak_learner=HoeffdingTree(max_columns=2, leaf_prediction="adaptive")
    )
    go_on(wide, STREAM.dicts(), STREAM.y)
    wide.save(path / "wide")
    return path


def splits(arrays: Arrays) -> np.ndarray:
    return np.flatnonzero(arrays["steps"]["feature"][: arrays["head"]["n_nodes"][0]] >= 0)


def leaves(arrays: Arrays) -> np.ndarray:
    """Those that hold statistics."""
    used = arrays["nodes"][: arrays["head"]["n_nodes"][0]]
    return np.flatnonzero((arrays["steps"]["feature"][: len(used)] < 0) & (used["summary"] >= 0))


def owned(arrays: Arrays) -> np.ndarray:
    return arrays["nodes"]["first_entry"][leaves(arrays)]


def with_rows(arrays: Arrays) -> np.ndarray:
    """First entries that have statistics of their own."""
    entries = owned(arrays)
    return entries[arrays["entries"]["row"][entries] >= 0]


def numeric_split(arrays: Arrays) -> int:
    return next(int(node) for node in splits(arrays) if np.isfinite(arrays["steps"]["threshold"][node]))


def put(name: str, field: str, where: Callable[[Arrays], Any], value: Any) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name][field][where(arrays)] = value(arrays) if callable(value) else value

    return change


def cut(name: str, n: int = 1) -> Callable[[Arrays], None]:
    def change(arrays: Arrays) -> None:
        arrays[name] = arrays[name][:-n]

    return change


def first(what: Callable[[Arrays], np.ndarray]) -> Callable[[Arrays], Any]:
    return lambda arrays: what(arrays)[0]


def whole(arrays: Arrays) -> Any:  # noqa: ARG001
    return slice(None)


def zero(arrays: Arrays) -> int:  # noqa: ARG001
    return 0


def free_row(arrays: Arrays) -> int:
    return int(arrays["head"]["free_row"][0])


def put_link(arrays: Arrays, value: float) -> None:
    arrays["stats"][free_row(arrays) * arrays["head"]["row_size"][0]] = value


def make_circle(arrays: Arrays) -> None:
    """Two nodes that are each other's children."""
    one, other = splits(arrays)[:2]
    arrays["steps"]["next"][other] = one
    arrays["nodes"]["default_child"][other] = one


def share_entry(arrays: Arrays) -> None:
    one, other = leaves(arrays)[:2]
    for field in ("first_entry", "top"):
        arrays["nodes"][field][other] = arrays["nodes"][field][one]


def other_types(arrays: Arrays) -> None:
    arrays["stats"] = arrays["stats"].astype(np.float32)


def fewer_fields(arrays: Arrays) -> None:
    kept = [(name, arrays["nodes"].dtype[name]) for name in arrays["nodes"].dtype.names[:-1]]
    arrays["nodes"] = np.zeros(len(arrays["nodes"]), np.dtype(kept, align=True))


FAULTS: dict[str, Callable[[Arrays], Any]] = {
    "a root beyond the nodes": put("trees", "root", zero, 10**6),
    "a negative root": put("trees", "root", zero, -1),
    "two trees with one root": put("trees", "root", lambda _: 1, lambda a: a["trees"]["root"][0]),
    "grace period NaN": put("trees", "grace_period", zero, np.nan),
    "confidence infinite": put("trees", "log_confidence", zero, np.inf),
    "more nodes than there are": put("head", "n_nodes", zero, 10**9),
    "a negative number of nodes": put("head", "n_nodes", zero, -5),
    "other labels": put("head", "n_labels", zero, 10**6),
    "other leaf prediction": put("head", "leaf_prediction", zero, 99),
    "NaN in the head": put("head", "min_branch_fraction", zero, np.nan),
    "row size 0": put("head", "row_size", zero, 0),
    "row size 1": put("head", "row_size", zero, 1),
    "row size negative": put("head", "row_size", zero, -8),
    "row size huge": put("head", "row_size", zero, 2**62),
    "most children": put("head", "most_children", zero, 2**40),
    "most classes": put("head", "most_classes", zero, 2**40),
    "most classes too small": put("head", "most_classes", zero, 1),
    "a flag": put("head", "rows_full", zero, 7),
    "free entry out of range": put("head", "free_entry", zero, 10**6),
    "free entry -2": put("head", "free_entry", zero, -2),
    "free entries lost": put("head", "free_entry", zero, -1),
    "free entries miscounted": put("head", "n_free_entries", zero, 10**6),
    "free entry in use": put("head", "free_entry", zero, first(owned)),
    "free entries in a circle": put(
        "entries", "next", lambda a: a["head"]["free_entry"][0], lambda a: a["head"]["free_entry"][0]
    ),
    "free row out of range": put("head", "free_row", zero, 10**6),
    "free rows miscounted": put("head", "n_free_rows", zero, 0),
    "free row in use": put("head", "free_row", zero, lambda a: a["nodes"]["summary"][leaves(a)[0]]),
    "free rows in a circle": lambda a: put_link(a, free_row(a)),
    "free row link NaN": lambda a: put_link(a, np.nan),
    "free row link infinite": lambda a: put_link(a, np.inf),
    "free row link half": lambda a: put_link(a, 0.5),
    "free row link huge": lambda a: put_link(a, 1e300),
    "nodes in a circle": make_circle,
    "a gain that is no number": put("nodes", "gain", first(splits), np.nan),
    "a negative gain": put("nodes", "gain", first(splits), -1.0),
    "a split that is its own child": put("steps", "next", first(splits), first(splits)),
    "a child beyond the nodes": put("steps", "next", first(splits), 2**31 - 1),
    "a negative child": put("steps", "next", first(splits), -3),
    "no children": put("nodes", "n_children", first(splits), 0),
    "a million children": put("nodes", "n_children", first(splits), 10**6),
    "default child elsewhere": put("nodes", "default_child", first(splits), 0),
    "default child negative": put("nodes", "default_child", first(splits), -1),
    "an unknown feature": put("steps", "feature", first(splits), 99),
    "a numeric split without a threshold": put("steps", "threshold", numeric_split, np.nan),
    "a numeric split at infinity": put("steps", "threshold", numeric_split, np.inf),
    "a split turned leaf": put("steps", "feature", first(splits), -1),
    "a leaf turned split": put("steps", "feature", first(leaves), 0),
    "a split with statistics": put("nodes", "summary", first(splits), 0),
    "a leaf that answers an unknown label": put("steps", "next", first(leaves), 10**6),
    "a fallback that is no label": put("nodes", "fallback", first(leaves), -2),
    "asleep with statistics": put("nodes", "asleep", first(leaves), 1),
    "asleep, somehow": put("nodes", "asleep", first(leaves), 3),
    "a leaf's weight NaN": put("nodes", "weight", first(leaves), np.nan),
    "examples negative": put("nodes", "examples", first(leaves), -1.0),
    "first entry out of range": put("nodes", "first_entry", first(leaves), 10**6),
    "first entry missing": put("nodes", "first_entry", first(leaves), -1),
    "two leaves share entries": share_entry,
    "top out of range": put("nodes", "top", first(leaves), 2**30),
    "top missing": put("nodes", "top", first(leaves), -1),
    "top in another leaf": put(
        "nodes", "top", lambda a: leaves(a)[1], lambda a: a["nodes"]["top"][leaves(a)[0]]
    ),
    "more ties than classes": put("nodes", "n_tied", first(leaves), 2),
    "no ties": put("nodes", "n_tied", first(leaves), 0),
    "classes miscounted": put("nodes", "n_classes", first(leaves), 50),
    "entries in a circle": put("entries", "next", first(owned), first(owned)),
    "entry that goes on elsewhere": put("entries", "next", first(owned), lambda a: owned(a)[1]),
    "entry that goes on into the free ones": put(
        "entries", "next", first(owned), lambda a: a["head"]["free_entry"][0]
    ),
    "entry out of range": put("entries", "next", first(owned), -7),
    "an entry's label": put("entries", "label", first(owned), 10**6),
    "an entry's negative label": put("entries", "label", first(owned), -1),
    "an entry's position": put("entries", "position", first(owned), 2**31 - 1),
    "an entry's row out of range": put("entries", "row", first(owned), 2**31 - 1),
    "an entry's row -9": put("entries", "row", first(owned), -9),
    "two entries share a row": put(
        "entries", "row", first(with_rows), lambda a: a["entries"]["row"][with_rows(a)[1]]
    ),
    "a free entry with a row": put("entries", "row", lambda a: a["head"]["free_entry"][0], 0),
    "a class's weight NaN": put("entries", "weight", first(owned), np.nan),
    "a class's weight 0": put("entries", "weight", first(owned), 0.0),
    "a class's weight infinite": put("entries", "weight", first(owned), np.inf),
    "a class's own weight negative": put("entries", "own", first(owned), -1.0),
    "summary out of range": put("nodes", "summary", first(leaves), 10**6),
    "summary missing": put("nodes", "summary", first(leaves), -1),
    "features moved": put("features", "offset", zero, 10**6),
    "features of another kind": put("features", "kind", whole, 5),
    "more values than there are": put("features", "n_values", whole, 10**6),
    "statistics NaN": lambda a: a["stats"].fill(np.nan),
    "statistics infinite": lambda a: a["stats"].fill(-np.inf),
    "half a row": cut("stats"),
    "a node less": cut("nodes"),
    "a tree less": cut("trees"),
    "no head": lambda a: a.pop("head"),
    "two heads": lambda a: a.update(head=np.repeat(a["head"], 2)),
    "no entries": lambda a: a.update(entries=a["entries"][:0]),
    "other types": other_types,
    "fewer fields": fewer_fields,
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found(folder: Path, fault: str) -> None:
    forged = forge(folder / "AdaFull", lambda _, arrays: FAULTS[fault](arrays))
    with pytest.raises(ModelFileError) as error:
        banditboost.load(forged)
    assert "intact copy" in str(error.value)


BINARY_FAULTS: dict[str, Callable[[Arrays], Any]] = {
    "labels out of order": lambda a: a.update(shown_labels=a["shown_labels"][::-1].copy()),
    "a label twice": lambda a: a["shown_labels"].fill(0),
    "an unknown label": lambda a: a["shown_labels"].__iadd__(5),
    "a group twice": lambda a: a["groups"].fill(0),
    "a group out of range": lambda a: a["groups"].__iadd__(1),
    "a group without learners": lambda a: a.update(trees=a["trees"][:4]),
    "weights NaN": lambda a: a["weights"].fill(np.nan),
    "weights huge": lambda a: a["weights"].fill(1e300),
    "weights of another shape": lambda a: a.update(weights=a["weights"].ravel()),
    "no groups": lambda a: a.update(shown_labels=a["shown_labels"][:0]),
    "no ledger": lambda a: a.pop("ledger"),
    "a short ledger": lambda a: a.update(ledger=a["ledger"][:3]),
    "a ledger of the future": lambda a: a["ledger"].fill(255),
    "a long ledger": lambda a: a.update(ledger=np.zeros(2**21 + 1, np.uint8)),
}


@pytest.mark.parametrize("fault", BINARY_FAULTS)
def test_each_fault_of_groups_and_ledger_is_found(folder: Path, fault: str) -> None:
    with pytest.raises(ModelFileError):
        banditboost.load(forge(folder / "BinBandit", lambda _, arrays: BINARY_FAULTS[fault](arrays)))


@pytest.mark.parametrize("value", [np.nan, np.inf, 2.5, -1e300])
def test_weights_of_learners_and_experts_are_in_range(folder: Path, value: float) -> None:
    with pytest.raises(ModelFileError, match="weight"):
        banditboost.load(forge(folder / "AdaFull", lambda _, arrays: arrays["weights"].__setitem__(0, value)))


def column_of(arrays: Arrays, slot: int = 0) -> int:
    """Where in the statistics the first leaf tells the column of its slot."""
    start = int(arrays["nodes"]["summary"][leaves(arrays)[0]] * arrays["head"]["row_size"][0])
    return start + 2 + slot * int(arrays["features"]["capacity"][int(arrays["stats"][start + 2])])


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_in_wide_trees(folder: Path, fault: str) -> None:
    with pytest.raises(ModelFileError):
        banditboost.load(forge(folder / "wide", lambda _, arrays: FAULTS[fault](arrays)))


@pytest.mark.parametrize("value", [-1.0, 0.5, 10.0**6, np.nan, np.inf])
def test_an_unknown_column_of_a_leaf_is_found(folder: Path, value: float) -> None:
    forged = forge(folder / "wide", lambda _, arrays: arrays["stats"].__setitem__(column_of(arrays), value))
    with pytest.raises(ModelFileError, match="a leaf has an unknown column"):
        banditboost.load(forged)


def test_a_column_that_a_leaf_has_twice_is_found(folder: Path) -> None:
    def repeat(_: Any, arrays: Arrays) -> None:
        arrays["stats"][column_of(arrays, 1)] = arrays["stats"][column_of(arrays)]

    with pytest.raises(ModelFileError, match="a leaf has a column twice"):
        banditboost.load(forge(folder / "wide", repeat))


@pytest.mark.parametrize("max_columns", [None, 1, 3, 1000])
def test_another_number_of_columns_is_found(folder: Path, max_columns: int | None) -> None:
    def change(header: Any, _: Arrays) -> None:
        header["parameters"]["weak_learner"]["max_columns"] = max_columns

    with pytest.raises(ModelFileError, match="the trees are damaged"):
        banditboost.load(forge(folder / "wide", change))


def flip(arrays: Arrays, draw: np.random.Generator) -> None:
    """One bit of one field of one item."""
    name = str(draw.choice([name for name, array in arrays.items() if array.size]))
    array = (
        arrays[name]
        if arrays[name].dtype.names is None
        else arrays[name][str(draw.choice(arrays[name].dtype.names))]
    )
    column = array.copy()
    bits = column.reshape(-1).view(np.uint8)
    bits[draw.integers(bits.size)] ^= np.uint8(1 << int(draw.integers(8)))
    array[...] = column


@pytest.mark.parametrize("name", ["AdaFull", "BinBandit", "wide"])
def test_flipped_bits_under_a_right_checksum(folder: Path, name: str) -> None:
    """Refused, or a model that can go on: with the compiler off, any index out of range would raise."""
    draw, refused, path = np.random.default_rng(5), 0, folder / f"{name}.fuzzed"
    for _ in range(N_FUZZED):
        contents = container.read(folder / name)
        flip(contents.arrays, draw)
        container.write(path, contents.header, contents.arrays)
        try:
            model = banditboost.load(path)
        except ModelFileError:
            refused += 1
            continue
        with np.errstate(all="ignore"):
            go_on(model, STREAM.dicts()[:10], STREAM.y)
    assert refused > N_FUZZED // 20


def test_sound_trees_pass_the_tests_own_walk(folder: Path) -> None:
    """The loader's checks and the walk of the tests agree on a sound forest."""
    for name in ("AdaFull", "BinBandit", "wide"):
        check_committee(banditboost.load(folder / name)._committee)


def test_checks_take_linear_time() -> None:
    """A list of a million entries, as long as it can get; about a second, where a quadratic check would take
    an hour.
    """
    from banditboost.weak_learners.stored import stored_forest

    model = make_booster("AdaFull", 2, 1)
    model.learn_one({"x": 1.0}, 0)
    forest, n = model._committee.forest, 10**5 if INTERPRETED else 10**6
    head, entries, nodes = forest.head.copy(), np.zeros(n, forest.entries.dtype), forest.nodes.copy()
    head["n_labels"] = head["most_classes"] = n
    head["free_entry"], head["n_free_entries"] = -1, 0
    entries["label"] = entries["position"] = np.arange(n)
    entries["next"] = np.arange(1, n + 1)
    entries["next"][-1] = -1
    entries["weight"] = np.arange(n, 0, -1)
    entries["row"] = -1
    learned = forest.entries[forest.nodes["first_entry"][0]]
    entries["row"][0], entries["own"][0] = learned["row"], learned["own"]
    nodes["first_entry"][0] = nodes["top"][0] = 0
    steps = forest.steps.copy()
    steps["threshold"] = math.nan  # files have no scores of leaves
    long = forest._replace(head=head, entries=entries, nodes=nodes, steps=steps)
    start = time.perf_counter()
    stored_forest(long._asdict(), long, 1, model.weak_learner.ranges())
    assert time.perf_counter() - start < 30
    entries["next"][-1] = 0
    with pytest.raises(ValueError, match="position"):
        stored_forest(long._asdict(), long, 1, model.weak_learner.ranges())


def test_refusals_are_the_library_s_own(folder: Path) -> None:
    assert issubclass(ModelFileError, BanditBoostError)
    assert banditboost.load(folder / "AdaFull").rounds == len(STREAM.y)
