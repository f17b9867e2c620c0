"""`decide` and `learn`: a decision is complete, and its verdict may come any time later, once."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, Decision, Schema
from banditboost import decision as module
from banditboost.boosting import ledger
from banditboost.errors import BanditBoostError, DecisionError, FeatureError
from banditboost.kernels import layout
from banditboost.kernels.rng import EXPERT, EXPLORE
from tests.boosting.states import difference, state_of
from tests.boosting.streams import make_stream
from tests.boosting.twins import BANDITS, make_booster, shape_of
from tests.naive import rng as keyed

K, N = 3, 4
STREAM = make_stream("mixed", K, 120)


@pytest.fixture(params=BANDITS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def make(name: str, seed: int = 5, **options: Any) -> Any:
    return make_booster(name, K, N, schema=STREAM.schema(), seed=seed, **options)


def taught(name: str, n_rounds: int = 40, seed: int = 5) -> Any:
    """A model that has been through some rounds."""
    model = make(name, seed)
    for x, y in zip(STREAM.X[:n_rounds], STREAM.y.tolist(), strict=False):
        decision = model.decide(x)
        model.learn(decision, decision.label == y)
    return model


# The decision


def test_decision_cannot_be_changed(name: str) -> None:
    decision = make(name).decide(STREAM.X[0])
    for attribute in ("label", "greedy", "probability", "round", "explored", "model_id", "anything"):
        with pytest.raises(AttributeError):
            setattr(decision, attribute, 1)
    decision.distribution()[decision.label] = 0.0
    assert decision.distribution()[decision.label] == decision.probability


def test_decision_owes_nothing_to_the_row_it_was_made_for(name: str) -> None:
    model, twin = make(name), make(name)
    row = STREAM.X[0].copy()
    decision = model.decide(row)
    row[:] = np.nan
    model.learn(decision, True)
    twin.learn(twin.decide(STREAM.X[0]), True)
    assert difference(model, twin) == []


def test_decision_is_small(name: str) -> None:
    """Votes, weights, row and a few numbers: what it takes, and not what the model takes."""
    model = taught(name)
    decision = model.decide(STREAM.X[0])
    numbers = 8 + 2 * N + len(model.schema)
    assert sys.getsizeof(decision) < 100
    assert decision._memo.nbytes == 8 * numbers
    assert len(pickle.dumps(decision)) < 8 * numbers + 600


def test_slots_of_the_memo_are_the_kernels() -> None:
    ours = (module._ROUND, module._SHOWN, module._GREEDY, module._EXPERT, module._PROBABILITY, module._RATE, module._VOTES)
    theirs = (layout.ROUND, layout.SHOWN, layout.GREEDY, layout.CHOSEN_EXPERT, layout.PROBABILITY, layout.RATE, layout.VOTES)
    assert ours == theirs


def via_json(decision: Decision, model: Any) -> Decision:
    return Decision.from_dict(json.loads(json.dumps(decision.to_dict())), model.labels)


def via_pickle(decision: Decision, model: Any) -> Decision:  # noqa: ARG001
    copied = pickle.loads(pickle.dumps(decision))
    assert isinstance(copied, Decision)
    return copied


def via_copy(decision: Decision, model: Any) -> Decision:  # noqa: ARG001
    return copy.deepcopy(decision)


@pytest.mark.parametrize("travel", [via_json, via_pickle, via_copy])
def test_decision_survives_a_journey(name: str, travel: Any) -> None:
    """Learned after it has waited elsewhere it has the same effect, to the last bit."""
    model, twin = taught(name), taught(name)
    for x, y in zip(STREAM.X[40:80], STREAM.y[40:80].tolist(), strict=True):
        decision, expected = travel(model.decide(x), model), twin.decide(x)
        assert (decision.label, decision.greedy, decision.round) == (expected.label, expected.greedy, expected.round)
        assert decision.distribution() == expected.distribution()
        model.learn(decision, decision.label == y)
        twin.learn(expected, expected.label == y)
    assert difference(model, twin) == []


def test_decisions_are_equal_if_all_is(name: str) -> None:
    model = make(name)
    decision, another = model.decide(STREAM.X[0]), model.decide(STREAM.X[0])
    again = via_json(decision, model)
    assert again == decision
    assert hash(again) == hash(decision)
    assert another != decision
    assert decision != "decision"
    assert "round=0" in repr(decision)


@pytest.mark.parametrize("labels", [["a", "b"], [("a", 1), ("b", 2)], list(np.arange(2)), [None, 0.5]], ids=str)
def test_json_carries_a_decision_of_any_labels(labels: list[Any]) -> None:
    """Labels are any hashable names; a store need not know them."""
    model = AdaBandit(labels, n_learners=2, seed=1)
    decision = model.decide({"x": 1.0})
    assert via_json(decision, model) == decision


def test_from_dict_refuses_what_it_cannot_read() -> None:
    model = make("AdaBandit")
    data = model.decide(STREAM.X[0]).to_dict()
    with pytest.raises(DecisionError, match="format 99"):
        Decision.from_dict({**data, "format": 99}, model.labels)
    with pytest.raises(DecisionError, match=r"3 labels.*2 were given"):
        Decision.from_dict(data, model.labels[:2])


# What learn refuses


def refused(model: Any, decision: Any, correct: Any) -> str:
    """The message of the refusal, after a look at whether anything has changed."""
    before = state_of(model)
    with pytest.raises(DecisionError) as error:
        model.learn(decision, correct)
    assert state_of(model) == before
    assert isinstance(error.value, BanditBoostError)
    return str(error.value)


def test_learning_twice_is_refused(name: str) -> None:
    model = taught(name)
    decision = model.decide(STREAM.X[0])
    model.learn(decision, True)
    for again in (decision, via_json(decision, model)):
        message = refused(model, again, False)
        assert "round 40" in message
        assert "once" in message


def test_decision_of_another_model_is_refused(name: str) -> None:
    model, other = taught(name), taught(name)
    decision = other.decide(STREAM.X[0])
    message = refused(model, decision, True)
    assert other.model_id in message
    assert model.model_id in message
    assert "learn it there" in message
    other.learn(decision, True)  # where it belongs it is welcome


@pytest.mark.parametrize("verdict", [1, 0, None, "yes", 1.0, np.int64(1), np.float64(0.0), [True], np.array([True])], ids=repr)
def test_verdict_must_be_a_bool(name: str, verdict: Any) -> None:
    model = taught(name, 5)
    decision = model.decide(STREAM.X[0])
    message = refused(model, decision, verdict)
    assert f"correct is {verdict!r}" in message
    assert "give True" in message
    model.learn(decision, True)


def test_numpy_bools_are_verdicts(name: str) -> None:
    model, twin = taught(name), taught(name)
    for verdict in (True, False):
        model.learn(model.decide(STREAM.X[50]), np.bool_(verdict))
        twin.learn(twin.decide(STREAM.X[50]), verdict)
    assert difference(model, twin) == []


@pytest.mark.parametrize("thing", ["sports", None, 3, {"label": 1}], ids=repr)
def test_what_is_not_a_decision_is_refused(thing: Any) -> None:
    assert "give what decide returned" in refused(taught("AdaBandit", 5), thing, True)


def test_decision_of_the_future_is_refused(name: str) -> None:
    """A copy of the model that has gone on makes decisions that this one knows nothing of."""
    model = taught(name)
    later = copy.deepcopy(model)
    later.decide(STREAM.X[0])
    message = refused(model, later.decide(STREAM.X[1]), True)
    assert "round 41" in message
    assert "40 decisions" in message


# What decide refuses


BAD_ROWS = [
    np.array([1.0, np.inf]),
    np.array(["a", "b"]),
    np.zeros((2, 2)),
    [1.0, float("inf")],
    [1.0, [2]],
    {"a": 1.0, "b": [2]},
    {"a": 1.0, "b": 1e999},
]


@pytest.mark.parametrize("row", BAD_ROWS, ids=repr)
def test_refused_row_leaves_no_trace(name: str, row: Any) -> None:
    """Neither in a model that knows its features nor in one that has yet to meet them."""
    for model in (taught(name, 5), make_booster(name, K, N, schema=Schema())):
        before = state_of(model)
        with pytest.raises(FeatureError):
            model.decide(row)
        assert state_of(model) == before


# Late, in any order, or never


def test_rounds_and_verdicts_are_counted(name: str) -> None:
    model = make(name)
    decisions = [model.decide(x) for x in STREAM.X[:10]]
    assert [decision.round for decision in decisions] == list(range(10))
    assert (model.rounds, model.verdicts) == (10, 0)
    for decision in decisions[::3]:
        model.learn(decision, False)
    assert (model.rounds, model.verdicts) == (10, 4)


def test_order_of_verdicts_changes_no_draw(name: str) -> None:
    """Whatever was learned, round t draws with the numbers of round t."""
    forward, backward = make(name), make(name)
    batches = [[model.decide(x) for x in STREAM.X[:30]] for model in (forward, backward)]
    for decision in batches[0]:
        forward.learn(decision, True)
    for decision in reversed(batches[1]):
        backward.learn(decision, False)
    for x in STREAM.X[30:60]:
        one, other = forward.decide(x), backward.decide(x)
        assert one.explored == other.explored
        assert one.probability == other.probability


def recomputed(model: Any, decision: Decision) -> tuple[float, float]:
    """The numbers that drew the expert and the label, from the seed and the round alone."""
    return (
        keyed.uniform(model.seed, decision.round, keyed.EXPERT, 0),
        keyed.uniform(model.seed, decision.round, keyed.EXPLORE, 0),
    )


def test_every_draw_can_be_recomputed(name: str) -> None:
    assert (EXPERT, EXPLORE) == (keyed.EXPERT, keyed.EXPLORE)
    model = make(name, exploration=0.5)
    for x, y in zip(STREAM.X, STREAM.y.tolist(), strict=True):
        log_weights = model._weights[N:].tolist() if name == "AdaBandit" else None
        decision = model.decide(x)
        expert, shown = recomputed(model, decision)
        assert decision.label == keyed.show(shown, decision.greedy, 0.5, K)
        if log_weights is not None:
            assert int(decision._memo[layout.CHOSEN_EXPERT]) == keyed.draw(expert, np.exp(log_weights).tolist())
        model.learn(decision, decision.label == y)


def test_decisions_do_not_depend_on_verdicts_not_yet_told(name: str) -> None:
    """Whether verdicts will ever come, and what they will be, changes nothing before they do."""
    deaf, patient = make(name), make(name)
    expected = [deaf.decide(x) for x in STREAM.X[:60]]
    found = [patient.decide(x) for x in STREAM.X[:60]]
    assert [d._memo.tobytes() for d in found] == [d._memo.tobytes() for d in expected]
    for decision, y in zip(found[:20], STREAM.y.tolist(), strict=False):
        patient.learn(decision, decision.label == y)
    assert deaf.decide(STREAM.X[60]).round == patient.decide(STREAM.X[60]).round


def test_open_decisions_change_nothing_for_the_others(name: str) -> None:
    """Two models hear the same verdicts in the same order; in one of them each round is decided long before its verdict comes.

    What differs is what the algorithm implies: the votes at the moment of the decision. The draws do not.
    """
    prompt, late = make(name), make(name)
    ahead = [late.decide(x) for x in STREAM.X[:40]]
    for x, decision in zip(STREAM.X, ahead, strict=False):
        now = prompt.decide(x)
        assert now.explored == decision.explored
        prompt.learn(now, True)
        late.learn(decision, True)
    assert prompt.verdicts == late.verdicts == 40


def test_ten_thousand_decisions_may_be_open() -> None:
    """They are only remembered by whoever holds them: the model keeps a bit of each."""
    model = make("AdaBandit")
    before = model.memory_usage
    held = [model.decide(STREAM.X[t % 100]) for t in range(10_000)]
    assert model.memory_usage - before <= 10_000 // 8 * 2 + 64
    for t in np.random.default_rng(1).permutation(10_000)[:200].tolist():
        model.learn(held[t], held[t].label == STREAM.y[t % 100])
    assert (model.rounds, model.verdicts) == (10_000, 200)


def test_features_may_join_before_a_verdict_comes(name: str) -> None:
    """Two features join in round 30, verdicts come 15 rounds late: a row is learned as if what has joined since had been missing."""
    rows = [row if t >= 30 else {"f0": row["f0"], "f1": row["f1"]} for t, row in enumerate(STREAM.dicts())]
    models = [make_booster(name, K, N, schema=schema) for schema in (Schema(), Schema.of(STREAM.names, STREAM.kinds))]
    for model in models:
        waiting = []
        for row in rows[:80]:
            waiting.append(model.decide(row))
            if len(waiting) > 15:
                model.learn(waiting[0], waiting.pop(0).label == 1)
    open_, declared = models
    assert open_.schema.names == declared.schema.names
    assert open_._weights.tobytes() == declared._weights.tobytes()
    roots = [int(tree["root"]) for tree in open_._committee.forest.trees]
    assert [shape_of(open_._committee, root) for root in roots] == [shape_of(declared._committee, root) for root in roots]


# The ledger of learned rounds


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(ledger, "WINDOW", 32)
    return 32


def test_rounds_older_than_the_window_are_closed(name: str, window: int) -> None:
    model = make(name)
    decisions = [model.decide(STREAM.X[t % 100]) for t in range(100)]
    message = refused(model, decisions[100 - window - 1], True)
    assert "too old" in message
    model.learn(decisions[100 - window], True)
    assert "once" in refused(model, decisions[100 - window], True)
    assert model.memory_usage < 10**6
    assert model._ledger.memory_usage == window // 8


def test_bits_are_used_again(name: str, window: int) -> None:
    """Three times around the window, every decision learned once, late, and refused the second time."""
    model = make(name)
    waiting: list[Decision] = []
    for t in range(3 * window):
        waiting.append(model.decide(STREAM.X[t % 100]))
        if len(waiting) > window - 5:
            decision = waiting.pop(0)
            model.learn(decision, True)
            assert "once" in refused(model, decision, True)
    assert model.verdicts == 3 * window - (window - 5)


@pytest.mark.parametrize("n_rounds", [0, 1, 7, 8, 9, 31, 32, 33, 64, 200])
def test_ledger_against_a_set(n_rounds: int, window: int) -> None:
    book, learned = ledger.Ledger(), set()
    luck = np.random.default_rng(n_rounds)
    for t in range(n_rounds):
        book.open_up_to(t + 1)
        for round_ in luck.integers(max(0, t + 1 - window), t + 1, 2).tolist():
            assert book.is_learned(round_) == (round_ in learned)
            book.mark(round_)
            learned.add(round_)
    for round_ in range(n_rounds):
        assert book.is_too_old(round_) == (round_ < n_rounds - window)
        if not book.is_too_old(round_):
            assert book.is_learned(round_) == (round_ in learned)


def test_many_rounds_at_once(window: int) -> None:
    """As `play` opens and marks them."""
    book = ledger.Ledger()
    book.open_up_to(10)
    book.mark(3)
    book.open_up_to(75)
    rounds = np.array([2, 40, 43, 50, 74])
    book.mark_all(rounds)
    open_rounds = range(75 - window, 75)
    assert [round_ for round_ in open_rounds if book.is_learned(round_)] == [43, 50, 74]
