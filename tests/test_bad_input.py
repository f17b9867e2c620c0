"""Every door, with good and bad input: what is refused changes nothing and says why; what is accepted gives a
valid decision.
"""

from __future__ import annotations

import copy
import datetime
import math
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numba import config

from banditboost import AdaBandit, BinBandit, Decision, OptBandit, Schema, play
from banditboost.errors import BanditBoostError, DecisionError, FeatureError, LabelError, ParameterError
from tests.boosting.forged import forged
from tests.weak_learners.invariants import check_committee

LABELS = ["a", "b", "c"]
REMEDY = re.compile(r"\b(give|declare|must|at least|learn it|load|once|they are)\b")
NAN = math.nan


def examples(rows_of_each: float) -> settings:
    """Every door sees 2,000 rows."""
    return settings(max_examples=round((100 if config.DISABLE_JIT else 2000) / rows_of_each))


MANY = examples(1)


# Models to knock at


def fresh() -> AdaBandit:
    return AdaBandit(LABELS, n_learners=2, seed=1)


def warmed(rows: list[Any], schema: Schema | None = None) -> AdaBandit:
    model = AdaBandit(LABELS, n_learners=2, schema=schema, exploration=0.3, seed=1)
    for t, row in enumerate(rows * 6):
        decision = model.decide(row)
        model.learn(decision, decision.label == LABELS[t % 3])
    return model


NAMED_ROWS = [{"n": 1.0, "s": "x"}, {"n": 2.5, "s": "y"}, {"n": -1.0}]
DECLARED = Schema(numeric=["n"], nominal={"s": ["x", "y"]})
MODELS: dict[str, AdaBandit] = {}


def model_called(name: str) -> AdaBandit:
    """A copy of one of a few models, each made once."""
    makers: dict[str, Callable[[], AdaBandit]] = {
        "fresh": fresh,
        "named": lambda: warmed(NAMED_ROWS),
        "declared": lambda: warmed(NAMED_ROWS, copy.deepcopy(DECLARED)),
        "by position": lambda: warmed([[1.0, "x"], (2.5, "y"), [NAN, "x"]]),
        "arrays": lambda: warmed([np.array([1.0, 2.0]), np.array([NAN, -1.0])]),
    }
    if name not in MODELS:
        MODELS[name] = makers[name]()
    return copy.deepcopy(MODELS[name])


any_model = st.sampled_from(["fresh", "named", "declared", "by position", "arrays"])


def state_of(model: AdaBandit) -> Any:
    """All that a call could have changed."""
    forest = getattr(model._committee, "forest", ())
    schema = model.schema
    return (
        repr((schema.to_dict(), schema.version, len(schema))), model.rounds, model.verdicts, len(model._blank), bytes(model._identity.ledger.bits),
        model._identity.ledger.room,
        model._counts.tobytes(), model._settings.tobytes(), [array.tobytes() for array in forest],
    )  # fmt: skip


def knock(model: AdaBandit, call: Callable[[AdaBandit], Any]) -> Any:
    """The answer; or None after a refusal that changed nothing and names a remedy."""
    before = state_of(model)
    try:
        return call(model)
    except BanditBoostError as refusal:
        message = str(refusal)
    assert state_of(model) == before
    assert REMEDY.search(message), message
    return None


def check_decision(model: AdaBandit, decision: Decision, round_: int) -> None:
    """Valid, and fit to be learned."""
    shares = decision.distribution()
    assert decision.round == round_
    assert model.rounds == round_ + 1
    assert list(shares) == LABELS
    assert decision.label in LABELS
    assert decision.greedy in LABELS
    assert decision.probability == shares[decision.label] > 0
    assert sum(shares.values()) == pytest.approx(1.0)
    assert decision.explored == (decision.label != decision.greedy)
    model.learn(decision, correct=decision.label == "a")
    check_committee(model._committee)  # type: ignore[arg-type]


def decide(name: str, row: Any) -> None:
    model = model_called(name)
    round_ = model.rounds
    decision = knock(model, lambda model: model.decide(row))
    if decision is not None:
        check_decision(model, decision, round_)


# Rows

GOOD_VALUES = st.one_of(
    st.floats(allow_infinity=False),
    st.integers(),
    st.booleans(),
    st.text(max_size=3),
    st.sampled_from(
        [
            None,
            NAN,
            pd.NA,
            pd.NaT,
            np.float32(2),
            np.int16(-3),
            np.bool_(True),
            np.str_("x"),
            Decimal("2.5"),
            "x",
            "y",
        ]
    ),
)
BAD_VALUES = st.sampled_from(
    [
        math.inf, -math.inf, np.float64("inf"), 10**400, b"x", [1.0], {"a": 1}, {1}, (1, 2),
        datetime.date(2024, 2, 29), 1j, object(),
        datetime.datetime(2024, 2, 29), np.datetime64("2024-02-29"), Decimal("NaN"), Decimal("sNaN"),
        Decimal("Infinity"), Fraction(1, 2),
        np.array([1.0]), bytearray(b"x"), range(3), pd.Timestamp("2024-02-29"),
    ]
)  # fmt: skip
VALUES = st.one_of(GOOD_VALUES, GOOD_VALUES, GOOD_VALUES, BAD_VALUES)
NAMES = st.sampled_from(["n", "s", "x0", "x1", "new", 0, None, ("pair", 1)])
DICTS = st.dictionaries(NAMES, VALUES, max_size=4)
LISTS = st.lists(VALUES, max_size=4) | st.tuples(VALUES, VALUES)
NOT_ROWS = st.sampled_from(
    [
        None,
        5,
        1.5,
        "text",
        b"x",
        {1, 2},
        object(),
        dict,
        np.array({"n": 1.0}, dtype=object),
        np.float64(1),
        True,
    ]
)
ELEMENTS = st.floats(width=32) | st.sampled_from([0.0, 1.0, NAN, math.inf])


@given(name=any_model, row=DICTS)
@MANY
def test_decide_with_dict_rows(name: str, row: dict[Any, Any]) -> None:
    decide(name, row)


@given(name=any_model, row=LISTS | NOT_ROWS)
@MANY
def test_decide_with_list_rows(name: str, row: Any) -> None:
    decide(name, row)


def arrays(shapes: st.SearchStrategy[tuple[int, ...]]) -> st.SearchStrategy[np.ndarray]:
    whole = st.integers(-2, 3)
    return st.one_of(
        hnp.arrays(np.float64, shapes, elements=ELEMENTS),
        hnp.arrays(np.float32, shapes, elements=ELEMENTS),
        hnp.arrays(st.sampled_from([np.int64, np.int8]), shapes, elements=whole),
        hnp.arrays(st.sampled_from([np.bool_, np.complex128, "U2", "S2", "M8[D]"]), shapes),
        hnp.arrays(np.object_, shapes, elements=VALUES),
    )


@given(name=any_model, row=arrays(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3)))
@MANY
def test_decide_with_array_rows(name: str, row: np.ndarray) -> None:
    decide(name, row)


ANY_ROW = st.one_of(DICTS, LISTS, arrays(st.tuples(st.integers(1, 2))))


@given(name=any_model, rows=st.lists(ANY_ROW, min_size=2, max_size=5))
@examples(3.5)
def test_decide_with_rows_of_all_kinds_in_turn(name: str, rows: list[Any]) -> None:
    """Rows with and without names may meet in one model: what one brings must not trip the next."""
    model = model_called(name)
    for row in rows:
        round_ = model.rounds
        decision = knock(model, lambda model, row=row: model.decide(row))
        if decision is not None:
            check_decision(model, decision, round_)


# Streams

RIGHT = st.sampled_from([*LABELS, "a", "b"]) | st.sampled_from(["d", 0, None, NAN])
DELAYS = st.sampled_from(
    [0, 0, 0, 2, -1, 1.5, None, True, lambda u: u * 3, lambda u: u[:-1], lambda u: u - 1]
)
LOST = st.sampled_from([0.0, 0.0, 0.0, 0.5, -0.1, 1.0, NAN, "x", None])


def play_at(name: str, X: Any, y: Any, delay: Any, lost: Any) -> None:
    model = model_called(name)
    round_ = model.rounds
    result = knock(model, lambda model: play(model, X, y, delay=delay, lost=lost))
    if result is not None:
        assert model.rounds == round_ + len(result.y) == round_ + len(X)
        assert set(result.shown.tolist()) <= {0, 1, 2}
        check_committee(model._committee)  # type: ignore[arg-type]


@given(
    name=any_model,
    X=arrays(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3)),
    data=st.data(),
    delay=DELAYS,
    lost=LOST,
)
@examples(1.5)
def test_play_with_matrices(name: str, X: np.ndarray, data: st.DataObject, delay: Any, lost: Any) -> None:
    y = data.draw(
        st.lists(st.sampled_from(LABELS), min_size=len(X), max_size=len(X)) | st.lists(RIGHT, max_size=3)
    )
    play_at(name, X, y, delay, lost)


@given(
    name=any_model,
    rows=st.lists(st.tuples(st.one_of(DICTS, DICTS, LISTS, NOT_ROWS), RIGHT), max_size=4),
    delay=DELAYS,
    lost=LOST,
)
@examples(2)
def test_play_with_lists_of_rows(name: str, rows: list[tuple[Any, Any]], delay: Any, lost: Any) -> None:
    play_at(name, [row for row, _ in rows], [label for _, label in rows], delay, lost)


@pytest.mark.parametrize(
    "X",
    [None, 5, "text", {"n": [1.0]}, iter([{"n": 1.0}]), {1}, np.array("x"), np.zeros((1, 1, 1))],
    ids=type,
)
def test_play_refuses_what_is_no_stream(X: Any) -> None:
    with pytest.raises(FeatureError, match=r"X (is of type|has shape) .*; give a matrix"):
        play(fresh(), X, ["a"])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_play_names_the_column_of_a_frame_that_cannot_be_learned_from(frame: Any) -> None:
    model = fresh()
    columns = {"n": [1.0, 2.0], "raw": [b"x", b"y"]}
    assert knock(model, lambda model: play(model, frame(columns), ["a", "b"])) is None
    with pytest.raises(FeatureError, match=r"feature 'raw' is b'x' of type bytes; give a string"):
        play(model, frame(columns), ["a", "b"])


def test_labels_of_a_stream_must_fit() -> None:
    bad = {
        "y has shape": ["a"],
        "y holds 'z'.*labels": ["a", "z"],
        "indices from 0 to 3": np.array([0, 3]),
        "y ": [["a"], ["b"]],
    }
    for message, y in bad.items():
        with pytest.raises(LabelError, match=message):
            play(fresh(), np.zeros((2, 1)), y)


def test_a_row_without_any_feature_is_a_row() -> None:
    for row in [{}, {"n": None}]:
        model = fresh()
        for t in range(5):
            check_decision(model, model.decide(row), t)
        check_decision(model, model.decide({"n": 1.0}), 5)
    assert play(fresh(), [{}, {}, {"n": 1.0}], ["a", "b", "c"]).learned == 3


def test_a_first_row_without_names_cannot_leave_out_a_feature() -> None:
    """Whether it is refused or not, the next row of that length must be welcome."""
    model = fresh()
    knock(model, lambda model: model.decide([None, 1.0]))
    round_ = model.rounds
    check_decision(model, model.decide([2.0, 1.0]), round_)


# Verdicts

# The memo is the round, what was shown, greedy, drawn, its probability, the rate, two spare numbers; two
# votes, two weights; n and s.
DAMAGES: dict[str, Callable[[list[Any]], Any]] = {
    "short": lambda memo: memo[:6],
    "long": lambda memo: [*memo, 1.0, 2.0],
    "no round": lambda memo: [None, *memo[1:]],
    "half round": lambda memo: [memo[0] + 0.5, *memo[1:]],
    "future": lambda memo: [memo[0] + 1e6, *memo[1:]],
    "past": lambda memo: [-1.0, *memo[1:]],
    "label 7": lambda memo: [memo[0], 7.0, *memo[2:]],
    "greedy -1": lambda memo: [*memo[:2], -1.0, *memo[3:]],
    "no chance": lambda memo: [*memo[:4], 0.0, *memo[5:]],
    "vote 9": lambda memo: [*memo[:8], 9.0, *memo[9:]],
    "vote -1": lambda memo: [*memo[:8], -1.0, *memo[9:]],
    "half a vote": lambda memo: [*memo[:8], 0.5, *memo[9:]],
    "no weight": lambda memo: [*memo[:10], None, *memo[11:]],
    "endless weight": lambda memo: [*memo[:10], math.inf, *memo[11:]],
    "rate 0": lambda memo: [*memo[:5], 0.0, *memo[6:]],
    "rate 7": lambda memo: [*memo[:5], 7.0, *memo[6:]],
    "infinite": lambda memo: [*memo[:-2], math.inf, memo[-1]],
    "code 99": lambda memo: [*memo[:-1], 99.0],
    "code -1": lambda memo: [*memo[:-1], -1.0],
    "half a code": lambda memo: [*memo[:-1], 0.5],
    "text": lambda memo: ["x", *memo[1:]],
    "no list": len,
}


def stored(decision: Decision, damage: Callable[[list[Any]], Any] = list) -> Decision:
    """A decision that has been in a store, and may have suffered there."""
    data = decision.to_dict()
    return Decision.from_dict(forged(data, memo=damage(data["memo"])), tuple(LABELS))


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_decision_is_refused(how: str) -> None:
    model = model_called("named")
    decision = model.decide({"n": 1.0, "s": "x"})
    before = state_of(model)
    with pytest.raises(DecisionError):
        model.learn(stored(decision, DAMAGES[how]), correct=True)
    assert state_of(model) == before
    model.learn(stored(decision), correct=True)


@pytest.mark.parametrize("key", ["model", "memo", "labels", "format"])
def test_a_decision_with_a_part_missing_is_refused(key: str) -> None:
    data = fresh().decide({"n": 1.0}).to_dict()
    del data[key]
    with pytest.raises(DecisionError, match=key):
        Decision.from_dict(data, tuple(LABELS))


VERDICTS = st.sampled_from(
    [
        True,
        False,
        np.True_,
        np.False_,
        True,
        0,
        1,
        None,
        "yes",
        NAN,
        1.0,
        [True],
        np.array([True]),
        np.int64(1),
    ]
)
DECISIONS = st.sampled_from(
    ["open", "old", "stored", "twice", "other model", None, "text", 5, {"label": "a"}]
)


@given(decision=DECISIONS, verdict=VERDICTS)
@MANY
def test_learn(decision: Any, verdict: Any) -> None:
    model = model_called("named")
    old, now = model.decide({"n": 1.0}), model.decide({"n": 2.0, "s": "y", "new": 1.0})
    known = {
        "open": now,
        "old": old,
        "stored": stored(now),
        "twice": old,
        "other model": model_called("fresh").decide({}),
    }
    given_ = known.get(decision, decision) if isinstance(decision, str) else decision
    if decision == "twice":
        model.learn(old, correct=False)
    verdicts = model.verdicts
    knock(model, lambda model: model.learn(given_, verdict))
    whole = isinstance(verdict, (int, np.integer, np.bool_)) and verdict in (0, 1)
    good = whole and decision in ("open", "old", "stored")
    assert model.verdicts == verdicts + good
    check_committee(model._committee)  # type: ignore[arg-type]


# Parameters


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "a"], "label 'a' is given twice; give each label once"),
        ([1, 2, True], "label True is given twice"),
        ([["a"], ["b"]], r"label \['a'\] is not hashable; give strings"),
        (["a"], r"labels has 1 label\(s\); at least two"),
        ([], r"labels has 0 label\(s\); at least two"),
        ("ab", "labels is the string 'ab'; give a list"),
        (b"ab", "labels is the string b'ab'; give a list"),
        ({"a", "b"}, r"labels is a set.*give a list, such as sorted\(labels\)"),
        ([NAN, "a"], "label nan is not equal to itself.*give it a name"),
        (5, "labels is 5.*give a list"),
        (None, "labels is None.*give a list"),
    ],
)
@pytest.mark.parametrize("booster", [AdaBandit, OptBandit, BinBandit])
def test_bad_labels(booster: Any, labels: Any, message: str) -> None:
    with pytest.raises(LabelError, match=message):
        booster(labels)


@pytest.mark.parametrize(
    "labels",
    [[1, 2.5], [("a", 1), None], {"x": 1, "y": 2}, (label for label in "ab"), pd.Series(["a", "b"])],
    ids=type,
)
def test_good_labels(labels: Any) -> None:
    assert len(AdaBandit(labels).labels) == 2


NOT_NUMBERS = [
    None,
    "0.1",
    NAN,
    math.inf,
    -math.inf,
    True,
    [0.1],
    1j,
    Decimal("0.1"),
    np.array([0.1, 0.2]),
    object(),
]
OUT_OF_RANGE = {
    "exploration": [-0.1, 1.0, 1, 2, np.float64(1)],
    "clip": [0, -1, 1e13],
    "importance_scale": [0, -1.0, 1e13],
    "tie_tolerance": [-1e-9, 1e7],
    "n_learners": [0, -1, 10_001, 1.5, 2.0],
    "seed": [-1, 2**63, 0.5],
    "max_memory": [0, 2**20 - 1, 2**51, 2.0**20],
    "estimator": [0, 1, 5, "4"],
}


@pytest.mark.parametrize("name", OUT_OF_RANGE)
def test_bad_parameters(name: str) -> None:
    allowed = {"seed": [None], "clip": [None]}.get(name, [])
    for value in [*NOT_NUMBERS, *OUT_OF_RANGE[name]]:
        if not any(value is good for good in allowed):
            with pytest.raises(ParameterError) as refusal:
                AdaBandit(LABELS, **{name: value})
            assert str(refusal.value).startswith(f"{name} is ")
            assert repr(value) in str(refusal.value) or value == 1  # 1, 1.0 and np.float64(1) are one number
            assert REMEDY.search(str(refusal.value))


@pytest.mark.parametrize("schema", [{"n": "numeric"}, "n", ["n"], 5, Schema], ids=type)
def test_a_schema_must_be_one(schema: Any) -> None:
    with pytest.raises(ParameterError, match=r"schema is .*give a .*Schema"):
        AdaBandit(LABELS, schema=schema)


@pytest.mark.parametrize("booster", [AdaBandit, OptBandit, BinBandit])
def test_no_exploration_is_allowed_with_a_warning(booster: Any) -> None:
    with pytest.warns(
        UserWarning,
        match="exploration is 0: wrong rounds then teach nothing about other labels; give a small number",
    ):
        model = booster(LABELS, exploration=0, n_learners=2)
    decision = model.decide({"n": 1.0})
    assert decision.distribution()[decision.greedy] == 1.0
    model.learn(decision, correct=False)


@given(
    exploration=st.floats(1e-6, 0.999), n_learners=st.integers(1, 3), seed=st.integers(0, 2**63 - 1),
    clip=st.floats(1e-6, 1e9),
    scale=st.floats(1e-6, 1e6), tolerance=st.floats(0, 1), estimator=st.sampled_from([3, 4]),
    cast=st.sampled_from([float, np.float64]),
)  # fmt: skip
@examples(2)
def test_good_parameters(
    exploration: float,
    n_learners: int,
    seed: int,
    clip: float,
    scale: float,
    tolerance: float,
    estimator: int,
    cast: Any,
) -> None:
    model = AdaBandit(
        LABELS, exploration=cast(exploration), n_learners=n_learners, seed=np.int64(seed), clip=cast(clip),
        importance_scale=scale,
        tie_tolerance=tolerance, estimator=estimator,
    )  # fmt: skip
    check_decision(model, model.decide({"n": 1.0}), 0)
    check_decision(model, model.decide({"n": 2.0, "s": "x"}), 1)
    assert np.isfinite(model.alphas).all()


# What the fuzzer found


@pytest.mark.parametrize(
    "huge", [10**5000, np.array([10**5000], object), [10**5000]], ids=["int", "array", "list"]
)
def test_values_that_python_does_not_write_are_named_by_their_type(huge: Any) -> None:
    model = warmed(NAMED_ROWS)
    decision, before = model.decide(NAMED_ROWS[0]), state_of(model)
    for call, refusal in (
        (lambda: model.decide(NAMED_ROWS[0], huge), LabelError),
        (lambda: model.decide_many(NAMED_ROWS[:1], huge), LabelError),
        (lambda: model.learn(decision, huge), DecisionError),
        (lambda: model.learn(huge, True), DecisionError),
        (lambda: AdaBandit(LABELS, schema=huge), ParameterError),
    ):
        with pytest.raises(refusal, match="a value of type"):
            call()
        assert state_of(model) == before


@pytest.mark.parametrize("booster", [AdaBandit, BinBandit])
def test_an_array_in_a_list_is_played_as_it_is_decided(booster: Any) -> None:
    """Its numbers are codes of nominal values; an infinite one made `play` go on for ever."""

    def made() -> Any:
        return booster(
            LABELS, n_learners=2, schema=Schema(numeric=["n"], nominal={"s": ["x", "0.0"]}), seed=1
        )

    played, bad = made(), np.array([1.0, math.inf])
    with pytest.raises(FeatureError, match="feature 's' is nominal: in an array give a code from 0 to 1"):
        play(played, [np.array([1.0, 0.0]), bad], ["a", "b"])
    assert (played.rounds, played.schema.values("s")) == (0, ("x", "0.0"))
    by_hand, rows = made(), [np.array([float(t), float(t % 2)]) for t in range(40)]
    play(played, rows, [LABELS[t % 2] for t in range(40)])
    for t, row in enumerate(rows):
        decision = by_hand.decide(row)
        by_hand.learn(decision, decision.label == LABELS[t % 2])
    assert state_of(played) == state_of(by_hand)


def test_masked_numbers_of_rows_in_a_list_are_missing() -> None:
    row = np.ma.masked_array([1.0, math.inf], [False, True])
    model = AdaBandit(LABELS, n_learners=2, schema=Schema(numeric=["n", "m"]), seed=1)
    assert len(model.decide_many([row])) == 1
    play(model, [row], ["a"])
    assert model.rounds == 2


def test_names_that_cannot_be_copied_are_names() -> None:
    model = AdaBandit(LABELS, n_learners=2, schema=Schema(numeric=[memoryview(b"n")]), seed=1)
    model.learn(model.decide({memoryview(b"n"): 1.0}), correct=True)
    assert model.verdicts == 1
