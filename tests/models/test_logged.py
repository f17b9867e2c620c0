"""What models learn from logs: as from their own decisions, apart from them, all or nothing."""

from __future__ import annotations

import copy
import math
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import Schema, baselines
from banditboost.boosting.adaptive import ask_experts
from banditboost.boosting.estimate import estimate, estimated_loss
from banditboost.errors import BanditBoostError, LabelError, LogError
from banditboost.memo import VOTES
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference
from tests.models.interrupting import first_and_last, interrupted, lines_of, lock_is_free, settled_state

LABELS = ["a", "b", "c", "d"]
BOOSTERS = ["AdaBandit", "OptBandit", "BinBandit", "MixBandit", "GapBoost"]
BASELINES = ["EpsilonGreedyForest", "EpsilonGreedyTree", "DiagonalSOBA", "Banditron", "Majority", "Random"]
WITHOUT = ["GapBoost", "EpsilonGreedyForest", "EpsilonGreedyTree", "Majority", "Random"]  # a probability
SHARES = [0.4, 0.3, 0.2, 0.1]
Logged = tuple[dict[str, Any], str, float, float]


def make(name: str, **options: Any) -> Any:
    own = {"n_learners": 4} if name in (*BOOSTERS, "EpsilonGreedyForest") else {}
    home = banditboost if name in BOOSTERS else baselines
    return getattr(home, name)(LABELS, **{"seed": 3, **own, **options})


def log(n_rows: int, first: int = 0) -> list[Logged]:
    """Rows of which ever new features and values come."""
    rows: list[Logged] = []
    for t in range(first, first + n_rows):
        shown = (t * 7 + t // 5) % 4
        x: dict[str, Any] = {"x": float(t * 5 % 11), "colour": "rgbw"[t % 4], "id": f"v{t % 9}"}
        if t > 12:
            x["late"] = t % 3
        rows.append((x, LABELS[shown], float((t % 11 < 6) == (shown < 2)), SHARES[shown]))
    return rows


def taught(name: str, n_rows: int = 40, **options: Any) -> Any:
    model = make(name, **options)
    for row in log(n_rows):
        model.learn_logged(*row)
    return model


def many(model: Any, rows: list[Logged]) -> None:
    X, labels, rewards, probabilities = map(list, zip(*rows, strict=True))
    model.learn_logged_many(X, labels, rewards, probabilities)


# As from decisions


def test_gapboost_learns_a_log_as_its_own_decisions_for_the_shown_label() -> None:
    """To the last bit, but for what is counted."""
    logged, decided = make("GapBoost"), make("GapBoost")
    for x, label, reward, p in log(60):
        logged.learn_logged(x, label, reward, p, allowed=[label])
        decided.learn(decided.decide(x, allowed=[label]), bool(reward))
    assert set(difference(logged, decided)) <= {"counts", "tally", "ledger", "rounds", "settings"}
    assert (logged.logged, logged.verdicts, decided.logged, decided.verdicts) == (60, 0, 0, 60)


@pytest.mark.parametrize("name", ["GapBoost", "EpsilonGreedyForest", "Majority", "Random"])
def test_without_a_probability_it_is_the_same(name: str) -> None:
    told, untold = make(name), make(name)
    for x, label, reward, p in log(30):
        told.learn_logged(x, label, reward, p)
        untold.learn_logged(x, label, reward)
    assert difference(told, untold) == []


@pytest.mark.parametrize(
    "name", ["AdaBandit", "OptBandit", "BinBandit", "MixBandit", "DiagonalSOBA", "Banditron"]
)
def test_who_weighs_by_probability_must_be_told_it(name: str) -> None:
    model = make(name)
    with pytest.raises(
        LogError, match=r"probability is None.*1 / probability; give the probability.*GapBoost"
    ):
        model.learn_logged({"x": 1.0}, "a", 1)
    assert (model.logged, len(model.schema)) == (0, 0)


# Estimates without bias, by enumeration


def mean_estimate(model: Any, row: np.ndarray, right: int, shares: list[float], allowed: Any) -> list[float]:
    """The mean of 1 - lhat over the labels that a policy with these shares may show, from the memos that a
    log's rows get.
    """
    mean = np.zeros(len(LABELS))
    indices = model._indices_of(allowed)
    for label, p in enumerate(shares):
        if p > 0.0:
            lesson = model._lesson_told(None, LABELS[label], float(label == right), p, allowed)
            memo = model._memo_of(row, lesson)
            of = estimate(model._settings, memo, int(label == right))
            mean += p * np.array([1.0 - estimated_loss(of, i) for i in range(len(LABELS))])
    return [float(mean[i]) for i in (range(len(LABELS)) if indices is None else indices)]


@pytest.mark.parametrize("estimator", [3, 4])
@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit", "MixBandit"])
@given(weights=st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4), t=st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_estimates_are_unbiased_whatever_the_policy(
    name: str, estimator: int, weights: list[float], t: int
) -> None:
    model = _TAUGHT.setdefault((name, estimator), taught(name, estimator=estimator))
    row = model._joined(log(1, t)[0][0])
    shares = [weight / sum(weights) for weight in weights]
    for right in range(4):
        expected = [float(label == right) for label in range(4)]
        assert mean_estimate(model, row, right, shares, None) == pytest.approx(expected, abs=1e-9)


_TAUGHT: dict[Any, Any] = {}


@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit", "MixBandit"])
def test_estimates_are_unbiased_among_the_labels_that_were_allowed(name: str) -> None:
    """The right label counts as 1 if it was allowed, and all others as 0."""
    model = taught(name)
    row = model._joined(log(1)[0][0])
    for right in range(4):
        expected = [float(label == right) for label in (0, 2, 3)]
        found = mean_estimate(model, row, right, [0.5, 0.0, 0.2, 0.3], ["a", "c", "d"])
        assert found == pytest.approx(expected, abs=1e-9)


def test_weights_of_experts_move_on_average_as_with_the_right_label() -> None:
    """Through the whole call: Hedge adds up -lhat, so that differences of log v are linear in the estimate."""
    base = taught("AdaBandit")
    x = log(1, 8)[0][0]
    row, n = base._joined(x), base.n_learners
    lesson = base._lesson_told(x, "a", 1.0, 0.4, None)
    experts = _experts(base, base._memo_of(row, lesson))
    assert len(set(experts)) > 1
    for right in range(4):
        moved = np.zeros(n)
        for label, p in enumerate(SHARES):
            model = copy.deepcopy(base)
            before = model._weights[n:].copy()
            model.learn_logged(x, LABELS[label], float(label == right), p)
            moved += p * (model._weights[n:] - before)
        loss = np.array([float(label != right) for label in experts])
        assert moved - moved[0] == pytest.approx(-(loss - loss[0]), abs=1e-9)


def _experts(model: Any, memo: np.ndarray) -> list[int]:
    """What every expert says; ties are drawn as they will be."""
    labels = np.empty(model.n_learners, np.int64)
    ask_experts(model._settings, memo, model._log_seed, labels)
    return [int(label) for label in labels]


def test_binbandit_weighs_by_one_over_the_logged_probability() -> None:
    """And asks the group of the label that was shown, not of the one it would have shown."""
    base = taught("BinBandit", clip=None)
    for label in range(4):
        weights = []
        for p in (1.0, 0.25):
            model = copy.deepcopy(base)
            model.learn_logged(log(1, 8)[0][0], LABELS[label], 1, p)
            weights.append(model._scratch.importance.copy())
        assert weights[1] == pytest.approx(4.0 * weights[0])
        row = base._joined(log(1, 8)[0][0])
        memo = base._memo_of(row, base._lesson_told(None, LABELS[label], 1, 0.5, None))
        alone = base._choose(row, 0, np.array([label]))[0]
        assert np.array_equal(memo[VOTES : base._row_start], alone[VOTES : base._row_start])


# Apart from the model's own verdicts


@pytest.mark.parametrize("name", [*BOOSTERS, *BASELINES])
def test_the_summary_tells_logs_apart(name: str) -> None:
    model = make(name, rewards=(0.0, 2.0))
    model.learn(model.decide({"x": 1.0}), True)
    before = model.summary()
    rows = log(30)
    for x, label, reward, p in rows:
        model.learn_logged(x, label, 2.0 * reward, p)
    after = model.summary()
    assert (after.verdicts, after.open_decisions, after.rounds) == (1, 0, 1)
    assert (after.total, repr(after.recent)) == (before.total, repr(before.recent))
    assert (before.logged, after.logged, model.logged) == (0, 30, 30)
    assert math.isnan(before.logged_mean)
    assert after.logged_mean == pytest.approx(2.0 * sum(row[2] for row in rows) / 30)
    assert f"of logs: 30 rows learned, which earned {after.logged_mean:.3f} on average" in repr(after)
    assert "of logs" not in repr(before)


@pytest.mark.parametrize("name", [*BOOSTERS, *BASELINES])
def test_files_and_copies_go_on_to_the_last_bit(name: str, tmp_path: Path) -> None:
    """Decisions, verdicts and rows of logs in turns; a file has the counters."""

    def live(model: Any, first: int) -> list[Any]:
        seen = []
        for t, row in enumerate(log(25, first), first):
            model.learn_logged(*row)
            decision = model.decide(row[0])
            seen.append((decision.label, decision.probability))
            if t % 2:
                model.learn(decision, decision.label == "a")
        return seen

    model = make(name)
    live(model, 0)
    model.save(tmp_path / "model.bb")
    loaded, copied = banditboost.load(tmp_path / "model.bb"), copy.deepcopy(model)
    assert (loaded.logged, loaded.verdicts) == (25, 12)
    assert banditboost.io.describe(tmp_path / "model.bb")["logged"] == 25
    seen = live(model, 25)
    assert live(loaded, 25) == live(copied, 25) == seen
    assert {*difference(loaded, copied)} <= {"ledger"}
    assert (loaded.logged, loaded.verdicts, loaded.summary().open_decisions) == (50, 25, 25)


def test_a_file_without_logs_does_not_speak_of_them() -> None:
    model = make("GapBoost")
    model.learn(model.decide({"x": 1.0}), True)
    assert "logged" not in model._arrays()
    model.learn_logged({"x": 1.0}, "a", 0)
    assert model._arrays()["logged"].tolist() == [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]


def test_branches_and_labels_that_join_or_go() -> None:
    model = taught("GapBoost", 20)
    branch = model.branch()
    branch.learn_logged({"x": 1.0}, "a", 1)
    assert (branch.logged, branch.verdicts, model.logged) == (21, 0, 20)
    decision = branch.decide({"x": 2.0})
    model.learn(decision, True)
    assert (model.verdicts, model.logged) == (1, 20)
    model.add_label("e")
    model.learn_logged({"x": 1.0}, "e", 1, 0.5)
    model.remove_label("b")
    with pytest.raises(LabelError, match=r"label 'b' was removed; leave it out, or bring it back"):
        model.learn_logged({"x": 1.0}, "b", 1, 0.5)
    assert model.logged == 21


def test_values_that_come_again_get_a_place_of_their_own() -> None:
    """The fifth value of a nominal feature needs to come twice, in logs as in decisions."""
    logged, decided = make("GapBoost"), make("GapBoost")
    for t in range(60):
        x = {"id": f"v{t % 20}"}
        logged.learn_logged(x, "a", 1)
        decided.learn(decided.decide(x, allowed=["a"]), True)
    assert logged.schema.values("id") == decided.schema.values("id")
    assert len(logged.schema.values("id")) == 20


def test_of_many_labels_those_that_earned_nothing_are_known_as_such() -> None:
    """A label without a chain is less hoped for, the more often logs have shown it in vain."""
    logged, decided = (banditboost.GapBoost(range(600), seed=1) for _ in range(2))
    for t in range(40):
        logged.learn_logged({"x": t % 5}, t % 2, 0)
        decided.learn(decided.decide({"x": t % 5}, allowed=[t % 2]), False)
    assert logged.n_groups == 0
    assert logged.distribution({"x": 1}) == decided.distribution({"x": 1})


def test_warm_start() -> None:
    """After the log the model knows the best label, and goes on by itself."""
    for name in BOOSTERS:
        model = make(name, n_learners=10)
        luck = np.random.default_rng(5)
        for _ in range(1500):
            x, shown = {"x": float(luck.integers(8))}, int(luck.choice(4, p=SHARES))
            model.learn_logged(x, LABELS[shown], float(shown == (2 if x["x"] < 4 else 0)), SHARES[shown])
        found = [model.decide({"x": float(x)}).greedy for x in range(8)]
        assert found == ["c"] * 4 + ["a"] * 4, name


# Many, interrupts, threads


@pytest.mark.parametrize("kind", ["dicts", "frame", "matrix"])
@pytest.mark.parametrize("name", [*BOOSTERS, *BASELINES])
def test_many_are_as_one_by_one(name: str, kind: str) -> None:
    import pandas as pd

    rows = log(50)
    if kind == "matrix":
        rows = [(np.array([row[0]["x"], t % 3.0]), *row[1:]) for t, row in enumerate(rows)]  # type: ignore[misc]
    one, all_ = make(name), make(name)
    for row in rows:
        one.learn_logged(*row)
    X: Any = [row[0] for row in rows]
    if kind == "frame":
        X = pd.DataFrame(X)
    elif kind == "matrix":
        X = np.array(X)
    all_.learn_logged_many(X, *map(list, list(zip(*rows, strict=True))[1:]))
    assert difference(one, all_) == []


CALLS: dict[str, Any] = {
    "known": lambda m: m.learn_logged({"x": 1.0, "colour": "r"}, "a", 1, 0.5),
    "what has no learners yet": lambda m: m.learn_logged({"x": 1.0, "colour": "r"}, "d", 1, 0.5),
    "what is new": lambda m: m.learn_logged({"x": 1.0, "colour": "w", "new": 2.0}, "a", 1, 0.5),
    "many": lambda m: many(m, [row for row in log(12, 20) if row[1] != "c"]),
}


@pytest.mark.skipif(INTERPRETED, reason="interpreted kernels can be interrupted")
@pytest.mark.parametrize("name", ["AdaBandit", "BinBandit", "GapBoost", "Majority"])
def test_a_row_is_learned_or_it_is_not(name: str) -> None:
    """Whatever was interrupted, and wherever: the model is as before the call or as after it."""
    base = make(name)
    for x, label, reward, p in log(12):
        if label == "a":
            base.learn_logged({"x": x["x"], "colour": x["colour"]}, label, reward, p)
    for told, call in CALLS.items():
        before = settled_state(copy.deepcopy(base))
        call(copy.deepcopy(base))
        done = copy.deepcopy(base)
        lines = lines_of(partial(call, done))
        after = settled_state(done)
        for at in first_and_last(lines)[:: 4 if told == "many" else 1]:
            model = copy.deepcopy(base)
            where = interrupted(partial(call, model), at)
            assert lock_is_free(model), where
            seen = model.rounds, model.verdicts, model.logged
            found = settled_state(model)
            assert seen == (model.rounds, model.verdicts, model.logged), where
            assert found in (before, after), (where, [key for key in before if found[key] != after[key]])


def test_threads_share_a_model() -> None:
    model = make("GapBoost")
    rows = log(100)
    threads = [threading.Thread(target=lambda: [model.learn_logged(*row) for row in rows]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (model.logged, model.verdicts) == (400, 0)


class Fails:
    """A weak learner that fails at its third lesson."""

    def __init__(self) -> None:
        self.seen = 0

    def predict(self, x: np.ndarray) -> int:  # noqa: ARG002 (whatever the row)
        return 0

    def learn(self, x: np.ndarray, label: int, weight: float) -> None:  # noqa: ARG002 (as above)
        self.seen += 1
        if self.seen == 3:
            raise ArithmeticError("the third")


def test_learners_in_python_learn_from_logs_and_may_fail() -> None:
    model = banditboost.AdaBandit(["a", "b"], n_learners=1, weak_learner=Fails, seed=1)
    for t in range(8):
        try:
            model.learn_logged({"x": t}, "b", 1, 0.5)
        except ArithmeticError:
            assert model.logged == t
    assert model.logged == 7


# Bad input

BAD_ROWS: list[tuple[Any, ...]] = [
    ({"x": 1.0}, "z", 1, 0.5),
    ({"x": 1.0}, ["a"], 1, 0.5),
    ({"x": 1.0}, "a", 7, 0.5),
    ({"x": 1.0}, "a", -0.1, 0.5),
    ({"x": 1.0}, "a", math.nan, 0.5),
    ({"x": 1.0}, "a", None, 0.5),
    ({"x": 1.0}, "a", "1", 0.5),
    ({"x": 1.0}, "a", 10**400, 0.5),
    ({"x": 1.0}, "a", 1, 0.0),
    ({"x": 1.0}, "a", 1, -0.5),
    ({"x": 1.0}, "a", 1, 1.01),
    ({"x": 1.0}, "a", 1, math.nan),
    ({"x": 1.0}, "a", 1, 1e-31),
    ({"x": 1.0}, "a", 1, "0.5"),
    ({"x": 1.0}, "a", 1, True),
    ({"x": math.inf}, "a", 1, 0.5),
    ({"x": "text where numbers are", "new": [1]}, "a", 1, 0.5),
    (None, "a", 1, 0.5),
    ("a row", "a", 1, 0.5),
]


@pytest.mark.parametrize("bad", BAD_ROWS, ids=repr)
@pytest.mark.parametrize("name", ["GapBoost", "BinBandit"])
def test_what_is_refused_changes_nothing(name: str, bad: tuple[Any, ...]) -> None:
    schema = Schema(numeric=["x"], nominal={"colour": ["r"]})
    model = make(name, schema=schema)
    model.learn_logged({"x": 2.0}, "a", 1, 0.5)
    before = settled_state(copy.deepcopy(model))
    for call in (
        lambda: model.learn_logged(*bad),
        lambda: model.learn_logged_many(
            *[[good, one] for good, one in zip(({"x": 3}, "b", 1, 1), bad, strict=True)]
        ),
    ):
        with pytest.raises(BanditBoostError) as refused:
            call()
        assert str(refused.value)
        assert settled_state(model) == before


def test_lists_that_do_not_fit() -> None:
    model = make("GapBoost")
    for rewards, probabilities, told in (
        ([1], None, "there are 2 rows and 1 rewards; give one for each row"),
        (1.0, None, r"rewards is 1\.0; give a list with one for each row"),
        ([1, 0], [0.5], "2 rows and 1 probabilities"),
        ([1, 0], [0.5, math.nan], "row 1 of 2: probability is nan; give the probability"),
        ([1, 3], [0.5, 0.5], "row 1 of 2: reward is 3; give a number from 0 to 1"),
    ):
        with pytest.raises(LogError, match=told):
            model.learn_logged_many([{"x": 1}, {"x": 2}], ["a", "b"], rewards, probabilities)
    with pytest.raises(LabelError, match="label is 'a', which is not among the allowed ones"):
        model.learn_logged({"x": 1}, "a", 1, allowed=["b", "c"])
    assert (model.logged, len(model.schema)) == (0, 0)
    model.learn_logged_many([], [], [])
    assert model.logged == 0


ANY = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)


@given(
    x=st.one_of(ANY, st.dictionaries(st.text(max_size=2), ANY, max_size=3)),
    label=st.one_of(st.sampled_from(LABELS), ANY),
    reward=ANY,
    probability=ANY,
    allowed=st.one_of(st.none(), st.lists(st.one_of(st.sampled_from(LABELS), ANY), max_size=4), ANY),
)
@settings(max_examples=2000, deadline=None)
def test_any_row_is_learned_whole_or_refused(
    x: Any, label: Any, reward: Any, probability: Any, allowed: Any
) -> None:
    model = _TAUGHT.setdefault("any", taught("AdaBandit", 10))
    logged, names = model.logged, model.schema.names
    try:
        model.learn_logged(x, label, reward, probability, allowed=allowed)
    except BanditBoostError:
        assert (model.logged, model.schema.names) == (logged, names)
    else:
        assert model.logged == logged + 1
    assert math.isclose(sum(model.distribution({"x": 1.0}).values()), 1.0)


def test_ten_thousand_labels() -> None:
    model = banditboost.GapBoost(range(10_000), seed=1)
    model.learn_logged_many([{"x": t} for t in range(50)], list(range(50)), [t % 10 == 0 for t in range(50)])
    assert (model.logged, model.n_groups) == (50, 5)
    assert math.isclose(sum(model.distribution({"x": 3}).values()), 1.0)
