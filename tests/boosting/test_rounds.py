"""`decide` and `learn`: the verdict on a decision may come any time later, in any order, once, or never."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, Decision, Schema
from banditboost import memo as layout
from banditboost.compiled.compile import Kernel
from banditboost.compiled.rng import EXPERT, EXPLORE
from banditboost.errors import FeatureError
from tests.boosting.kernels import INTERPRETED
from tests.boosting.rounds import STREAM, K, N, make, refused, taught
from tests.boosting.states import difference, state_of
from tests.boosting.twins import BANDITS, DECIDERS, make_booster, shape_of
from tests.naive import rng as keyed


@pytest.fixture(params=DECIDERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# Rows that are arrays


class Row(np.ndarray):
    """A kind of array of somebody else."""


VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "of a column": lambda x: np.tile(x, (3, 1)).T.copy()[:, 1],
    "backwards": lambda x: x[::-1].copy()[::-1],
    "that cannot be written": lambda x: np.frombuffer(x.tobytes()),
    "at an odd address": lambda x: np.frombuffer(b" " + x.tobytes(), np.float64, offset=1),
    "of another class": lambda x: x.view(Row),
    "of the other byte order": lambda x: x.astype(">f8"),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_any_view_of_a_row_is_that_row(name: str, view: Callable[[np.ndarray], np.ndarray]) -> None:
    model, twin = make(name), make(name)
    for x, y in zip(STREAM.X[:6], STREAM.y.tolist(), strict=False):
        given = view(x)
        decision, same = model.decide(given), twin.decide(x)
        if given.flags.writeable:
            given[:] = np.nan  # the decision owes nothing to it any more
        assert decision._memo.tobytes() == same._memo.tobytes()
        for booster, made in ((model, decision), (twin, same)):
            booster.learn(made, made.label == y)
    assert difference(model, twin) == []


# What learn refuses


def test_learning_twice_is_refused(name: str) -> None:
    model = taught(name)
    decision = model.decide(STREAM.X[0])
    model.learn(decision, True)
    for again in (decision, copy.copy(decision)):
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


@pytest.mark.parametrize(
    "verdict", [2, -1, None, "yes", 1.0, np.int64(3), np.float64(0.0), [True], np.array([True])], ids=repr
)
def test_verdict_must_be_right_or_wrong(name: str, verdict: Any) -> None:
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
    assert "another run" in message
    assert "branch()" in message


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


@pytest.mark.parametrize("name", BANDITS)  # GapBoost explores by what it knows, not at a rate
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


@pytest.mark.parametrize("name", BANDITS)  # GapBoost explores by what it knows, not at a rate
def test_every_draw_can_be_recomputed(name: str) -> None:
    assert (EXPERT, EXPLORE) == (keyed.EXPERT, keyed.EXPLORE)
    model = make(name, exploration=0.5)
    for x, y in zip(STREAM.X, STREAM.y.tolist(), strict=True):
        log_weights = model._weights[N:].tolist() if name == "AdaBandit" else None
        decision = model.decide(x)
        expert, shown = recomputed(model, decision)
        assert decision.label == keyed.show(shown, decision.greedy, 0.5, K)
        if log_weights is not None:
            assert int(decision._memo[layout.CHOSEN_EXPERT]) == keyed.draw(
                expert, np.exp(log_weights).tolist()
            )
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


@pytest.mark.parametrize("name", BANDITS)  # GapBoost explores by what it knows, not at a rate
def test_open_decisions_change_nothing_for_the_others(name: str) -> None:
    """Two models hear the same verdicts in the same order; in one of them each round is decided long before
    its verdict comes.

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
    n = 1_000 if INTERPRETED else 10_000
    held = [model.decide(STREAM.X[t % 100]) for t in range(n)]
    assert model.memory_usage - before <= n // 8 * 2 + 64
    for t in np.random.default_rng(1).permutation(n)[: n // 50].tolist():
        model.learn(held[t], held[t].label == STREAM.y[t % 100])
    assert (model.rounds, model.verdicts) == (n, n // 50)


def same_weights(one: Any, other: Any) -> bool:
    """Whether two models have learned the same weights, whatever their layout."""
    names = [name for name in ("_weights", "_log_alphas", "_losses") if hasattr(one, name)]
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in names)


def test_features_may_join_before_a_verdict_comes(name: str) -> None:
    """Two features join in round 30, verdicts come 15 rounds late: a row is learned as if what has joined
    since had been missing.
    """
    rows = [row if t >= 30 else {"f0": row["f0"], "f1": row["f1"]} for t, row in enumerate(STREAM.dicts())]
    models = [
        make_booster(name, K, N, schema=schema)
        for schema in (Schema(), Schema.of(STREAM.names, STREAM.kinds))
    ]
    for model in models:
        waiting = []
        for row in rows[:80]:
            waiting.append(model.decide(row))
            if len(waiting) > 15:
                model.learn(waiting[0], waiting.pop(0).label == 1)
    open_, declared = models
    assert open_.schema.names == declared.schema.names
    assert same_weights(open_, declared)
    roots = [int(tree["root"]) for tree in open_._committee.forest.trees]
    assert [shape_of(open_._committee, root) for root in roots] == [
        shape_of(declared._committee, root) for root in roots
    ]


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_first_decision_compiles_nothing_that_learning_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling is most of the time that a first decision takes."""
    asked: list[str] = []
    real = Kernel._compiled

    def compiled(kernel: Any, kinds: Any) -> Any:
        asked.append(kernel.__qualname__)
        return real(kernel, kinds)

    monkeypatch.setattr(Kernel, "_compiled", compiled)
    monkeypatch.setattr(AdaBandit.compiled_round, "codes", {})  # as in a fresh process
    model = AdaBandit(["yes", "no"], n_learners=2, seed=1)
    decision = model.decide({"x": 1.0})
    assert asked[-1] == "decide_choose"
    assert not {"learn_forest", "learn_teach"} & set(asked)
    model.learn(decision, True)
    assert asked[-1] == "learn_teach"
