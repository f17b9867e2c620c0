"""GapBoost against its slow twin, decision for decision, leaf for leaf."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import HoeffdingTree, Schema
from banditboost.inspection.changes import ANEW
from banditboost.inspection.tally import BY_LABEL, PER_LABEL
from tests.boosting.kernels import INTERPRETED
from tests.boosting.streams import KINDS, Stream, growing_rows, make_stream
from tests.boosting.test_twins import Coder
from tests.boosting.twins import CLOSE_WEIGHT, SEED, Both, compare_shapes, shape_of
from tests.naive import rng
from tests.naive.gap import MOST_EAGER
from tests.naive.gap import GapBoost as Twin
from tests.naive.tree import Tree

ROUNDS = 40 if INTERPRETED else 300  # interpreted, a round takes as long as the twin's
ALL_SIZES = [(k, n) for k in (2, 3, 26) for n in (1, 5, 10)]
SIZES = [(2, 5), (26, 5)] if INTERPRETED else ALL_SIZES
ROUNDING = 1e-12
TREE = HoeffdingTree(grace_period=(5.0, 10.0), split_confidence=0.1, tie_threshold=0.6)


def tied(scores: list[float]) -> bool:
    first, second = sorted(scores)[-2:]
    return second - first < ROUNDING


class Pair(Both):
    """GapBoost and its twin."""

    def __init__(
        self, k: int, n_learners: int, schema: Schema | None, kinds: list[str], n_values: list[int]
    ) -> None:
        columns = [kind for kind in kinds if kind in ("numeric", "nominal")] if "word" in kinds else kinds

        def tree(number: int) -> Tree:
            u = rng.uniform(SEED, number, rng.TREE_PARAMETER, 0)
            return Tree(2, columns, n_values, rng.between(u, 5.0, 10.0), 0.1, 0.6)

        booster = banditboost.GapBoost(
            range(k), n_learners=n_learners, seed=SEED, schema=schema, weak_learner=TREE
        )
        super().__init__(booster, Twin(k, n_learners, tree, kinds, n_values, SEED))

    def decide(
        self, x: Any, coded: list[float], allowed: list[int] | None = None
    ) -> tuple[Any, Any, list[float]]:
        decision, expected = self.booster.decide(x, allowed), self.twin.decide(coded, allowed)
        if (decision.label, decision.greedy) != (expected.ytilde, expected.yhat) and (
            tied(expected.score) or tied(expected.hope)
        ):
            # Of labels that are all quite wrong, at -1, the last bit of exp decides which is best: the twin
            # then follows the booster.
            return decision, expected._replace(yhat=decision.greedy, ytilde=decision.label), coded
        assert (decision.round, decision.label, decision.greedy) == (
            expected.round,
            expected.ytilde,
            expected.yhat,
        )
        assert decision.probability == pytest.approx(expected.p, **CLOSE_WEIGHT)
        return decision, expected, coded

    def compare_trees(self) -> None:
        committee = self.booster._committee
        trees = [tree for group in self.twin.groups.values() for tree in group]
        for number, tree in enumerate(trees):
            compare_shapes(shape_of(committee, int(committee.forest.trees[number]["root"])), tree.shape())


def make_pair(k: int, n_learners: int, stream: Stream) -> Pair:
    return Pair(k, n_learners, stream.schema(), stream.kinds, stream.n_values)


def run(kind: str, k: int, n_learners: int, n_rounds: int) -> None:
    """Play both side by side, and compare what they have learned."""
    stream = make_stream(kind, k, n_rounds)
    pair = make_pair(k, n_learners, stream)
    pair.play(stream)
    pair.compare_trees()


def run_late(kind: str, k: int, n_learners: int, n_rounds: int) -> None:
    """The same with verdicts that come late, in any order, or never."""
    stream = make_stream(kind, k, n_rounds)
    pair = make_pair(k, n_learners, stream)
    pair.play_late(stream, seed=k)
    pair.compare_trees()


@pytest.mark.parametrize(("k", "n_learners"), SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_gap_boost_equals_its_twin(kind: str, k: int, n_learners: int) -> None:
    run(kind, k, n_learners, ROUNDS)


@pytest.mark.parametrize("k", [2, 3, 26])
@pytest.mark.parametrize("kind", ["mixed"] if INTERPRETED else KINDS)
def test_verdicts_in_any_order(kind: str, k: int) -> None:
    run_late(kind, k, 5, ROUNDS)


@pytest.mark.slow
@pytest.mark.parametrize("play", [run, run_late])
@pytest.mark.parametrize(("k", "n_learners"), ALL_SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_gap_boost_equals_its_twin_for_long(kind: str, k: int, n_learners: int, play: Any) -> None:
    play(kind, k, n_learners, 2_000)


def test_features_and_values_join() -> None:
    stream, coder = make_stream("mixed", 3, ROUNDS), Coder()
    pair = Pair(3, 5, None, coder.kinds, coder.n_values)
    for row, y in zip(growing_rows(stream), stream.y.tolist(), strict=True):
        pair.step(row, coder.code(row), y)
    pair.compare_trees()


def test_columns_of_rows_too_wide_for_regressions_count_by_what_they_tell() -> None:
    k, rounds = 62, 20 if INTERPRETED else 60
    luck = np.random.default_rng(8)
    X = np.hstack([luck.normal(size=(rounds, 89)).round(2), luck.integers(0, 3, (rounds, 2))])
    X[luck.random(X.shape) < 0.03] = np.nan
    stream = Stream(["numeric"] * 89 + ["nominal"] * 2, X, luck.integers(0, 2, rounds))
    pair = make_pair(k, 1, stream)
    assert len(pair.booster._scratch.telling) == 91
    pair.play(stream)
    pair.compare_trees()
    features = pair.twin.features(X[-1].tolist())[1]
    plain = pair.twin.singles(pair.twin.columns(X[-1].tolist()))
    grown = [(one, other) for (_, one), (_, other) in zip(features, plain, strict=True) if one != other]
    assert len(grown) > 70  # numbers, and neither the constant nor names
    assert any(abs(one) > abs(other) for one, other in grown)
    assert any(abs(one) < abs(other) for one, other in grown)


def test_some_labels_are_allowed_and_labels_join() -> None:
    stream = make_stream("mixed", 5, ROUNDS)
    pair = make_pair(3, 5, stream)
    for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
        if t in (ROUNDS // 4, ROUNDS // 2):
            waiting = pair.decide(x, x.tolist())
            pair.booster.add_label(pair.twin.k)
            pair.twin.add_label()
            pair.learn(waiting, y)
        allowed = [label for label in range(pair.twin.k) if (t * 7 + 3) >> label & 1]
        pair.learn(pair.decide(x, x.tolist(), allowed if t % 3 and allowed else None), y)
    assert pair.booster.labels == (0, 1, 2, 3, 4)
    pair.compare_trees()


def test_among_many_labels_a_chain_begins_with_a_right_verdict() -> None:
    k = MOST_EAGER + 1
    stream = make_stream("mixed", 3, ROUNDS)
    pair = make_pair(k, 2, stream)
    for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
        allowed = [0, 1, 2, 3 + t % 5, k - 1] if t % 4 else None
        pair.learn(pair.decide(x, x.tolist(), allowed), y)
    heard = [label for label in range(k) if pair.booster._tally[BY_LABEL + PER_LABEL * label] > 0]
    chains = [label for label in range(k) if pair.booster._group_of(label) >= 0]
    assert set(chains) == set(pair.twin.groups) < set(heard)
    assert set(chains) <= {0, 1, 2}
    pair.compare_trees()


# Many columns or values: stages are cut short, drawn or hashed


def run_wide(kinds: list[str], n_values: list[int], n_rounds: int) -> None:
    luck = np.random.default_rng(len(kinds))
    columns = [
        luck.normal(size=n_rounds) if kind == "numeric" else luck.integers(0, n, n_rounds)
        for kind, n in zip(kinds, n_values, strict=True)
    ]
    X = np.column_stack(columns).astype(np.float64)
    X[luck.random(X.shape) < 0.03] = np.nan
    names = [f"f{i}" for i in range(len(kinds))]
    values = [
        [f"v{code}" for code in range(n)] if kind == "nominal" else None
        for kind, n in zip(kinds, n_values, strict=True)
    ]
    pair = Pair(3, 2, Schema.of(names, kinds, values), kinds, n_values)
    for x in X:
        pair.step(x, x.tolist(), int(np.nan_to_num(x[0]) + np.nan_to_num(x[-1])) % 3)
    pair.compare_trees()


def test_sparse_and_constant_columns() -> None:
    """Mostly 0; 1 or missing; the same in every row; mostly missing; the same but for one row."""
    luck, n_rounds = np.random.default_rng(5), 40 if INTERPRETED else 300
    X = np.column_stack([luck.integers(1, 4, n_rounds) for _ in range(9)]).astype(np.float64)
    X[:, :3] *= luck.random((n_rounds, 3)) < 0.15
    X[:, 3:5] = np.where(luck.random((n_rounds, 2)) < 0.4, 1.0, np.nan)
    X[:, 5] = -3.0
    X[luck.random(n_rounds) < 0.8, 6] = np.nan
    X[:, 7] = 0.25
    X[n_rounds // 2, 7] = 7.0
    pair = Pair(3, 2, Schema.of(list("abcdefghi"), ["numeric"] * 9, [None] * 9), ["numeric"] * 9, [0] * 9)
    for x in X:
        pair.step(x, x.tolist(), int(x[0] > 0) + int(x[3] == 1))
    pair.compare_trees()


def test_prefixes_far_behind_rest() -> None:
    """Where columns tell nothing, trees and pairs learn chance, and rest once 500 verdicts are heard."""
    luck, n_rounds = np.random.default_rng(6), 40 if INTERPRETED else 1_000
    X = luck.normal(size=(n_rounds, 4))
    pair = Pair(2, 3, Schema.of(list("abcd"), ["numeric"] * 4, [None] * 4), ["numeric"] * 4, [0] * 4)
    for x, y in zip(X, luck.integers(0, 2, n_rounds).tolist(), strict=True):
        pair.step(x, x.tolist(), y)
    pair.compare_trees()
    assert pair.twin.n_awake(0.9) <= 3 or INTERPRETED


def test_too_many_columns_for_pairs_of_bins() -> None:
    run_wide(["numeric"] * 28, [0] * 28, 40)


def test_too_many_pairs_of_columns() -> None:
    run_wide(["numeric"] * 92, [0] * 92, 6 if INTERPRETED else 20)


def test_too_many_values_for_slots_of_their_own() -> None:
    """First 130 x 130 products, then also bins: 6 x 256 x 11 and those of two numeric columns."""
    run_wide(["nominal", "nominal", "numeric"], [130, 130, 0], 20 if INTERPRETED else 100)
    run_wide(["nominal"] * 3 + ["numeric"] * 2, [256] * 3 + [0] * 2, 20 if INTERPRETED else 100)


# Names without a place of their own, and words


def test_names_that_share_and_words() -> None:
    """Weights that differ, names and words at one place, rows without any; ("#", n) stands for number n."""
    luck, n_rounds = np.random.default_rng(3), 30 if INTERPRETED else 300
    kinds, n_values = ["numeric", "nominal", *["word", "weight"] * 8], [0] * 18
    pair, cities = Pair(3, 2, None, kinds, n_values), []
    for t in range(n_rounds):
        numbers = luck.integers(0, 40, 4 if t == 0 else luck.integers(0, 9)) * 2**18 + luck.integers(0, 3)
        words = {number: float(luck.choice([1.0, -2.5, 0.1])) for number in numbers.tolist()}
        size, number = float(luck.normal()), int(luck.integers(0, 8))
        if t % 3 == 0:
            city, code = ("#", number), 2.0**32 + number
        else:
            city = f"city {number % 4}"
            cities += [city] * (city not in cities)
            code, n_values[1] = float(cities.index(city)), len(cities)
        row = {"size": size, "city": city, **{("#", number): weight for number, weight in words.items()}}
        listed = [part for item in words.items() for part in item]
        coded = [size, code, *map(float, listed), *[math.nan] * (16 - len(listed))]
        pair.step(row, coded, len(words) % 3)
    pair.compare_trees()


# Changes of the world


def run_changing(n_rounds: int, n_labels: int, kind: str) -> Pair:
    """Labels are others every so often, and the twin notices the same changes."""
    stream = make_stream(kind, n_labels, n_rounds)
    pair = make_pair(n_labels, 2, stream)
    luck = np.random.default_rng(n_labels)
    for t, (x, y) in enumerate(zip(stream.X, stream.y.tolist(), strict=True)):
        wrong = luck.random() < 0.2
        pair.step(x, x.tolist(), (y + t // (n_rounds // 4) + wrong) % n_labels)
    assert [(change.verdicts, change.label) for change in pair.booster.changes] == pair.twin.changes
    beliefs = pair.booster._watch.beliefs
    for label, belief in pair.twin.beliefs.items():
        expected = [belief.n, belief.mu, *belief.S, belief.m, belief.nu, belief.R]
        np.testing.assert_allclose(beliefs[label, :ANEW], expected, rtol=1e-8, atol=1e-8)
    assert set(np.flatnonzero(beliefs[:, ANEW]).tolist()) == pair.twin.anew
    pair.compare_trees()
    return pair


@pytest.mark.skipif(INTERPRETED, reason="a change is noticed after many rounds")
@pytest.mark.parametrize(("kind", "n_labels"), [("mixed", 3), ("numeric", 5)])
def test_changes_are_noticed_as_by_the_twin(kind: str, n_labels: int) -> None:
    assert run_changing(1600, n_labels, kind).twin.changes
