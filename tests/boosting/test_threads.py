"""Threads that share a model: each call is done before the next one begins, whatever the threads do, and
nothing is lost.
"""

from __future__ import annotations

import copy
import pickle
import queue
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import AdaBandit, AdaFull, Decision, GapBoost, PendingDecisions, baselines, play
from banditboost.checks.threads import run_together
from banditboost.rows.by_columns import ByColumns
from tests.boosting.kernels import INTERPRETED
from tests.boosting.states import difference
from tests.boosting.streams import growing_rows, make_stream
from tests.boosting.twins import DECIDERS, make_booster

THREADS = 16
CALLS = 500 if INTERPRETED else 100_000  # decisions and verdicts, of all threads together
K, N = 4, 3


class Log:
    """What a model was asked and told, in the order in which its lock let callers in."""

    def __init__(self, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, Any, Any]] = []
        kind = type(model)
        decide, decide_next, learn, learn_list = (
            kind._decide,
            kind._coded_one_by_one,
            kind._learn,
            kind._learn_from_list,
        )

        def begin_round(booster: Any, x: Any, allowed: Any) -> Any:
            if booster is model:
                self.calls.append(("decide", x, None))
            return decide(booster, x, allowed)

        def begin_next(draft: Any, rows: Any) -> Any:
            for t, coded in enumerate(decide_next(draft, rows)):
                x = rows._row(t) if isinstance(rows, ByColumns) else rows[t]
                self.calls.append(("decide", x, None))
                yield coded

        def learn_verdict(booster: Any, decision: Decision, correct: bool, reward: float | None) -> None:
            before = len(self.calls)
            learn(booster, decision, correct, reward)
            if booster is model and len(self.calls) == before:  # else it was learned from a list
                self.calls.append(("learn", decision.round, bool(correct)))

        def learn_verdicts(booster: Any, told: Any) -> None:
            listed = list(told)
            learn_list(booster, listed)
            if booster is model:
                self.calls += [("learn", decision.round, bool(correct)) for decision, correct in listed]

        monkeypatch.setattr(kind, "_decide", begin_round)
        monkeypatch.setattr(kind, "_coded_one_by_one", begin_next)
        monkeypatch.setattr(kind, "_learn", learn_verdict)
        monkeypatch.setattr(kind, "_learn_from_list", learn_verdicts)

    def replay(self, model: Any) -> Iterator[list[Decision]]:
        """Do the same, one after the other, with a fresh model; what was decided so far, before the first
        call and after each.
        """
        made: list[Decision] = []
        yield made
        for name, what, outcome in self.calls:
            if name == "decide":
                made.append(model.decide(what))
            else:
                model.learn(made[what], outcome)
            yield made


def share(model: Any, rows: list[Any], right: Callable[[Decision], bool], n_deciders: int) -> list[Decision]:
    """Most threads decide, the others learn, in any order; each row is decided for once, and each decision
    learned once.
    """
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    made: list[Decision] = []
    n_writers = THREADS - n_deciders

    def decide(mine: list[Any]) -> None:
        for x in mine:
            decision = model.decide(x)
            made.append(decision)
            waiting.put(decision)

    def learn(n: int) -> None:
        for _ in range(n):
            decision = waiting.get(timeout=60)
            model.learn(decision, right(decision))

    lots = [len(range(i, len(rows), n_writers)) for i in range(n_writers)]
    run_together(
        [
            *(partial(decide, rows[i::n_deciders]) for i in range(n_deciders)),
            *(partial(learn, n) for n in lots),
        ]
    )
    return made


def expect_nothing_lost(model: Any, made: list[Decision], n: int) -> None:
    assert (model.rounds, model.verdicts) == (n, n)
    assert sorted(decision.round for decision in made) == list(range(n))
    for decision in made:
        shares = decision.distribution()
        assert shares[decision.label] == decision.probability
        assert sum(shares.values()) == pytest.approx(1.0, abs=1e-12)


def expect_same_as_replay(log: Log, model: Any, fresh: Any, made: list[Decision]) -> None:
    *_, replayed = log.replay(fresh)
    in_order = sorted(made, key=lambda decision: decision.round)
    assert all(
        np.array_equal(one._memo, other._memo, equal_nan=True)
        for one, other in zip(in_order, replayed, strict=True)
    )
    assert difference(model, fresh) == []


def label_is_a(decision: Decision) -> bool:
    return decision.label == 0


@pytest.mark.parametrize(
    ("name", "n_deciders", "calls"),
    [("AdaBandit", 15, CALLS), ("AdaBandit", 8, CALLS // 5), ("GapBoost", 15, CALLS // 10)],
)
def test_a_hundred_thousand_calls_of_sixteen_threads_are_those_of_one(
    name: str, n_deciders: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The final state, and every number of every decision, are those of the same calls one after the
    other.
    """
    n = calls // 2
    rows = list(make_stream("numeric", K, n).X)
    model, fresh = make_booster(name, K, N), make_booster(name, K, N)
    log = Log(model, monkeypatch)
    made = share(model, rows, label_is_a, n_deciders)
    expect_nothing_lost(model, made, n)
    expect_same_as_replay(log, model, fresh, made)


OTHERS: dict[str, Callable[[], Any]] = {
    **{name: partial(make_booster, name, K, N) for name in DECIDERS},
    **{name: partial(getattr(baselines, name), range(K), seed=1) for name in baselines.__all__},
}


@pytest.mark.parametrize("name", OTHERS)
def test_features_may_join_while_others_learn(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 60 if INTERPRETED else 1_500
    model, fresh = OTHERS[name](), OTHERS[name]()
    log = Log(model, monkeypatch)
    made = share(model, growing_rows(make_stream("mixed", K, n)), label_is_a, 12)
    expect_nothing_lost(model, made, n)
    expect_same_as_replay(log, model, fresh, made)


@pytest.mark.parametrize("name", ["AdaBandit", "OptBandit", "BinBandit", "GapBoost"])
def test_copies_made_meanwhile_are_of_one_moment(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files, pickles and deep copies: each is the model after some number of calls, no call half done."""
    n, n_copies = (40, 6) if INTERPRETED else (1_000, 30)
    rows = list(make_stream("numeric", K, n).X)
    model, fresh = make_booster(name, K, N), make_booster(name, K, N)
    log = Log(model, monkeypatch)
    copies: list[Any] = []

    def save(number: int) -> Any:
        model.save(tmp_path / f"{number}.bb")
        return banditboost.load(tmp_path / f"{number}.bb")

    def copying() -> None:
        for i in range(n_copies):
            copies.append(
                save(i)
                if i % 3 == 0
                else pickle.loads(pickle.dumps(model))
                if i % 3 == 1
                else copy.deepcopy(model)
            )

    def play_rows(mine: list[Any]) -> None:
        for x in mine:
            model.learn(model.decide(x), correct=True)

    run_together([copying, *(partial(play_rows, rows[i::4]) for i in range(4))])
    moments = {(made.rounds, made.verdicts): made for made in copies}
    for _ in log.replay(fresh):
        found = moments.pop((fresh.rounds, fresh.verdicts), None)
        assert found is None or [part for part in difference(found, fresh) if part != "learners"] == []
    assert not moments, "a copy of a moment that never was"


def test_a_stream_that_is_played_is_one_call() -> None:
    """Decisions of others come before it or after it."""
    n = 60 if INTERPRETED else 4_000
    rows = make_stream("numeric", K, n)
    model = make_booster("AdaBandit", K, N)
    made: list[Decision] = []

    def decide() -> None:
        for x in rows.X[: n // 4]:
            made.append(model.decide(x))

    run_together([lambda: play(model, rows.X, rows.y), *[decide] * 4])
    played = sorted(set(range(model.rounds)) - {decision.round for decision in made})
    assert model.rounds == n + len(made) == n + n // 4 * 4
    assert played == list(range(played[0], played[0] + n))
    assert model.verdicts == n


def test_full_information_predicts_while_it_learns() -> None:
    """Shares of one state sum to 1, and all rows are learned."""
    n = 40 if INTERPRETED else 1_000
    stream = make_stream("numeric", K, n)
    model = AdaFull(range(K), n_learners=N, seed=1)

    def learn() -> None:
        for x, y in zip(stream.X, stream.y.tolist(), strict=True):
            model.learn_one(x, y)

    def predict() -> None:
        for x in stream.X:
            assert sum(model.predict_proba_one(x).values()) == pytest.approx(1.0, abs=1e-12)
            assert model.expert_weights.sum() == pytest.approx(1.0, abs=1e-12)

    run_together([*[learn] * 3, *[predict] * 3])
    assert (model.rounds, model.verdicts) == (3 * n, 3 * n)


def test_what_can_be_looked_at_is_of_one_state() -> None:
    n = 40 if INTERPRETED else 1_000
    stream = make_stream("numeric", K, n)
    model = GapBoost(range(K), n_learners=N, seed=1)
    model.decide(stream.X[0])

    def learn() -> None:
        for x in stream.X:
            model.learn(model.decide(x), correct=False)

    def look() -> None:
        for x in stream.X:
            assert sum(model.distribution(x).values()) == pytest.approx(1.0, abs=1e-12)
            assert model.expert_weights.sum() == pytest.approx(1.0, abs=1e-12)

    run_together([*[learn] * 2, *[look] * 2])
    assert model.verdicts == 2 * n


def test_a_store_of_open_decisions_is_shared() -> None:
    """Through the store and beside it: every id is learned once, whoever is first."""
    n = 20 if INTERPRETED else 400
    model = AdaBandit(range(K), n_learners=N, seed=1)
    pending = PendingDecisions(model)
    x = {"age": 31.0}
    outcomes: list[str] = []

    def visit(name: str) -> None:
        for i in range(n):
            pending.decide(f"{name}-{i}", x)
            model.learn(model.decide(x), correct=True)
            outcomes.append(pending.learn(f"{name}-{i}", correct=False))

    def repeat(name: str) -> None:
        for i in range(n):
            outcomes.append(pending.learn(f"{name}-{i}", correct=True))

    run_together(
        [*(partial(visit, name) for name in "abcdefgh"), *(partial(repeat, name) for name in "abcdefgh")]
    )
    assert (model.rounds, model.verdicts) == (16 * n, 16 * n)
    assert len(pending) == 0
    counted = pending.counters
    assert counted["added"] == counted["learned"] == 8 * n
    assert outcomes.count("learned") == 8 * n
    assert (
        outcomes.count("duplicate") + outcomes.count("unknown")
        == counted["duplicate"] + counted["unknown"]
        == 8 * n
    )


def test_copies_get_a_lock_of_their_own() -> None:
    model = AdaBandit(range(K), n_learners=N, seed=1)
    with model._lock:  # as in the middle of a call
        copies = [copy.deepcopy(model), copy.copy(model), pickle.loads(pickle.dumps(model))]
        run_together([partial(copied.decide, {"age": 31.0}) for copied in copies])
    assert [copied.rounds for copied in copies] == [1, 1, 1]
    assert model.rounds == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_model_that_refers_to_itself_can_be_copied(copied: Callable[[Any], Any]) -> None:
    model: Any = AdaBandit(range(K), n_learners=N, seed=1)
    model.note = {"about": model}
    twin = copied(model)
    assert twin.note["about"] is twin
    assert twin is not model
