"""A model that was saved and loaded goes on as if nothing had happened, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import Decision, HoeffdingTree, Schema, play
from banditboost.models import ledger
from banditboost.models.model import Model
from banditboost.registry import BASELINES, BOOSTERS, OFFERING, model_class
from tests.boosting.states import difference, refusal
from tests.boosting.streams import growing_rows, make_stream
from tests.boosting.twins import ALL_BOOSTERS, DECIDERS, GAP, make_booster, parameters_of
from tests.io.models import HALF, STREAM, K, N, go_on, raw_header, reloaded, same, trained
from tests.trees.forests import INTERPRETED
from tests.weak_learners.invariants import check_committee


@pytest.fixture(params=ALL_BOOSTERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_public_model_can_be_loaded() -> None:
    """`load` takes what is registered; nothing public is forgotten there, and each name is its class's
    own.
    """
    things = map(banditboost.__getattr__, banditboost._HOMES)
    public = {thing for thing in things if isinstance(thing, type) and issubclass(thing, Model)}
    assert {model_class(name) for name in (*BOOSTERS, *OFFERING)} == public
    assert set(BASELINES) == set(banditboost.baselines.__all__)
    for name in (*BOOSTERS, *OFFERING, *BASELINES):
        assert model_class(name).__name__ == name


@pytest.mark.parametrize("leaf_prediction", ["majority", "naive_bayes", "adaptive"])
def test_resume_equals_going_on(name: str, leaf_prediction: str, tmp_path: Path) -> None:
    model = trained(name, leaf_prediction=leaf_prediction)
    copy = reloaded(model, tmp_path / "a")
    assert same(model, copy)
    rest, labels = STREAM.dicts()[HALF:], STREAM.y[HALF:]
    assert go_on(model, rest, labels) == go_on(copy, rest, labels)
    assert same(model, copy)


def test_trees_that_look_at_some_columns_resume(name: str, tmp_path: Path) -> None:
    model = trained(name, weak_learner=HoeffdingTree(max_columns=2, leaf_prediction="adaptive"))
    copy = reloaded(model, tmp_path / "a")
    rest, labels = STREAM.dicts()[HALF:], STREAM.y[HALF:]
    assert go_on(model, rest, labels) == go_on(copy, rest, labels)
    assert same(model, copy)
    check_committee(copy._committee)


def test_a_model_that_has_seen_nothing(name: str, tmp_path: Path) -> None:
    model = make_booster(name, K, N)
    copy = reloaded(model, tmp_path / "a")
    assert same(model, copy)
    assert go_on(model, STREAM.dicts(), STREAM.y) == go_on(copy, STREAM.dicts(), STREAM.y)
    assert same(model, copy)


@pytest.mark.parametrize(
    "at", [1, HALF // 2 + 1] if INTERPRETED else [1, HALF * 3 // 8, HALF // 2 + 1, HALF - 1, HALF + 1]
)
def test_schemas_that_grow(name: str, at: int, tmp_path: Path) -> None:
    """Features and values join before and after the save."""
    rows = growing_rows(STREAM)
    model = make_booster(name, K, N)
    go_on(model, rows[:at], STREAM.y)
    copy = reloaded(model, tmp_path / "a")
    assert same(model, copy)
    assert go_on(model, rows[at:], STREAM.y[at:]) == go_on(copy, rows[at:], STREAM.y[at:])
    assert same(model, copy)
    check_committee(copy._committee)


@pytest.mark.parametrize("kind", ["declared", "array", "list"])
def test_every_kind_of_schema(kind: str, tmp_path: Path) -> None:
    rows: list[Any] = (
        list(STREAM.X)
        if kind != "list"
        else [[None if v != v else v for v in row] for row in STREAM.X.tolist()]
    )
    model = make_booster("AdaBandit", K, N, schema=STREAM.schema() if kind == "declared" else None)
    go_on(model, rows[:HALF], STREAM.y)
    copy = reloaded(model, tmp_path / "a")
    assert copy.schema.to_dict() == model.schema.to_dict()
    assert go_on(model, rows[HALF:], STREAM.y[HALF:]) == go_on(copy, rows[HALF:], STREAM.y[HALF:])
    assert same(model, copy)


@pytest.mark.parametrize("name", DECIDERS)
def test_decisions_that_were_open(name: str, tmp_path: Path) -> None:
    """Decided before the save, learned after it, as they are and through JSON; those learned before are
    refused.
    """
    model = make_booster(name, K, N)
    decisions = [model.decide(x) for x in STREAM.dicts()[:60]]
    for decision in decisions[::3]:
        model.learn(decision, decision.round % 2 == 0)
    copy = reloaded(model, tmp_path / "a")
    for decision in decisions:
        if decision.round % 3:
            model.learn(decision, decision.round % 4 < 2)
            copy.learn(Decision.from_dict(json.loads(json.dumps(decision.to_dict()))), decision.round % 4 < 2)
        else:
            with pytest.raises(banditboost.errors.DecisionError, match="learned before"):
                copy.learn(decision, True)
    assert same(model, copy)


def test_between_two_streams_of_play(name: str, tmp_path: Path) -> None:
    model = make_booster(name, K, N)
    play(model, STREAM.X[:HALF], STREAM.y[:HALF], delay=7, lost=0.1)
    copy = reloaded(model, tmp_path / "a")
    results = [play(which, STREAM.X[HALF:], STREAM.y[HALF:]) for which in (model, copy)]
    assert np.array_equal(results[0].shown, results[1].shown)
    assert same(model, copy)


@pytest.mark.skipif(INTERPRETED, reason="a mebibyte takes many rounds to fill")
@pytest.mark.parametrize("name", ["AdaFull", "BinBandit"])
def test_at_the_memory_ceiling(name: str, tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    X, y = draw.normal(size=(9000, 10)), draw.integers(0, 4, 9000)
    model = make_booster(name, 4, 6, max_memory=1 << 20)
    play(model, X[:6000], y[:6000])
    assert np.any(model._committee.forest.nodes["asleep"])
    copy = reloaded(model, tmp_path / "a")
    assert same(model, copy)
    play(model, X[6000:], y[6000:])
    play(copy, X[6000:], y[6000:])
    assert same(model, copy)


def test_a_ledger_that_has_gone_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(ledger, "REMEMBERED", 32)
    model = make_booster("AdaBandit", K, 2)
    decisions = [model.decide(x) for x in STREAM.X[:100]]
    for decision in decisions[70::2]:
        model.learn(decision, True)
    copy = reloaded(model, tmp_path / "a")
    for decision in decisions:
        assert refusal(copy._identity.ledger, decision.round, copy.rounds) == refusal(
            model._identity.ledger, decision.round, model.rounds
        )


_FOLDER = tempfile.TemporaryDirectory()
LABELS = [
    None,
    True,
    2,
    2.5,
    "ä",
    b"\xff",
    ("a", (1, None)),
    np.int64(7),
    np.str_("s"),
    float("inf"),
    10**30,
    -0.0,
]


def test_labels_and_names_keep_their_types(tmp_path: Path) -> None:
    model = banditboost.AdaFull(LABELS, n_learners=2, seed=1)
    for t in range(30):
        model.learn_one({"x": t, ("t", 1): "é" * (t % 3), 5: t % 2 == 0, b"b": 0.5}, LABELS[t % len(LABELS)])
    copy = reloaded(model, tmp_path / "a")
    assert same(model, copy)
    assert list(map(type, copy.schema.names)) == [str, tuple, int, bytes]
    assert copy.schema.values(("t", 1)) == ("", "é", "éé")


def test_what_cannot_be_stored_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    model = banditboost.AdaBandit([frozenset("a"), "b"], seed=1)
    with pytest.raises(banditboost.errors.ModelFileError, match=r"a\.bb: .*frozenset.*can be stored"):
        model.save(tmp_path / "a.bb")
    assert list(tmp_path.iterdir()) == []


def test_boosters_of_others_are_refused(tmp_path: Path) -> None:
    class Mine(banditboost.AdaBandit):
        """A booster written elsewhere."""

    with pytest.raises(banditboost.errors.ModelFileError, match="Mine is not one of the library's boosters"):
        Mine(["a", "b"]).save(tmp_path / "a")


def test_loading_does_not_warn_again(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="exploration is 0"):
        model = banditboost.AdaBandit(["a", "b"], exploration=0.0, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert reloaded(model, tmp_path / "a").exploration == 0.0


def test_parameters_make_the_same_model_again(name: str) -> None:
    options: dict[str, Any] = {"max_memory": 1 << 22}
    if name != GAP:
        options |= {"clip": 3.0, "importance_scale": 0.5, "tie_tolerance": 1e-3}
    model = make_booster(name, K, N, **options)
    again = type(model)(model.labels, **model.parameters)
    assert difference(model, again) == []
    assert {key: model.parameters[key] for key in options} == options
    assert model.parameters.keys() >= parameters_of(name).keys()


@settings(max_examples=10 if INTERPRETED else 40)
@given(st.data())
def test_any_model_at_any_time(data: st.DataObject) -> None:
    """Random boosters, settings, streams and moments; saved several times on the way."""
    name = data.draw(st.sampled_from(ALL_BOOSTERS))
    k, n = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 5))
    stream = make_stream(
        data.draw(st.sampled_from(["mixed", "numeric", "nominal"])), k, 60, seed=data.draw(st.integers(0, 99))
    )
    rows = (
        growing_rows(stream)
        if stream.kinds[1] == "nominal" and stream.kinds[0] == "numeric"
        else stream.dicts()
    )
    leaf_prediction = data.draw(st.sampled_from(["majority", "naive_bayes", "adaptive"]))
    options = {} if name == GAP else {"clip": data.draw(st.sampled_from([1.0, 100.0]))}
    model, copy = (make_booster(name, k, n, leaf_prediction=leaf_prediction, **options) for _ in range(2))
    copy.model_id = model.model_id
    path = Path(_FOLDER.name) / "model.bb"
    at = 0
    for step in data.draw(st.lists(st.integers(0, 25), min_size=1, max_size=3)):
        assert go_on(model, rows[at : at + step], stream.y[at:]) == go_on(
            copy, rows[at : at + step], stream.y[at:]
        )
        at += step
        copy = reloaded(copy, path)
        assert difference(model, copy) == []


_LEARNS = """
import json, sys, banditboost
from banditboost import Decision
model = banditboost.load(sys.argv[1])
for line in open(sys.argv[2]):
    stored = json.loads(line)
    decision = Decision.from_dict(stored)
    assert decision.label == stored["label"]
    model.learn(decision, decision.label == "science")
model.save(sys.argv[1])
"""


@pytest.mark.parametrize("name", DECIDERS)
def test_decisions_are_learned_in_another_process(name: str, tmp_path: Path) -> None:
    labels = ["sports", "politics", "science"]
    model = getattr(banditboost, name)(labels, n_learners=3, seed=1)
    decisions = [model.decide(x) for x in STREAM.dicts()[:40]]
    model.save(tmp_path / "model.bb")
    (tmp_path / "log").write_text(
        "".join(json.dumps(decision.to_dict()) + "\n" for decision in decisions[::-1])
    )
    subprocess.run([sys.executable, "-c", _LEARNS, tmp_path / "model.bb", tmp_path / "log"], check=True)
    for decision in decisions[::-1]:
        model.learn(decision, decision.label == "science")
    assert same(model, banditboost.load(tmp_path / "model.bb"))


def test_schemas_refuse_what_they_cannot_be() -> None:
    good = Schema(numeric=["a"], nominal={"b": ["x"]}).to_dict()
    assert Schema.from_dict(good).to_dict() == good
    bad: list[dict[str, Any]] = [
        {}, {**good, "names": ["a"]}, {**good, "names": ["a", "a"]}, {**good, "values": [None, [1]]},
        {**good, "values": [None, ["x", "x"]]},
        {**good, "declared": 1}, {**good, "positions": -1}, {**good, "positions": True},
        {**good, "values": [None, "x"]},
        {**good, "values": [None, [str(i) for i in range(257)]]},
    ]  # fmt: skip
    for data in bad:
        with pytest.raises(banditboost.errors.FeatureError):
            Schema.from_dict(data)


def test_the_file_says_what_it_was_made_with(tmp_path: Path) -> None:
    model = banditboost.BinBandit(["a", "b"], edge=0.2, step=0.01, exploration=0.07, seed=3)
    model.save(tmp_path / "a")
    stored = raw_header(tmp_path / "a")["parameters"]
    assert (stored["edge"], stored["step"], stored["exploration"], stored["seed"]) == (0.2, 0.01, 0.07, 3)
