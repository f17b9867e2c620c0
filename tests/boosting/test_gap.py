"""GapBoost: what is its own.

That it plays, saves and refuses like the others is in their tests; its twin is in test_gap_twin.py.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import Decision, GapBoost, HoeffdingTree, Schema, datasets, load, play
from banditboost.boosting.gap.chain import list_row, list_stages
from banditboost.boosting.gap.choose import choose, draw_other, weigh_labels
from banditboost.boosting.gap.layout import lay_out
from banditboost.boosting.gap.state import LANES
from banditboost.compiled.compile import kernel
from banditboost.compiled.rng import EXPLORE, round_key, uniform_at
from banditboost.errors import DecisionError, ModelFileError, ParameterError
from banditboost.memo import ALLOWED, POLICY, PROBABILITY, ROUND, SHOWN, VOTES
from tests.boosting.forged import forged
from tests.boosting.kernels import INTERPRETED
from tests.boosting.loops import play_by_hand
from tests.boosting.states import difference, state_of
from tests.boosting.streams import make_stream
from tests.io.models import forge

ROUNDS = 40 if INTERPRETED else 300


def taught(k: int = 3, rounds: int = ROUNDS, **options: Any) -> tuple[Any, Any]:
    stream = make_stream("mixed", k, rounds + 20)
    model = GapBoost(range(k), schema=stream.schema(), seed=5, **{"n_learners": 3, **options})
    play_by_hand(model, stream.X[:rounds], stream.y[:rounds])
    return model, stream.X[rounds:]


# Probabilities


@pytest.mark.parametrize("k", [2, 3, 26])
def test_the_distribution_is_the_one_that_is_drawn_from(k: int) -> None:
    """Label by label: from the model before, from the decision, and by the walk of the specification along
    it.
    """
    model, rows = taught(k)
    for x in rows:
        expected = model.distribution(x)
        decision = model.decide(x)
        assert decision.distribution() == expected
        assert math.fsum(expected.values()) == pytest.approx(1.0, abs=1e-14)
        assert min(expected.values()) > 0.0
        best = max(expected, key=expected.__getitem__)
        assert expected[best] >= 1.0 / k - 1e-12
        assert expected[decision.label] == decision.probability
        u, total, shown = uniform_at(5, decision.round, EXPLORE, 0), 0.0, best
        for label in (label for label in range(k) if label != best):
            total += expected[label]
            if u < total:
                shown = label
                break
        assert decision.label == shown


def test_numbers_that_draw_a_label_measure_its_probability() -> None:
    """All u on a fine grid, shares counted: each label gets what it was promised."""
    scores = np.array([0.1, 0.5, 0.5, -1.0, 0.4999])
    probabilities = np.zeros(5)
    best = weigh_labels(scores, np.zeros(0, np.int64), 3.0, probabilities)
    assert best == 1  # the first of the two
    assert probabilities.tolist() == pytest.approx(
        [1 / (5 + 60 * 0.4 / 2), probabilities[1], 1 / 5, 1 / 50, 1 / (5 + 60 * 0.0001 / 2)]
    )
    n = 2_000 if INTERPRETED else 100_000
    drawn = [draw_other(probabilities, best, (i + 0.5) / n) for i in range(n)]
    assert (np.bincount(drawn, minlength=5) / n).tolist() == pytest.approx(probabilities.tolist(), abs=2 / n)


@kernel
def choose_in_round(model: Any, memo: np.ndarray, seed: int) -> None:
    choose(model, memo, round_key(seed, int(memo[ROUND])))


def test_every_round_number_draws_from_the_same_distribution() -> None:
    """Many rounds of one row with nothing learned in between: shares of the labels shown are the
    probabilities told.
    """
    model, rows = taught(3, 30)
    n = 300 if INTERPRETED else 20_000
    expected = model.distribution(rows[0])
    memo = model._look(rows[0])
    shown = np.zeros(3)
    for t in range(n):
        memo[ROUND] = t
        choose_in_round(model._state(), memo, model.seed)
        shown[int(memo[SHOWN])] += 1
        assert memo[PROBABILITY] == expected[int(memo[SHOWN])]
    for label, p in expected.items():
        assert shown[label] / n == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / n) + 1 / n)


def test_looking_changes_nothing() -> None:
    model, rows = taught()
    before = state_of(model)
    model.distribution(rows[0])
    assert state_of(model) == before


def test_a_stored_decision_among_many_labels_does_not_hold_the_distribution() -> None:
    model, rows = taught(40, 60)
    told = model.distribution(rows[0])
    decision = model.decide(rows[0])
    assert told == decision.distribution()
    back = Decision.from_dict(json.loads(json.dumps(decision.to_dict())), model.labels)
    with pytest.raises(DecisionError, match=r"among 40 labels.*model\.distribution\(x\)"):
        back.distribution()
    model.learn(back, True)
    assert model.verdicts == 61


# Some labels, labels that join


def test_among_some_labels() -> None:
    """Probabilities are those of the rule with the allowed labels in the place of all; a label that is alone
    is certain.
    """
    model, rows = taught(5)
    for allowed in ([0, 3], [1, 2, 4], [2], [0, 1, 2, 3, 4]):
        among_all = model.distribution(rows[0])
        expected = model.distribution(rows[0], allowed)
        decision = model.decide(rows[0], allowed)
        assert decision.allowed == tuple(allowed)
        assert decision.distribution() == expected
        assert [label for label, p in expected.items() if p > 0.0] == allowed
        assert math.fsum(expected.values()) == pytest.approx(1.0, abs=1e-14)
        assert max(expected, key=expected.__getitem__) == max(allowed, key=among_all.__getitem__)
        assert decision.greedy in allowed
        assert expected[decision.label] == decision.probability
        back = Decision.from_dict(json.loads(json.dumps(decision.to_dict())), model.labels)
        assert back.distribution() == expected
        model.learn(back, False)
    assert model.distribution(rows[0], range(5)) == model.distribution(rows[0])


def test_a_changed_restriction_is_refused() -> None:
    model, rows = taught(5)
    data = model.decide(rows[0], [0, 1, 3]).to_dict()
    for mask in ("7", "1f", "3"):
        with pytest.raises(DecisionError):
            Decision.from_dict(forged(data, allowed=mask), model.labels)


def test_a_verdict_is_the_shown_labels_own() -> None:
    """Whatever else was allowed, the same label shown for the same row teaches the same; only the tally knows
    how probable it was.
    """
    (one, rows), (other, _) = taught(5), taught(5)
    told = one.distribution(rows[0])
    greedy = max(told, key=told.__getitem__)
    while True:
        pair, alone = one.decide(rows[0], [greedy, (greedy + 1) % 5]), other.decide(rows[0], [greedy])
        if not pair.explored:
            break
    assert pair.label == alone.label == greedy
    assert pair.probability < alone.probability == 1.0
    one.learn(pair, True)
    other.learn(alone, True)
    assert set(difference(one, other)) <= {"tally"}


def test_labels_join(tmp_path: Path) -> None:
    model, rows = taught(3, 80)
    before, open_decision = model.distribution(rows[0]), model.decide(rows[0])
    model.add_label(3)
    after = model.distribution(rows[0])
    assert list(after) == [0, 1, 2, 3]
    assert max(before, key=before.__getitem__) == max(list(before), key=after.__getitem__)
    assert len(open_decision.distribution()) == 3
    model.learn(open_decision, True)
    for t, x in enumerate(rows):
        decision = model.decide(x)
        model.learn(decision, decision.label == (3 if t % 2 else 0))
    assert model.n_groups == 4
    model.save(tmp_path / "model.bb")
    again = banditboost.load(tmp_path / "model.bb")
    assert difference(model, again) == []


def test_slots_are_shared_when_labels_join_under_a_low_ceiling(tmp_path: Path) -> None:
    """Ten columns of ten values: stage 2 needs 4,500 slots.

    A megabyte allows 8,192 for two labels, and 1,024 for sixteen.
    """
    luck = np.random.default_rng(2)
    rows = [{f"f{i}": f"v{luck.integers(10)}" for i in range(10)} for _ in range(40 if INTERPRETED else 300)]
    model = GapBoost(["a", "b"], n_learners=1, max_memory=1 << 20, seed=1)
    for row in rows:
        decision = model.decide(row)
        model.learn(decision, (decision.label == "a") == (row["f0"] < "v5"))
    sizes = [model._stages.layout.spans["room"][1]]
    for label in range(14):
        model.add_label(label)
        sizes.append(model._stages.layout.spans["room"][1])
    assert sizes[-1] < sizes[0]
    right = sum(model.decide(row, ["a", "b"]).greedy == ("a" if row["f0"] < "v5" else "b") for row in rows)
    assert right > (0.6 if INTERPRETED else 0.9) * len(rows)
    model.save(tmp_path / "model.bb")
    assert difference(model, banditboost.load(tmp_path / "model.bb")) == []


def test_a_stored_decision_is_small() -> None:
    model = GapBoost(range(32), seed=1)
    luck = np.random.default_rng(1)
    for _ in range(50):
        decision = model.decide({f"feature{i}": float(luck.normal()) for i in range(20)})
        model.learn(decision, False)
    assert len(json.dumps(decision.to_dict())) < 2_000


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (PROBABILITY, 0.5),
        (POLICY, 0),
        (POLICY, 2),
        (POLICY, 3),
        (VOTES, 0.0),
        (VOTES + 1, 1.5),
        (VOTES, math.nan),
        (SHOWN, 3),
        (ALLOWED, 2),
    ],
)
def test_a_stored_decision_that_was_changed_is_refused(place: int, value: float) -> None:
    model, rows = taught()
    data = model.decide(rows[0]).to_dict()
    data["memo"][place] = None if value != value else value
    before = state_of(model)
    with pytest.raises(DecisionError):
        model.learn(Decision.from_dict(data, model.labels), True)
    assert state_of(model) == before


# Learning


@pytest.mark.skipif(INTERPRETED, reason="takes minutes interpreted")
@pytest.mark.parametrize(("name", "rounds", "least"), [("balance", 6_250, 0.97), ("car", 6_000, 0.97)])
def test_it_learns(name: str, rounds: int, least: float) -> None:
    data = datasets.load(name)
    X, y = data.stream(repeat=10, seed=4, rounds=rounds)
    assert play(GapBoost(data.labels, schema=data.schema(), seed=4), X, y).last_accuracy > least


@pytest.mark.skipif(INTERPRETED, reason="takes minutes interpreted")
def test_exploration_fades_where_the_best_label_is_sure() -> None:
    x, y = np.zeros((3_000, 1)), np.ones(3_000, np.int64)
    result = play(GapBoost(range(4), seed=2), x, y)
    assert result.explored[:100].sum() > 0
    assert result.explored[-1_000:].sum() <= 2


def test_expert_weights_are_a_distribution() -> None:
    model, _ = taught()
    weights = model.expert_weights
    assert weights.shape == (8,)
    assert weights.sum() == pytest.approx(1.0)
    assert int(np.argmax(weights[:-2])) == int(np.argmin(model._losses[:-2]))
    narrow, wide = model._losses[-2:]
    assert weights[-1] / weights[-2] == pytest.approx(math.exp(-0.3 * (wide - narrow)))


def test_a_chain_is_made_when_a_verdict_is_learned() -> None:
    model = GapBoost(range(512), n_learners=2, seed=3)
    open_decisions = [model.decide({"x": float(t)}) for t in range(20)]
    assert model.n_groups == 0
    for decision in reversed(open_decisions[10:]):
        model.learn(decision, False)
    assert model.n_groups == len({decision.label for decision in open_decisions[10:]})
    assert model._stages.weights.shape[1] * LANES < 3 * LANES


def test_of_more_than_512_labels_a_chain_is_made_when_one_is_right() -> None:
    model = GapBoost(range(513), n_learners=2, seed=3)
    for t in range(20):
        model.learn(model.decide({"x": float(t)}), False)
    assert (model.n_groups, model.verdicts) == (0, 20)
    model.learn(model.decide({"x": 1.0}), True)
    assert model.n_groups == 1


# Ridge regressions


def slots_by_meaning(model: Any) -> dict[int, Any]:
    """What the slots of stages 1 and 2 are about: a column and its value, or two of them."""
    layout, names = model._stages.layout, model.schema.names
    values = [model.schema.values(name) or (None,) for name in names]
    about: dict[int, Any] = {0: "constant"}
    for name, column, own in zip(names, layout.columns, values, strict=True):
        about |= {int(column) + code: (name, value) for code, value in enumerate(own)}
    for pair in layout.products:
        i, j, start = (int(pair[field]) for field in ("first", "second", "slot"))
        codes = [(0, 0)] if i == j else list(itertools.product(range(len(values[i])), range(len(values[j]))))
        for place, (one, other) in enumerate(codes):
            about[int(layout.spans["start"][1]) + start + place] = (
                names[i],
                values[i][one],
                names[j],
                values[j][other],
            )
    return about


def regression_by_meaning(model: Any, group: int, kind: str) -> dict[Any, float]:
    """Weights and inverse of one label, by the columns and values that they are about."""
    inverse, weights = (
        getattr(model._stages, kind).inverse[group],
        getattr(model._stages, kind).weights[group],
    )
    about = {slot: meaning for slot, meaning in slots_by_meaning(model).items() if slot < len(weights)}
    assert len(about) == len(weights)
    return {("w", about[i]): weights[i] for i in about} | {
        (about[i], about[j]): inverse[i, j] for i in about for j in about
    }


@pytest.mark.parametrize("kind", ["narrow", "wide"])
def test_regressions_keep_their_meaning_when_columns_and_values_join(kind: str) -> None:
    model = GapBoost(range(3), n_learners=1, seed=1)
    for t in range(40):
        model.learn(model.decide({"n": float(t % 5), "c": "xyz"[t % 3], "d": "pq"[t % 2]}), t % 3 == 0)
    before = [regression_by_meaning(model, group, kind) for group in range(3)]
    assert all(before[group][("c", "y"), ("n", None)] != 0.0 for group in range(3))
    model.decide({"n": 1.0, "c": "new", "late": 2.0, "e": "r"})
    for group in range(3):
        after = regression_by_meaning(model, group, kind)
        assert len(after) > len(before[group])
        assert {key: after[key] for key in before[group]} == before[group]
        new = {key: value for key, value in after.items() if key not in before[group]}
        assert {value for key, value in new.items() if key[0] == key[1]} == {1.0}
        assert {value for key, value in new.items() if key[0] != key[1]} == {0.0}


def test_regressions_end_when_rows_become_wide(tmp_path: Path) -> None:
    """A megabyte has room for 16,384 numbers: two regressions of 65 slots, and not of 129."""
    model = GapBoost(range(2), n_learners=1, max_memory=1 << 20, seed=1)
    model._schema.keeps_all_values = True
    for t in range(64):
        model.learn(model.decide({"c": f"v{t}"}), t % 2 == 0)
    assert (
        model._stages.narrow.inverse.shape == model._stages.wide.inverse.shape == (2, 65, 65)
    )  # one column has no products
    assert np.all(model.expert_weights[-2:] > 0.0)
    model.decide({"c": "one more"})
    assert model._stages.narrow.inverse.shape == model._stages.wide.inverse.shape == (2, 0, 0)
    assert np.all(model.expert_weights[-2:] == 0.0)
    model.learn(model.decide({"c": "v5"}), True)
    model.save(tmp_path / "model.bb")
    assert difference(model, load(tmp_path / "model.bb")) == []


def test_regressions_end_when_labels_are_many() -> None:
    model = GapBoost(range(2), n_learners=1, max_memory=1 << 20, seed=1)
    model._schema.keeps_all_values = True
    for t in range(20):
        model.learn(model.decide({"c": f"v{t}"}), t % 2 == 0)
    slots = [model._scratch.narrow.size for label in range(2, 20) if model.add_label(label) is None]
    assert slots == [33] * 13 + [0] * 5  # room for 32 values: 15 labels x 33 x 33 = 16,335
    assert model._stages.narrow.weights.shape[1] == 0


def test_what_was_tried_less_is_hoped_for_more() -> None:
    """Two labels, equally wrong; rows at 1 have been shown the first one only, rows at -1 the second."""
    model = GapBoost(["first", "second"], n_learners=1, seed=1)
    for t in range(60):
        x, allowed = ({"x": 1.0}, ["first"]) if t % 2 else ({"x": -1.0}, ["second"])
        model.learn(model.decide(x, allowed), correct=t % 4 < 2)
    ahead, behind = model.distribution({"x": 1.0}), model.distribution({"x": -1.0})
    assert ahead["second"] > ahead["first"]
    assert behind["first"] > behind["second"]


@pytest.mark.skipif(INTERPRETED, reason="takes minutes interpreted")
def test_the_inverse_stays_that_of_the_rows() -> None:
    """After 100,000 verdicts on rows of which two columns are the same and two nearly so."""
    luck = np.random.default_rng(1)
    X = luck.normal(size=(100_000, 4))
    X[:, 1] = X[:, 0]
    X[:, 3] = X[:, 2] + 1e-4 * luck.normal(size=len(X))
    model = GapBoost(range(2), n_learners=1, seed=1)
    play(model, X, (X[:, 0] > 0).astype(np.int64))
    for kind, group in itertools.product((model._stages.narrow, model._stages.wide), range(2)):
        inverse = kind.inverse[group]
        assert np.allclose(inverse, inverse.T, rtol=0, atol=1e-6)
        assert np.linalg.eigvalsh(inverse).min() > -1e-9
        assert np.linalg.eigvalsh(inverse).max() <= 1.0 + 1e-9


# Slots


def test_missing_values_are_no_features() -> None:
    schema = Schema.of(["a", "b", "c"], ["numeric", "nominal", "numeric"], [None, ("u", "v"), None])
    model = GapBoost(range(2), n_learners=1, schema=schema, seed=1)
    for t in range(6):
        model.learn(model.decide([float(t), "uv"[t % 2], -float(t * t)]), t % 2 == 0)
    for row, sizes in [
        ((0.0, 1.0, 2.0), (4, 5, 5)),
        ((np.nan, 1.0, 2.0), (3, 2, 2)),
        ((np.nan, np.nan, np.nan), (1, 0, 0)),
    ]:
        list_row(model._state(), np.array(row))
        list_stages(model._state(), 3)
        assert tuple(np.diff(model._scratch.bounds)) == sizes
    assert model._scratch.slots[0] == 0


def test_zeros_of_sparse_columns_are_no_features() -> None:
    """Columns: mostly 0, far from 0, always the same, there in every second row and then the same."""
    model = GapBoost(range(2), n_learners=1, schema=wide_schema(4), seed=1)
    for t in range(8):
        row = [float(t == 3), 10.0 + t % 2, 5.0, -2.0 if t % 2 else np.nan]
        model.learn(model.decide(row), t % 2 == 0)
    for row, expected in [
        ((0.0, 10.0, 5.0, np.nan), [1.0, -1.0]),
        ((1.0, 11.0, 5.0, -2.0), [1.0, 1.0 / math.sqrt(7.0 / 64.0), 1.0, -1.0]),
        ((9.0, 10.5, 7.0, 1.0), [1.0, 4.0, 0.5]),
    ]:
        list_row(model._state(), np.array(row))
        listed = model._scratch.values[: model._scratch.bounds[1]]
        assert listed.tolist() == pytest.approx(expected)


def test_columns_that_are_often_0_or_often_missing() -> None:
    """Columns: 0 in five of eight rows, 0 in four of them, missing in five, missing in four."""
    model = GapBoost(range(2), n_learners=1, schema=wide_schema(4), seed=1)
    for t in range(8):
        lacking = [np.nan if 0 < t < n else t % 2 + 3.0 for n in (6, 5)]
        row = [t - 4.0 if t > 4 else 0.0, float(t % 2), *lacking]
        model.learn(model.decide(row), t % 2 == 0)
    for row, expected in [
        ((0.0, 0.0, np.nan, np.nan), [1.0, -1.0]),
        ((1.0, 1.0, 3.0, 3.0), [1.0, 1 / math.sqrt(14 / 8 - 36 / 64), 1.0, 3 / math.sqrt(34 / 3), -1.0]),
        ((9.0, 0.5, 99.0, 99.0), [1.0, 4.0, 4.0, 4.0]),
    ]:
        list_row(model._state(), np.array(row))
        listed = model._scratch.values[: model._scratch.bounds[1]]
        assert listed.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("declared", [True, False])
def test_rows_before_the_first_value_of_a_column_do_not_lack_it(declared: bool) -> None:
    model = GapBoost(range(2), n_learners=1, schema=wide_schema(2) if declared else None, seed=1)
    for t in range(9):
        x = {"x0": float(t)} if t < 7 else {"x0": float(t), "x1": 40.0 + t}
        model.learn(model.decide(x), t % 2 == 0)
    assert model._stages.statistics["missing"].tolist() == [0.0, 0.0]
    list_row(model._state(), np.array([4.0, 48.5]))
    assert model._scratch.values[: model._scratch.bounds[1]].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("counts", [[1], [1, 1, 2, 3]])
def test_words_that_are_missing_where_they_are_not_said_are_learned(counts: list[int]) -> None:
    """With counts, the mean of those that are there must not be subtracted: it would hide most of them."""
    luck = np.random.default_rng(3)
    X, y = np.full((1500, 40), np.nan), luck.integers(0, 4, 1500)
    for row, label in zip(X, y, strict=True):
        row[luck.integers(0, 40, 5)] = luck.choice(counts, 5)
        row[label * 10 + luck.integers(0, 10, 3)] = luck.choice(counts, 3)
    result = play(GapBoost(range(4), schema=wide_schema(40), seed=1), X, y)
    assert np.mean(result.shown[-500:] == y[-500:]) > 0.6


def weights_by_meaning(model: Any) -> dict[Any, list[float]]:
    """Of every label's weight: which stage, which columns, which values; those that were never touched are
    left out.
    """
    layout, names, found = model._stages.layout, model.schema.names, {}
    values = [model.schema.values(name) or (None,) for name in names]
    for group in range(model.n_groups):
        weights, squares = model._stages.weights[:, group // LANES, :, group % LANES]
        for c, column in enumerate(layout.columns):
            for code, value in enumerate(values[c]):
                found[group, names[c], value] = [weights[column + code], squares[column + code]]
        for stage, pairs in ((1, layout.products), (2, layout.bins)):
            parts = [list(range(11)) if stage == 2 and one == (None,) else one for one in values]
            for i, j, slot, _ in pairs.tolist():
                first = [None] if i == j else parts[i]
                for a, one in enumerate(first):
                    for b, other in enumerate(parts[j]):
                        at = layout.spans["start"][stage] + slot + a * len(parts[j]) + b
                        found[group, stage, names[i], names[j], one, other] = [weights[at], squares[at]]
    return {key: both for key, both in found.items() if both[1] > 0.0}


def test_weights_keep_their_meaning_when_columns_and_values_join() -> None:
    model = GapBoost(range(9), n_learners=1, seed=1)
    rows = [{"n": float(t % 5), "c": "xyz"[t % 3], "d": "pq"[t % 2]} for t in range(40)]
    for t, row in enumerate(rows):
        model.learn(model.decide(row), t % 3 == 0)
    before = weights_by_meaning(model)
    assert len(before) > 40
    model.decide({"n": 1.0, "c": "new", "late": 2.0, "e": "r"})
    assert len(model.schema) == 5
    assert weights_by_meaning(model) == before
    model.learn(model.decide({"n": 3.0, "c": "new", "d": "p", "late": 1.0, "e": "r"}), True)
    assert len(weights_by_meaning(model)) > len(before)


def wide_schema(n_columns: int) -> Schema:
    return Schema.of([f"x{i}" for i in range(n_columns)], ["numeric"] * n_columns, [None] * n_columns)


def test_of_too_many_pairs_some_are_drawn() -> None:
    layout = lay_out(wide_schema(100), 7, 16_384).layout
    pairs = layout.products
    assert len(pairs) == 4_096
    assert len(layout.bins) == 0
    numbers = pairs["second"] * (pairs["second"] + 1) // 2 + pairs["first"]
    assert np.all(np.diff(numbers) > 0)
    draws = np.array([uniform_at(7, 0, 10, number) for number in range(5_050)])
    assert sorted(numbers.tolist()) == sorted(np.argsort(draws, kind="stable")[:4_096].tolist())
    assert len(lay_out(wide_schema(27), 7, 16_384).layout.bins) == 378
    assert len(lay_out(wide_schema(28), 7, 16_384).layout.bins) == 0


def test_a_hashed_stage_follows_the_schema() -> None:
    """Two columns of 200 values need 40,000 slots: more than there are.

    What a pair of values has learned survives a column that joins.
    """
    values = [f"v{i}" for i in range(200)]
    schema = Schema.of(["a", "b"], ["nominal"] * 2, [values, values])
    schema.declared = False
    model = GapBoost(range(2), n_learners=1, schema=schema, seed=1)
    for t in range(30):
        model.learn(model.decide({"a": values[t], "b": values[2 * t]}), t % 2 == 0)
    spans = model._stages.layout.spans
    assert (spans["needed"][1], spans["room"][1]) == (40_000, 16_384)
    sums = model._stages.weights[:, 0, spans["start"][1] :].sum(axis=0).copy()
    model.decide({"late": 3.0})
    after = model._stages.layout.spans
    assert after["needed"][1] == 40_401
    assert np.array_equal(
        model._stages.weights[:, 0, after["start"][1] : after["start"][1] + 16_384].sum(axis=0), sums
    )


# Memory


@pytest.mark.parametrize(
    ("k", "max_memory", "slots"),
    [(26, 256 << 20, 16_384), (1_000, 256 << 20, 4_096), (10_000, 256 << 20, 256)],
)
def test_slots_are_bounded_by_the_ceiling(k: int, max_memory: int, slots: int) -> None:
    model = GapBoost(range(k), schema=wide_schema(89), max_memory=max_memory, seed=1)
    assert model._stages.layout.spans["room"].tolist() == [90, min(slots, 4_005), 0]
    assert 32 * slots * k <= max_memory / 2 or slots == 16_384


@pytest.mark.skipif(INTERPRETED, reason="takes minutes interpreted")
def test_it_stays_under_the_ceiling() -> None:
    stream = make_stream("numeric", 26, 4_000)
    model = GapBoost(range(26), schema=stream.schema(), max_memory=2 << 20, seed=1)
    play(model, stream.X, stream.y)
    assert model.n_groups == 26
    assert model.memory_usage <= 2 << 20
    assert model._committee.forest.nodes["asleep"].any() or model._committee.forest.head["nodes_full"][0]


# What is refused


def test_weak_learners_are_trees() -> None:
    with pytest.raises(
        ParameterError, match="weak_learner is 'tree'; GapBoost's chains are of trees: give a HoeffdingTree"
    ):
        GapBoost(["a", "b"], weak_learner="tree")  # type: ignore[arg-type]


def test_parameters_of_other_boosters_are_unknown() -> None:
    with pytest.raises(TypeError, match="exploration"):
        GapBoost(["a", "b"], exploration=0.1)  # type: ignore[call-arg]


def test_parameters() -> None:
    tree = HoeffdingTree(grace_period=30)
    model = GapBoost(["a", "b"], n_learners=4, weak_learner=tree, max_memory=1 << 24, seed=9)
    made_with = {"n_learners": 4, "weak_learner": tree, "max_memory": 1 << 24, "seed": 9}
    assert model.parameters == {**made_with, "rewards": (0.0, 1.0)}


# Files


def test_open_decisions_survive_a_file(tmp_path: Path) -> None:
    model, rows = taught()
    waiting = [model.decide(x) for x in rows[:8]]
    model.save(tmp_path / "model.bb")
    other = load(tmp_path / "model.bb")
    for decision in reversed(waiting):
        model.learn(decision, decision.label == 0)
        other.learn(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), decision.label == 0)
    assert difference(model, other) == []
    assert model.distribution(rows[9]) == other.distribution(rows[9])


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("groups", 0, 7),
        ("groups", 0, -2),
        ("losses", 0, -1.0),
        ("losses", 1, math.nan),
        ("linear", (0, 0, 0, 0), math.inf),
        ("linear", (1, 0, 0, 0), -1.0),
        ("norms", 2, -1.0),
        ("inverse", (0, 1, 1), math.nan),
        ("ridge", (0, 0), math.inf),
        ("wide_inverse", (0, 1, 1), math.inf),
        ("wide_ridge", (0, 0), math.nan),
        ("wide_rows", (0, 0, 0), math.nan),
        ("wide_rows", (0, 0, 0), 0.5),
        ("wide_rows", (0, 0, 1), 1e300),
        ("wide_rows", (0, 7, 0), 1.0),
        ("wide_goals", (0, 7), 0.5),
        ("wide_goals", (0, 0), 1e300),
        ("wide_goals", (0, 0), math.nan),
        ("statistics", (2, 0), -1.0),
        ("statistics", (3, 0), -1.0),
        ("statistics", (4, 0), -1.0),
        ("statistics", (1, 0), math.nan),
    ],
)
def test_a_forged_file_is_refused(tmp_path: Path, name: str, place: Any, value: float) -> None:
    model, _ = taught()
    model.save(tmp_path / "model.bb")

    def change(_: Any, arrays: Any) -> None:
        arrays[name][place] = value

    with pytest.raises(ModelFileError, match="load an intact copy"):
        load(forge(tmp_path / "model.bb", change))


def test_a_file_from_before_zeros_and_missing_values_were_counted(tmp_path: Path) -> None:
    """Columns that were counted from 0 then, being near it, are so from there on; others from their mean."""
    model = GapBoost(range(2), n_learners=1, schema=wide_schema(3), seed=1)
    for t in range(8):
        model.learn(model.decide([float(t), t - 3.0, float(t == 0)]), t % 2 == 0)
    model.save(tmp_path / "model.bb")

    def cut(_: Any, arrays: Any) -> None:
        arrays["statistics"] = arrays["statistics"][:3]

    other: Any = load(forge(tmp_path / "model.bb", cut))
    assert model._stages.statistics["zeros"].tolist() == [1.0, 1.0, 7.0]
    assert other._stages.statistics["zeros"].tolist() == [0.0, 8.0, 8.0]
    assert not other._stages.statistics["missing"].any()


def test_a_file_from_before_rows_waited(tmp_path: Path) -> None:
    """Inverses of then had not heard of the last lessons yet."""
    model, _ = taught()
    model.save(tmp_path / "model.bb")
    inverse = model._stages.wide.inverse.copy()
    luck = np.random.default_rng(1)

    def put_back(_: Any, arrays: Any) -> None:
        late, shares = np.zeros(arrays["wide_rows"].shape), np.zeros(arrays["wide_goals"].shape)
        late[0, :2], shares[0, :2] = luck.normal(size=late[0, :2].shape) / 1e3, [0.5, 0.25]
        arrays["wide_inverse"][0] += (late[0].T * shares[0]) @ late[0]
        arrays["wide_late"], arrays["wide_shares"] = late, shares
        del arrays["wide_rows"], arrays["wide_goals"]

    other: Any = load(forge(tmp_path / "model.bb", put_back))
    assert np.allclose(other._stages.wide.inverse, inverse, rtol=0, atol=1e-15)
    assert not other._stages.wide.late.any()


@pytest.mark.parametrize("n_rows", [0, 2, 4, 6])
def test_other_statistics_are_refused(tmp_path: Path, n_rows: int) -> None:
    model, _ = taught()
    model.save(tmp_path / "model.bb")

    def resize(_: Any, arrays: Any) -> None:
        arrays["statistics"] = np.resize(arrays["statistics"], (n_rows, arrays["statistics"].shape[1]))

    with pytest.raises(ModelFileError, match="count, mean, squares, zeros and missing"):
        load(forge(tmp_path / "model.bb", resize))


def test_weights_of_other_columns_are_refused(tmp_path: Path) -> None:
    model, _ = taught()
    model.save(tmp_path / "model.bb")

    def cut(_: Any, arrays: Any) -> None:
        arrays["linear"] = arrays["linear"][:, :, :-1]

    with pytest.raises(ModelFileError, match="does not fit the model"):
        load(forge(tmp_path / "model.bb", cut))
