"""The memory ceiling: it holds, leaves sleep and wake, trees go on predicting and learning, and nothing is
lost or owned twice.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, BinBandit, HoeffdingTree, Schema, play
from banditboost.errors import ParameterError
from banditboost.weak_learners.tree_committee import TreeCommittee
from tests.trees.forests import INTERPRETED, committee_of, random_row, same_arrays, schema_of, teach, votes_of
from tests.weak_learners.invariants import check_committee, entries_of

MEBIBYTE = 1 << 20
BUDGET = MEBIBYTE // 32 if INTERPRETED else MEBIBYTE // 2
TIGHT = BUDGET // 4 if INTERPRETED else BUDGET // 16
N_EXAMPLES = 600 if INTERPRETED else 10_000
KINDS, N_VALUES, K = ["numeric", "nominal", *["numeric"] * 6], [0, 4, *[0] * 6], 8
GREEDY: dict[str, Any] = {"grace_period": 20.0, "split_confidence": 0.9, "tie_threshold": 0.9}


def make(max_memory: int = BUDGET, n_trees: int = 3, k: int = K, **parameters: Any) -> TreeCommittee:
    return committee_of(schema_of(KINDS, N_VALUES), k, n_trees, max_memory, **{**GREEDY, **parameters})


def example(draw: np.random.Generator, k: int = K) -> tuple[np.ndarray, int]:
    """Half pattern, half noise: there is always something left to split."""
    x = random_row(draw, KINDS, N_VALUES, missing=0.05)
    label = int(abs(np.nansum(np.floor(2 * x[:3])))) % k
    return x, label if draw.random() < 0.7 else int(draw.integers(k))


def train(committee: TreeCommittee, n_examples: int = N_EXAMPLES, seed: int = 0, k: int = K) -> None:
    draw = np.random.default_rng(seed)
    for _ in range(n_examples):
        teach(committee, *example(draw, k))


def sleepers(committee: TreeCommittee) -> set[int]:
    return set(np.flatnonzero(committee.forest.nodes["asleep"]).tolist())


def total_class_weight(committee: TreeCommittee) -> float:
    leaves = np.flatnonzero(committee.forest.steps["feature"][: int(committee.forest.head["n_nodes"][0])] < 0)
    return float(
        sum(committee.forest.entries["weight"][entries_of(committee, leaf)].sum() for leaf in leaves)
    )


@pytest.fixture(scope="module")
def crowded() -> TreeCommittee:
    """A committee at its ceiling; tests that teach it further must not share it."""
    committee = make()
    train(committee)
    return committee


@pytest.mark.parametrize("max_memory", [0, MEBIBYTE - 1, 1e9, True, None, "1 MiB", float("nan")])
def test_a_budget_below_a_mebibyte_is_refused(max_memory: Any) -> None:
    with pytest.raises(ParameterError, match=r"max_memory is .*give a whole number"):
        AdaBandit(["a", "b"], max_memory=max_memory)
    assert AdaBandit(["a", "b"], max_memory=MEBIBYTE).max_memory == MEBIBYTE


def test_a_budget_too_small_for_the_trees_says_what_would_do() -> None:
    with pytest.raises(
        ParameterError, match="max_memory is 1048576 bytes, too little for 9000 trees"
    ) as refusal:
        AdaBandit(["a", "b"], n_learners=9000, max_memory=MEBIBYTE)
    assert "at least 1 MiB" not in str(refusal.value), "this is what was given"


def test_the_arrays_never_exceed_the_budget() -> None:
    committee, draw = make(), np.random.default_rng(1)
    most = 0
    for _ in range(N_EXAMPLES):
        teach(committee, *example(draw))
        most = max(most, committee.memory_usage)
    assert BUDGET / 2 < most <= BUDGET


def test_leaves_sleep_and_wake_and_all_is_owned_once() -> None:
    committee, draw = make(), np.random.default_rng(2)
    asleep, woken = set(), set()
    for t in range(N_EXAMPLES):
        teach(committee, *example(draw))
        woken |= asleep - sleepers(committee)
        asleep = sleepers(committee)
        if t % (N_EXAMPLES // 5) == 0:
            check_committee(committee)
    assert asleep
    assert woken
    check_committee(committee)


def test_sleeping_leaves_predict_their_top_class(crowded: TreeCommittee) -> None:
    draw = np.random.default_rng(3)
    seen_asleep = 0
    for _ in range(N_EXAMPLES // 10):
        x, _ = example(draw)
        leaf = leaf_of(crowded, x)
        if crowded.forest.nodes[leaf]["asleep"] and crowded.forest.nodes[leaf]["n_tied"] == 1:
            seen_asleep += 1
            assert (
                votes_of(crowded, x)[0] == crowded.forest.entries[crowded.forest.nodes[leaf]["top"]]["label"]
            )
    assert seen_asleep


def leaf_of(committee: TreeCommittee, x: np.ndarray) -> int:
    """Where tree 0 sends a row."""
    node = int(committee.forest.trees[0]["root"])
    while (feature := committee.forest.steps[node]["feature"]) >= 0:
        value, threshold, first = (
            x[feature],
            committee.forest.steps[node]["threshold"],
            int(committee.forest.steps[node]["next"]),
        )
        if np.isnan(value):
            node = int(committee.forest.nodes[node]["default_child"])
        else:
            node = first + int(value) if np.isnan(threshold) else first + int(value > threshold)
    return node


@pytest.mark.parametrize("leaf_prediction", ["majority", "naive_bayes", "adaptive"])
def test_learning_goes_on_at_the_ceiling(leaf_prediction: str) -> None:
    """Every example is still counted in its leaf, and a change of the world is still learned."""
    committee = make(leaf_prediction=leaf_prediction)
    train(committee, N_EXAMPLES // 2)
    x = np.array([0.1, 2.0, *[0.1] * 6])
    before = total_class_weight(committee)
    for _ in range(100):
        teach(committee, x, 5, 50.0)
    assert total_class_weight(committee) == pytest.approx(
        before + 3 * 100 * 50.0, rel=0.01
    )  # a split leaves out what is next to nothing
    assert votes_of(committee, x) == [5, 5, 5]
    check_committee(committee)


def test_the_same_stream_gives_the_same_arrays(crowded: TreeCommittee) -> None:
    again = make()
    train(again)
    assert same_arrays(crowded, again)


def test_without_room_for_nodes_nothing_splits_and_classes_are_counted() -> None:
    committee = make(max_memory=TIGHT, k=2)  # few classes, so that nodes are what runs out
    train(committee, N_EXAMPLES // 2, k=2)
    n_nodes, before = int(committee.forest.head["n_nodes"][0]), total_class_weight(committee)
    assert committee.forest.head["nodes_full"][0]
    train(committee, N_EXAMPLES // 2, seed=5, k=2)
    assert int(committee.forest.head["n_nodes"][0]) == n_nodes
    assert total_class_weight(committee) == pytest.approx(before + 3 * (N_EXAMPLES // 2))
    assert (
        committee.memory_usage - committee.forest.choice.nbytes <= TIGHT
    )  # what trees are made with is no pool
    check_committee(committee)


def test_without_room_for_more_classes_a_leaf_can_still_learn_a_new_one() -> None:
    """Splits must leave some entries for classes that come to a leaf later: a class without an entry could
    never be predicted there.
    """
    committee, draw = make(max_memory=TIGHT), np.random.default_rng(9)
    train(committee, N_EXAMPLES // 2)
    assert committee.forest.head["entries_full"][0]
    for _ in range(20):
        x, _ = example(draw)
        for _ in range(5):
            teach(committee, x, 5, 1e6)
        assert votes_of(committee, x) == [5, 5, 5]
    check_committee(committee)


def test_memory_usage_is_the_bytes_of_the_arrays(crowded: TreeCommittee) -> None:
    assert crowded.memory_usage == sum(array.nbytes for array in crowded.forest)


@pytest.mark.skipif(INTERPRETED, reason="interpreted kernels leave objects of their own")
def test_memory_usage_tells_what_the_interpreter_gave() -> None:
    train(make(), 50)  # what is made once
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        committee = make()
        train(committee, N_EXAMPLES // 4)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert committee.memory_usage == pytest.approx(taken, rel=0.1)


@pytest.fixture
def without_collection() -> Iterator[None]:
    """Python does not look for garbage: what is not needed has to go by itself."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.skipif(INTERPRETED, reason="half a minute")
@pytest.mark.usefixtures("without_collection")
def test_the_memory_usage_of_a_model_is_true() -> None:
    """Arrays that were outgrown are given back at once.

    Pools that are not small have asked for addresses beyond: they count here, without being memory yet.
    """
    rows = [
        {"a": x[0], "b": str(x[1]), "c": x[2]}
        for x in np.random.default_rng(6).normal(size=(3000, 3)).round(1)
    ]
    right = [f"label {int(abs(row['a'] * 3)) % 4}" for row in rows]
    play(AdaBandit([f"label {i}" for i in range(4)], seed=1), rows, right)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        model = AdaBandit([f"label {i}" for i in range(4)], seed=1)
        play(model, rows, right)
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    beyond = sum(
        array.base.nbytes - array.nbytes for array in model._committee.forest if array.base is not None
    )
    assert beyond > 0
    assert model.memory_usage + beyond == pytest.approx(taken, rel=0.1)


def test_memory_follows_the_classes_seen_not_k() -> None:
    few, many = make(1 << 28, k=10), make(1 << 28, k=10_000)
    train(few, N_EXAMPLES // 10, k=5)
    train(many, N_EXAMPLES // 10, k=5)
    assert many.memory_usage == few.memory_usage
    assert many.forest.head["n_free_rows"][0] == few.forest.head["n_free_rows"][0]


def test_features_that_join_at_the_ceiling_stay_below_it() -> None:
    """Longer rows mean fewer rows."""
    schema = schema_of(KINDS, N_VALUES)
    committee = committee_of(schema, K, 3, BUDGET, **GREEDY)
    train(committee, N_EXAMPLES // 2)
    draw = np.random.default_rng(7)
    for joined in range(1, 20):
        schema.admit({f"late{joined}": 1.0})
        committee.follow_schema(schema)
        assert committee.memory_usage <= BUDGET, joined
        check_committee(committee)
        for _ in range(10):
            x, label = example(draw)
            teach(committee, np.append(x, draw.normal(size=joined)), label)
    check_committee(committee)


def test_labels_first_shown_at_the_ceiling_still_get_their_learners() -> None:
    """BinBandit makes a label's trees when it is first shown, which may be after the other labels' trees have
    filled the memory.
    """
    n_labels = 40
    model = BinBandit(list(range(n_labels)), n_learners=10, exploration=0.01, max_memory=MEBIBYTE, seed=1)
    model._committee._max_memory = BUDGET // 4
    draw = np.random.default_rng(8)
    for t in range(N_EXAMPLES // 3):
        decision = model.decide({"a": float(draw.normal()), "b": float(draw.normal())})
        model.learn(decision, bool(draw.random() < 0.5))
        committee = model._committee
        assert isinstance(committee, TreeCommittee)
        if t % 50 == 0:
            assert (
                model.n_groups * model.n_learners
                == len(committee.forest.trees)
                == len(model._log_alphas) * model.n_learners
            )
            assert (
                INTERPRETED or len(committee.forest.nodes) <= committee._most_nodes()
            )  # there, a budget too small for even the roots
    assert INTERPRETED or committee.forest.head["nodes_full"][0]
    check_committee(committee)


def test_more_labels_than_there_is_memory_for_are_refused() -> None:
    with pytest.raises(
        ParameterError, match="max_memory is 1048576 bytes, too little for 3000 trees; give more"
    ):
        BinBandit(list(range(300)), n_learners=10, max_memory=MEBIBYTE)
    model = BinBandit(list(range(2)), n_learners=1100, max_memory=MEBIBYTE, seed=1)
    with pytest.raises(ParameterError, match="too little for 3300 trees"):
        model.add_label(2)
    assert model.labels == (0, 1)


def test_a_leaf_that_needs_more_rows_than_there_are_keeps_those_of_its_heaviest_classes() -> None:
    """It used to fall asleep, and never to wake: no tree could ever split."""
    n_features, k, n_rows = 20, 30, 12
    schema = schema_of(["numeric"] * n_features, [0] * n_features)
    committee = committee_of(
        schema, k, 2, n_rows * 8 * 3 * n_features * 100 // 49 + 100, grace_period=100.0, tie_threshold=0.9
    )
    draw = np.random.default_rng(11)
    for t in range(300 if INTERPRETED else 3_000):
        label = int(min(draw.geometric(0.3) - 1, k - 1)) if t % 3 else int(draw.integers(k))
        teach(committee, draw.normal(size=n_features) + 3.0 * (label % 2), label)
        assert (committee.forest.nodes["summary"] >= 0).any()
    assert len(committee.forest.stats) <= n_rows * committee.forest.head["row_size"][0]
    assert committee.forest.head["n_nodes"][0] > 2
    check_committee(committee)


def test_a_budget_too_small_for_the_features_is_told_and_learning_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    schema = Schema.of([f"f{i}" for i in range(6000)], ["numeric"] * 6000)
    tree = HoeffdingTree(max_columns=None)
    model = AdaBandit(["a", "b"], n_learners=3, weak_learner=tree, schema=schema, max_memory=MEBIBYTE, seed=1)
    assert "max_memory of 1048576 bytes is too little for the statistics of 6000 features" in caplog.text
    for t in range(20):
        model.learn(model.decide(np.full(6000, float(t % 2))), correct=t % 3 == 0)
    check_committee(model._committee)
    enough = int(caplog.text.split()[-1])
    caplog.clear()
    AdaBandit(["a", "b"], weak_learner=tree, schema=schema, max_memory=enough)
    AdaBandit(["a", "b"], schema=schema, max_memory=MEBIBYTE)  # whose leaves look at some features only
    assert caplog.text == ""
