"""Features and nominal values join at any time, and features vanish: what was learned before stays where it
was.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import AdaBandit, Schema, play
from banditboost.rows.sharing import MAX_VALUES
from banditboost.weak_learners.tree_committee import TreeCommittee
from tests.trees.forests import (
    INTERPRETED,
    Twins,
    assert_same_shape,
    committee_of,
    label_of,
    random_row,
    same_arrays,
    schema_of,
    shape_of,
    teach,
    votes_of,
)
from tests.weak_learners.invariants import check_committee, entries_of

EAGER: dict[str, Any] = {"grace_period": 10.0, "split_confidence": 0.3, "tie_threshold": 0.3}
LEAVES = ["majority", "naive_bayes", "adaptive"]
N_EXAMPLES = 40 if INTERPRETED else 300
LABELS = ["a", "b", "c"]


def statistics_of(committee: TreeCommittee) -> dict[tuple[int, int, int, int], float]:
    """Every number in use: (leaf, label, feature, place) -> number; label -1 is the summary of the leaf.

    Zeros are left out.
    """
    forest = committee.forest
    found, table = {}, forest.stats.reshape(-1, int(forest.head["row_size"][0]))
    for leaf in range(int(forest.head["n_nodes"][0])):
        rows = {
            int(entry["label"]): int(entry["row"]) for entry in forest.entries[entries_of(committee, leaf)]
        }
        rows[-1] = int(forest.nodes[leaf]["summary"])
        for label, row in rows.items():
            for f, feature in enumerate(forest.features if row >= 0 else ()):
                for place in range(int(feature["capacity"])):
                    number = float(table[row, int(feature["offset"]) + place])
                    if number != 0:
                        found[leaf, label, f, place] = number
    return found


def assert_kept(before: dict[Any, float], after: dict[Any, float]) -> None:
    """Nothing has changed but that new numeric features have an empty range, from inf to -inf."""
    added = {key: after[key] for key in after.keys() - before.keys()}
    assert before.items() <= after.items()
    assert all(math.isinf(number) for number in added.values())


def test_numeric_features_joining_one_by_one_keep_the_statistics() -> None:
    twins, draw = Twins(3, ["numeric", "nominal"], [0, 3], **EAGER), np.random.default_rng(1)
    for _ in range(12):
        for _ in range(N_EXAMPLES // 12):
            x = random_row(draw, twins.naive.kinds, twins.n_values, missing=0.1)
            twins.learn(x, label_of(x, 3, draw), 1.0)
        before = statistics_of(twins.committee)
        assert before
        twins.join_feature("numeric")
        assert_kept(before, statistics_of(twins.committee))
        check_committee(twins.committee)


def test_nominal_values_joining_beyond_the_reserved_room_keep_the_statistics() -> None:
    """Room for 4 values is reserved at first, then for 8, 16 and 32; the numeric feature behind moves
    along.
    """
    twins, draw = Twins(3, ["nominal", "numeric", "nominal"], [1, 0, 2], **EAGER), np.random.default_rng(2)
    rooms = set()
    for _ in range(20):
        for _ in range(N_EXAMPLES // 20):
            x = random_row(draw, twins.naive.kinds, twins.n_values, missing=0.1)
            twins.learn(x, label_of(x, 3, draw), 1.0)
        before = statistics_of(twins.committee)
        twins.join_value(0)
        assert statistics_of(twins.committee) == before
        check_committee(twins.committee)
        rooms.add(int(twins.committee.forest.features[0]["capacity"]))
    assert rooms == {4, 8, 16, 32}


@pytest.mark.parametrize("leaf_prediction", LEAVES)
def test_a_late_feature_is_one_that_was_missing_so_far(leaf_prediction: str) -> None:
    """The committee whose features join late equals the one that had them declared from the start."""
    wide = committee_of(
        schema_of(["numeric"] * 5, [0] * 5), 3, n_trees=2, leaf_prediction=leaf_prediction, **EAGER
    )
    late_schema = schema_of(["numeric"] * 2, [0] * 2)
    late = committee_of(late_schema, 3, n_trees=2, leaf_prediction=leaf_prediction, **EAGER)
    draw = np.random.default_rng(3)
    for t in range(N_EXAMPLES):
        if t in (N_EXAMPLES // 3, N_EXAMPLES // 2, N_EXAMPLES // 2 + 1):
            late_schema.admit({f"x{len(late_schema)}": 1.0})
            late.follow_schema(late_schema)
        x = random_row(draw, ["numeric"] * len(late_schema), [0] * len(late_schema), missing=0.1)
        padded = np.append(x, [math.nan] * (5 - len(x)))
        assert votes_of(late, x, t) == votes_of(wide, padded, t)
        label = label_of(x, 3, draw)
        teach(late, x, label)
        teach(wide, padded, label)
    assert_same_shape(shape_of(late, 1), shape_of(wide, 1))
    check_committee(late)


def test_a_feature_that_joined_a_draft_that_was_dropped_leaves_nothing() -> None:
    """The rows have room for it, so that the draft writes into them; another joins at its place later."""
    schema, draw = schema_of(["numeric"] * 40, [0] * 40), np.random.default_rng(5)
    committee = committee_of(schema, 3, n_trees=2, **EAGER)
    schema.admit({"makes room for more": 1.0})
    committee.follow_schema(schema)
    for _ in range(N_EXAMPLES):
        x = random_row(draw, ["numeric"] * 41, [0] * 41)
        teach(committee, x, label_of(x, 3, draw))
    untouched, dropped = copy.deepcopy(committee), schema.copy()
    dropped.admit({"a number": 1.0})
    committee.draft().follow_schema(dropped)
    assert not same_arrays(committee, untouched)
    assert np.array_equal(committee.arrays()["stats"], untouched.arrays()["stats"])
    schema.admit({"a name": "red"})
    for made in (committee, untouched):
        made.follow_schema(schema)
    assert statistics_of(committee) == statistics_of(untouched)
    assert np.array_equal(committee.arrays()["stats"], untouched.arrays()["stats"])


steps = st.lists(st.sampled_from(["learn"] * 6 + ["value", "numeric", "nominal"]), min_size=1, max_size=40)


@given(steps=steps, seed=st.integers(0, 2**32 - 1), leaf_prediction=st.sampled_from(LEAVES))
@settings(max_examples=20 if INTERPRETED else 200)
def test_any_order_of_joining_and_learning(steps: list[str], seed: int, leaf_prediction: Any) -> None:
    twins = Twins(
        3,
        ["nominal"],
        [1],
        grace_period=3.0,
        split_confidence=0.9,
        tie_threshold=0.5,
        leaf_prediction=leaf_prediction,
    )
    draw = np.random.default_rng(seed)
    for step in steps:
        if step == "learn":
            x = random_row(draw, twins.naive.kinds, twins.n_values, missing=0.2)
            twins.step(x, label_of(x, 3, draw), 1.0)
        elif step == "value":
            twins.join_value(
                int(draw.choice([f for f, kind in enumerate(twins.naive.kinds) if kind == "nominal"]))
            )
        else:
            twins.join_feature(step)
    twins.assert_same()
    check_committee(twins.committee)


# Through a model


def model_of(**parameters: Any) -> AdaBandit:
    return AdaBandit(LABELS, n_learners=4, seed=9, **parameters)


def arrays_of(model: AdaBandit) -> TreeCommittee:
    assert isinstance(model._committee, TreeCommittee)
    return model._committee


def test_vanished_features_count_as_missing() -> None:
    draw, gone, missing = np.random.default_rng(4), model_of(), model_of()
    for t in range(N_EXAMPLES // 2):
        row = {"n": float(draw.normal()), "s": str(draw.integers(3)), "late": float(draw.normal())}
        kept = {name: value for name, value in row.items() if t < 20 or draw.random() < 0.5}
        decision = gone.decide(kept)
        other = missing.decide({name: kept.get(name) for name in row})
        assert (decision.label, decision.probability) == (other.label, other.probability)
        correct = decision.label == LABELS[t % 3]
        gone.learn(decision, correct)
        missing.learn(other, correct)
    assert same_arrays(arrays_of(gone), arrays_of(missing))
    check_committee(arrays_of(gone))


def test_values_without_a_place_of_their_own_count_as_missing() -> None:
    """Each value comes twice in a row: with the second time it gets a place, as long as there are any."""
    many, cut_off = model_of(), model_of()
    cut_off._schema.keeps_all_values = True
    n_values = MAX_VALUES + (4 if INTERPRETED else 100)
    for t in range(2 * n_values):
        value = f"value {t // 2}"
        decision = many.decide({"n": float(t % 7), "s": value})
        has_place = value in many.schema.values("s")
        other = cut_off.decide({"n": float(t % 7), "s": value if has_place else None})
        assert decision.label == other.label
        if not INTERPRETED or t % 10 == 0 or t >= 2 * MAX_VALUES:
            many.learn(decision, t % 3 == 0)
            cut_off.learn(other, t % 3 == 0)
    assert many.schema.n_values() == [0, MAX_VALUES]
    check_committee(arrays_of(many))


def test_decisions_made_before_a_feature_joined_can_still_be_learned() -> None:
    model, draw = model_of(), np.random.default_rng(5)
    open_decisions = [model.decide({"n": float(draw.normal())}) for _ in range(20)]
    for joined in range(20):
        open_decisions.append(
            model.decide({"n": 1.0, f"late {joined}": "x" if joined % 2 else 2.5, "s": f"value {joined}"})
        )
    for decision in open_decisions:
        model.learn(decision, decision.label == "a")
    assert model.verdicts == 40
    check_committee(arrays_of(model))


def test_features_that_join_while_verdicts_are_out_are_the_same_in_play() -> None:
    rows: list[dict[str, Any]] = [{"n": float(t % 5)} for t in range(10)]
    rows += [{"n": float(t % 5), "s": f"v{t % 11}"} for t in range(40)]
    rows += [{"s": f"v{t % 13}", "m": float(t)} for t in range(30)]
    right = [LABELS[t % 3] for t in range(len(rows))]
    played, decided, waiting = model_of(), model_of(), []
    result = play(played, rows, right, delay=7)
    for t, row in enumerate(rows):
        waiting.append(decided.decide(row))
        assert waiting[-1].label == LABELS[result.shown[t]]
        if t >= 7:
            decided.learn(waiting[t - 7], waiting[t - 7].label == right[t - 7])
    assert same_arrays(arrays_of(played), arrays_of(decided))


def test_models_given_the_same_schema_do_not_disturb_each_other() -> None:
    schema = Schema(numeric=["n"], nominal=["s"])
    one, other, alone = (
        model_of(schema=schema),
        model_of(schema=schema),
        model_of(schema=Schema(numeric=["n"], nominal=["s"])),
    )
    for t in range(30):
        row = {"n": float(t), "s": f"v{t % 6}"}
        one.learn(one.decide(row), t % 2 == 0)
        decision, expected = other.decide(row), alone.decide(row)
        assert decision.label == expected.label
        other.learn(decision, t % 3 == 0)
        alone.learn(expected, t % 3 == 0)
    assert same_arrays(arrays_of(other), arrays_of(alone))
    check_committee(arrays_of(other))
