"""Rows as they come: nested dicts, dates and times, durations, and what models make of them."""

from __future__ import annotations

import copy
import datetime
import math
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, Decision, GapBoost, Schema
from banditboost.errors import FeatureError
from banditboost.rows.plain import DATE_PARTS, plain_row
from tests.boosting.states import difference
from tests.models.lines import JOURNEYS
from tests.naive import rows as naive

NOON = datetime.datetime(2024, 2, 29, 12, 30, 5, 250)
ZONE = datetime.timezone(datetime.timedelta(hours=5, minutes=30))


def features(row: dict[Any, Any], schema: Schema | None = None) -> dict[Any, float]:
    """What is there of a row, by feature."""
    schema = Schema() if schema is None else schema
    numbers = schema.code(row).tolist()
    return {name: value for name, value in zip(schema.names, numbers, strict=True) if value == value}


# Nested


def test_dicts_within_dicts_have_dotted_names() -> None:
    row = {"user": {"age": 3, "home": {"city": "Pune", 7: True}}, "hour": 5, "empty": {}}
    assert features(row) == {"user.age": 3.0, "user.home.city": 0.0, "user.home.7": 0.0, "hour": 5.0}


def test_a_dotted_name_may_be_declared() -> None:
    schema = Schema(numeric=["user.age"], nominal=["user.city"])
    assert features({"user": {"age": 3, "city": "Pune"}}, schema) == {"user.age": 3.0, "user.city": 0.0}
    for nothing in [{"user": None}, {"user": {}}, {"user": {"age": None}}]:
        assert features(nothing, schema) == {}
    for unknown in [{"user": 3}, {"use": None}, {"user": {"ag": None}}, {"other": None}]:
        with pytest.raises(FeatureError, match="is not in the declared schema"):
            schema.admit(unknown)


@pytest.mark.parametrize(
    "row",
    [{"a": {"b": 1}, "a.b": 2}, {"a.b": 2, "a": {"b": None}}, {"a": {"b": {"c": 1}, "b.c": 1}}],
    ids=repr,
)
def test_two_values_for_one_column_are_refused_with_both_places(row: dict[str, Any]) -> None:
    schema = Schema()
    with pytest.raises(
        FeatureError, match=r"is there twice, as row\['a.*'\].* and as row\['a.*; leave one out"
    ):
        schema.admit(row)
    assert len(schema) == 0


def test_depth_is_bounded() -> None:
    row: dict[str, Any] = {"x": 1}
    for _ in range(7):
        row = {"x": row}
    assert list(features(row)) == ["x.x.x.x.x.x.x.x"]
    circle: dict[str, Any] = {}
    circle["x"] = circle
    for deep in ({"x": row}, circle):
        with pytest.raises(
            FeatureError, match="feature 'x' has dicts within dicts, 8 deep or in a circle; give"
        ):
            Schema().admit(deep)


# Dates and times

clocks = st.datetimes(timezones=st.none() | st.sampled_from([ZONE, datetime.UTC]))
dates = st.one_of(clocks, st.dates(), st.times())


@given(value=dates)
def test_dates_become_what_the_twin_says(value: Any) -> None:
    assert features({"when": value}) == pytest.approx(
        {f"when.{part}": number for part, number in naive.parts_of(value).items()}, rel=1e-12, abs=1e-9
    )


def test_a_date_has_no_hour_and_a_time_nothing_else() -> None:
    assert [len(naive.parts_of(value)) for value in (NOON, NOON.date(), NOON.time())] == [7, 5, 2]
    assert tuple(naive.parts_of(NOON)) == DATE_PARTS


def test_the_clock_is_local_and_elapsed_time_universal() -> None:
    naive_one, aware = features({"t": NOON}), features({"t": NOON.replace(tzinfo=ZONE)})
    assert naive_one.pop("t.elapsed") - aware.pop("t.elapsed") == pytest.approx(5.5 / 24)
    assert naive_one == aware


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (np.datetime64("2024-02-29T12:30:05.000250"), NOON),
        (np.datetime64("2024-02-29T12:30:05.000250999", "ns"), NOON),
        (np.datetime64("2024-02-29T12", "h"), datetime.datetime(2024, 2, 29, 12)),
        (np.datetime64("2024-02-29"), NOON.date()),
        (np.datetime64("2024-02"), datetime.date(2024, 2, 1)),
        (np.datetime64("1900"), datetime.date(1900, 1, 1)),
        (pd.Timestamp(NOON), NOON),
        (pd.Timestamp(NOON, tz=ZONE), NOON.replace(tzinfo=ZONE)),
    ],
    ids=str,
)
def test_dates_of_other_packages(value: Any, same: Any) -> None:
    assert features({"t": value}) == features({"t": same})


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (datetime.timedelta(days=1, milliseconds=5), 86400.005),
        (pd.Timedelta(minutes=2), 120.0),
        (np.timedelta64(2, "W"), 1_209_600.0),
        (np.timedelta64(-90, "m"), -5400.0),
        (np.timedelta64(1500, "ms"), 1.5),
        (np.timedelta64(3, "10ms"), 0.03),
        (np.timedelta64(2**62, "W"), 2.0**62 * 604800),
    ],
    ids=repr,
)
def test_durations_are_seconds(value: Any, seconds: float) -> None:
    assert features({"wait": value}) == {"wait": seconds}


TEXTS = {
    "2024-02-29T12:30:05.000250": NOON,
    "2024-02-29 12:30:05.000250+05:30": NOON.replace(tzinfo=ZONE),
    "2024-02-29T07:00:05.000250Z": NOON.replace(hour=7, minute=0, tzinfo=datetime.UTC),
    " 2024-02-29\n": NOON.date(),
    "20240229": NOON.date(),
    "12:30:05.000250": NOON.time(),
}


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_iso_text_in_a_column_that_is_declared_as_a_date(text: str) -> None:
    schema = Schema(numeric=["n"], dates=["when"])
    for again in (schema, schema.copy(), Schema.from_dict(schema.to_dict())):
        assert features({"when": text}, again) == features({"when": TEXTS[text]}, again)
        assert features({"when": TEXTS[text]}, again) == features({"when": TEXTS[text]})
        assert features({"when": None, "n": 1}, again) == {"n": 1.0}
    assert schema.names == ("n", *(f"when.{part}" for part in DATE_PARTS))


@pytest.mark.parametrize(
    "value", ["yesterday", "", "2024-02-30", "2026", "10", 5, 5.0, True, b"2024-02-29"], ids=repr
)
def test_what_is_no_date_is_refused_in_such_a_column(value: Any) -> None:
    schema = Schema(dates=["when"])
    with pytest.raises(
        FeatureError, match=r"feature 'when' is declared as a date, but .*; give a date, .* ISO text"
    ):
        schema.admit({"when": value})


def test_a_date_that_was_not_declared_gets_the_remedy() -> None:
    for schema in (Schema(numeric=["when"]), Schema(nominal=["when"]), Schema(numeric=["n"])):
        with pytest.raises(FeatureError, match=r"declare Schema\(dates=\['when'\]\)"):
            schema.admit({"when": NOON})


def test_a_date_beside_one_of_its_parts_is_refused() -> None:
    with pytest.raises(FeatureError, match=r"'when.elapsed' is there twice, as row\['when'\] and as"):
        Schema().admit({"when": NOON, "when.elapsed": 1.0})


@pytest.mark.parametrize(
    "arguments",
    [{"numeric": ["a"], "dates": ["a"]}, {"dates": ["a", "a"]}, {"numeric": ["a.elapsed"], "dates": ["a"]}],
    ids=repr,
)
def test_a_name_given_twice_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(FeatureError, match="is declared twice; give each name once"):
        Schema(**arguments)
    with pytest.raises(FeatureError, match=r"dates is the string 'when'; give a list"):
        Schema(dates="when")


@pytest.mark.parametrize(
    "change",
    [{"dates": "when"}, {"dates": ["other"]}, {"dates": [[]]}, {"declared": False}, {"strict": 1}],
    ids=repr,
)
def test_a_stored_schema_is_checked(change: dict[str, Any]) -> None:
    with pytest.raises(FeatureError):
        Schema.from_dict({**Schema(dates=["when"]).to_dict(), **change})


def test_schemas_that_were_stored_before_are_read() -> None:
    old = {"names": ["a", "b"], "values": [None, ["x"]], "declared": True, "positions": None}
    assert Schema.from_dict(old).to_dict() == old


def test_rows_without_names_hold_a_date_or_its_features() -> None:
    schema = Schema(numeric=["n"], dates=["when"])
    given_date = schema.code([2.0, NOON])
    assert given_date.tolist() == schema.code({"n": 2.0, "when": NOON}).tolist()
    assert schema.code(given_date.tolist()).tolist() == given_date.tolist()
    assert schema.takes_array(given_date)
    with pytest.raises(FeatureError, match="3 values where 8 are expected"):
        schema.code([2.0, NOON, 1.0])


# Any row, flat and nested

names = st.sampled_from(["a", "b", "c", "a.b", "hour", "é"])
leaves = st.one_of(st.floats(-1e9, 1e9), st.sampled_from("xyz"), st.timedeltas(), dates)
nested = st.recursive(
    st.dictionaries(names, leaves, max_size=4),
    lambda inner: st.dictionaries(names, leaves | inner, max_size=4),
    max_leaves=6,
)


@given(row=nested)
def test_rows_are_flattened_as_the_twin_says(row: dict[str, Any]) -> None:
    expected = naive.flat(row)
    columns = [column for column, _ in expected]
    if len(set(columns)) < len(columns):
        with pytest.raises(FeatureError, match="is there twice"):
            plain_row(row)
    else:
        found = plain_row(row)
        assert list(found) == columns
        for column, value in expected:
            assert found[column] == (
                value if isinstance(value, str) else pytest.approx(value, rel=1e-12, abs=1e-9)
            )


# Models

ROWS: list[dict[str, Any]] = [
    {"when": NOON, "user": {"age": 3, "city": "Pune"}, "wait": datetime.timedelta(minutes=2)},
    {"when": NOON.date(), "user": {"age": "4"}, "wait": "long"},
    {"when": NOON.replace(tzinfo=ZONE), "user": {"age": "unknown", "city": 5}, "wait": 7},
    {"when": None, "user": None, "wait": "120"},
]


def make(schema: Schema | None = None) -> AdaBandit:
    return AdaBandit(["p", "q"], n_learners=2, seed=5, schema=schema)


def teach(model: Any, rows: list[dict[str, Any]]) -> Any:
    for t, row in enumerate(rows):
        model.learn(model.decide(row), t % 2 == 0)
    return model


def flat_rows() -> list[dict[Hashable, Any]]:
    """The same rows as a careful user would send them."""
    schema, told = Schema(), []
    for row in ROWS:
        cells = schema.cells(row)
        schema.admit(row)
        told.append({**cells.known, **cells.columns})
    return told


def test_a_model_learns_what_it_would_from_plain_columns() -> None:
    nested_one, plain_one = teach(make(), ROWS * 10), teach(make(), flat_rows() * 10)
    assert nested_one.schema.to_dict() == plain_one.schema.to_dict()
    assert nested_one.distribution(ROWS[2]) == plain_one.distribution(flat_rows()[2])


def test_saved_and_resumed_to_the_last_bit(tmp_path: Path) -> None:
    for schema in (
        None,
        Schema(numeric=["wait", "user.age"], nominal=["user.city"], dates=["when"], strict=True),
    ):
        rows = ROWS if schema is None else [{"when": "2024-02-29T12:30", "wait": 3, "user": {"city": "Pune"}}]
        model = teach(make(schema), rows * 5)
        model.save(tmp_path / "model.bb")
        loaded = banditboost.load(tmp_path / "model.bb")
        assert loaded.schema.to_dict() == model.schema.to_dict()
        assert not difference(teach(loaded, rows * 5), teach(model, rows * 5))
        assert loaded.summary().texts == model.summary().texts


def test_many_rows_at_once_are_as_one_by_one() -> None:
    one, many, played = make(), make(), make()
    expected = [one.decide(row)._memo.tobytes() for row in ROWS]
    assert [decision._memo.tobytes() for decision in many.decide_many(ROWS)] == expected
    result = banditboost.play(played, ROWS, ["p", "q", "p", "q"])
    assert len(result.correct) == 4
    assert played.schema.to_dict() == one.schema.to_dict()


def test_a_bad_row_among_many_changes_nothing() -> None:
    model = teach(make(), ROWS)
    before = copy.deepcopy(model)
    bad = {"when": NOON, "new": {"a": 1, "b": b"x"}}
    for call in (
        lambda: model.decide(bad),
        lambda: model.decide_many([*ROWS, {"brand": {"new": 1}}, bad]),
        lambda: banditboost.play(model, [{"brand": {"new": 1}}, bad], ["p", "q"]),
        lambda: model.distribution(bad),
    ):
        with pytest.raises(FeatureError, match=r"feature 'new.b' is b'x'"):
            call()
        assert not difference(model, before)


LATER: list[dict[str, Any]] = [
    {"when": NOON, "at": {"t": NOON.time()}, "x": "u"},
    {"when": NOON.isoformat(), "at": {"t": "12:30"}, "x": "v"},
    {"when": "2024-02-29", "at": {"t": None}, "x": "2024-02-29"},
    {"when": "soon", "at.t": "12:30", "x": "u"},
    {"when": " 2024-02-28T23:59:00+01:00 ", "x": "u"},
]


def test_iso_text_where_dates_have_been() -> None:
    """A text that is a date is one; any other is a name beside it, as in a column of numbers."""
    text, dates = Schema(), Schema()
    dates.admit(LATER[0])
    text.admit(LATER[0])
    for row in LATER[1:]:
        read = dict(row)
        read["when"] = naive_date(row["when"])
        if row.get("at.t") or row.get("at", {}).get("t"):
            read.pop("at.t", None)
            read["at"] = {"t": datetime.time(12, 30)}
        assert np.array_equal(text.code(row), dates.code(read), equal_nan=True)
    assert text.to_dict() == dates.to_dict()
    assert text.texts() == {"when": ("soon",)}
    assert text.values("x") == ("u", "v", "2024-02-29")


def naive_date(value: Any) -> Any:
    """What a careful user would send."""
    for kind in (datetime.date, datetime.datetime):
        try:
            return kind.fromisoformat(value.strip())
        except ValueError:
            continue
    return value


def test_iso_text_where_no_dates_have_been() -> None:
    """A column that began with texts has names, and a strict schema keeps to dates."""
    for rows in ([{"when": "2024-02-29"}, {"when": NOON}], [{"when": 3}, {"when": "2024-02-29"}]):
        schema = Schema()
        for row in rows:
            schema.admit(row)
        assert "2024-02-29" in (*schema.values("when"), *schema.texts().get("when", ()))
    strict = Schema(strict=True)
    assert not strict.declared
    strict.admit({"when": NOON})
    with pytest.raises(FeatureError, match=r"'when' is a date, but this row has the text '2024.*give a date"):
        strict.admit({"when": "2024-02-29"})


def test_dates_and_texts_at_every_door(tmp_path: Path) -> None:
    one, many, played, framed = make(), make(), make(), make()
    expected = [one.decide(row)._memo.tobytes() for row in LATER]
    assert [decision._memo.tobytes() for decision in many.decide_many(LATER)] == expected
    banditboost.play(played, LATER, ["p"] * len(LATER))
    assert played.schema.to_dict() == one.schema.to_dict() == many.schema.to_dict()
    plain = [{"when": row["when"], "x": row["x"]} for row in LATER]
    framed.decide(plain[0])
    framed.decide_many(pd.DataFrame(plain[1:]))
    assert framed.schema.to_dict() == teach(make(), plain).schema.to_dict()
    one.save(tmp_path / "model.bb")
    assert (
        banditboost.load(tmp_path / "model.bb").summary().texts == one.summary().texts == {"when": ("soon",)}
    )


def test_dates_where_most_columns_are_missing() -> None:
    """Among many columns a new name is a word, but a date in a known column is a date."""
    model = GapBoost(["p", "q"], seed=1)
    model.decide({"when": NOON, **{f"x{i}": 2.0 for i in range(80)}})
    n_columns = len(model.schema.names)
    model.decide({"when": NOON.isoformat(), "new": "word"})
    assert len(model.schema.names) == n_columns
    row = model.schema.code_known({"when": NOON.isoformat(), "new": "word"})
    assert np.array_equal(row, model.schema.code_known({"when": NOON, "new": "word"}), equal_nan=True)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_dates_and_durations(frame: Any) -> None:
    columns = {
        "when": [NOON, None, NOON + datetime.timedelta(days=3)],
        "wait": [datetime.timedelta(seconds=3), datetime.timedelta(0), None],
        "n": [1.0, 2.0, None],
    }
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    one, many, played, listed = make(), make(), make(), make()
    expected = [one.decide(row)._memo.tobytes() for row in rows]
    assert [decision._memo.tobytes() for decision in many.decide_many(frame(columns))] == expected
    banditboost.play(played, frame(columns), ["p", "q", "p"])
    banditboost.play(listed, rows, ["p", "q", "p"])
    assert not difference(played, listed)


@pytest.mark.parametrize("sent", JOURNEYS.values(), ids=JOURNEYS.keys())
def test_decisions_of_branches(sent: Callable[[Decision], Decision]) -> None:
    """Branch and model meet the rows in opposite orders, so that columns differ in place and in kind."""
    model = teach(make(), [{"x": 1.0}])
    branch = model.branch()
    decisions = [branch.decide(row) for row in ROWS]
    teach(model, list(reversed(ROWS)))
    for decision in decisions:
        model.learn(sent(decision), True)
    assert model.verdicts == 1 + 2 * len(ROWS)
    assert "when.elapsed" in model.schema.names


def test_a_number_of_a_branch_is_the_same_name_however_it_was_sent() -> None:
    found = []
    for sent in JOURNEYS.values():
        model = teach(make(), [{"x": 1.0}])
        decision = model.branch().decide({"hour": 5})
        teach(model, [{"hour": "noon"}])
        model.learn(sent(decision), True)
        found.append(model.schema.values("hour"))
    assert found == [("noon", "5")] * len(found)


def test_the_summary_tells_of_texts_among_numbers() -> None:
    model = teach(make(), ROWS)
    assert model.summary().texts == {"user.age": ("unknown",), "wait": ("long",)}
    teach(model, [{"n": 1}, *({"n": f"text {i}"} for i in range(3))])
    assert "n: numeric, but 3 texts came, too: text 0, text 1, text 2" in repr(model.summary())
    assert model.summary().to_dict()["texts"]["user.age"] == ["unknown"]
    assert "numeric, but" not in repr(teach(make(), [{"n": 1}]).summary())


@pytest.mark.parametrize(
    "row", [np.array([1e101, 0.0]), np.array([-(2.0**400), 1]), np.array([0.0, math.inf])]
)
def test_arrays_with_numbers_that_are_too_large_are_refused(row: Any) -> None:
    for known in (False, True):
        model = make()
        if known:
            model.learn(model.decide(np.array([1.0, 1e100])), True)
        before = copy.deepcopy(model)
        for call in (
            lambda model=model: model.decide(row),
            lambda model=model: model.decide_many(np.array([[1.0, 2.0], row])),
            lambda model=model: banditboost.play(model, np.array([[1.0, 2.0], row]), ["p", "q"]),
            lambda model=model: model.distribution(row),
        ):
            with pytest.raises(FeatureError, match=r"feature 'x[01]' is .*; give a finite number"):
                call()
            assert not difference(model, before)


# Whatever JSON holds

json_like = st.recursive(
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=3)
    | st.sampled_from(["3", "1e300"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(rows=st.lists(st.dictionaries(names, json_like, max_size=4), max_size=4))
@settings(max_examples=150)
def test_any_row_is_refused_or_learned(rows: list[dict[str, Any]]) -> None:
    for schema in (None, Schema(numeric=["a", "hour"], nominal=["b", "a.b"], dates=["c"])):
        model = make(schema)
        for row in rows:
            before = model.schema.to_dict(), model.rounds
            try:
                decision = model.decide(row)
            except FeatureError:
                assert (model.schema.to_dict(), model.rounds) == before
            else:
                model.learn(decision, decision.label == "p")
                assert model.rounds == before[1] + 1
        assert model.verdicts == model.rounds
