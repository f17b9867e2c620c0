"""The schema: which features and values join, how rows are coded, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost import Schema
from banditboost.errors import FeatureError
from banditboost.rows.plain import LARGEST

NAN = math.nan
MISSING = [
    None, NAN, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.timedelta64("NaT", "s"),
]  # fmt: skip


def type_name(value: Any) -> str:
    return type(value).__name__


def coded(schema: Schema, row: dict[Any, Any]) -> list[float]:
    schema.admit(row)
    return schema.encode_anew(row).tolist()


def fast(schema: Schema, row: dict[Any, Any]) -> list[float] | None:
    """What the short way codes, if it can."""
    out = np.full(len(schema), NAN)
    return out.tolist() if schema.encode(row, out) else None


# Declared


def test_declared_features_come_in_the_order_given() -> None:
    schema = Schema(numeric=["hour", "age"], nominal={"device": ["phone", "desktop"], "city": []})
    assert schema.names == ("hour", "age", "device", "city")
    assert schema.kinds == ("numeric", "numeric", "nominal", "nominal")
    assert schema.n_values() == [0, 0, 2, 0]
    assert schema.values("device") == ("phone", "desktop")
    assert schema.values("hour") == ()
    assert repr(schema) == "Schema(hour: numeric, age: numeric, device: nominal[2], city: nominal[0])"


def test_features_of_any_order() -> None:
    schema = Schema.of(["s", "n"], ["nominal", "numeric"], [["x"], None])
    assert coded(schema, {"n": 2, "s": "x"}) == [0.0, 2.0]
    assert Schema.of(["s", "n"], ["nominal", "numeric"]).n_values() == [0, 0]


def test_a_declared_schema_is_closed() -> None:
    schema = Schema(numeric=["hour"])
    for value in [1.0, "x", None]:
        with pytest.raises(
            FeatureError,
            match=r"feature 'minute' is not in the declared schema Schema\(hour: numeric\); declare it",
        ):
            schema.admit({"hour": 1.0, "minute": value})
    assert len(schema) == 1


def test_values_join_a_declared_nominal_feature() -> None:
    schema = Schema(nominal=["device"])
    assert [coded(schema, {"device": device}) for device in ["phone", "tv", "phone", True]] == [
        [0.0],
        [1.0],
        [0.0],
        [2.0],
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        {"numeric": ["a", "a"]},
        {"numeric": ["a"], "nominal": ["a"]},
        {"nominal": ["a", "a"]},
        {"numeric": ["a"], "nominal": {"a": ["x"]}},
    ],
)
def test_a_name_given_twice_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(FeatureError, match="feature 'a' is declared twice; give each name once"):
        Schema(**arguments)


@pytest.mark.parametrize(
    "arguments", [{"numeric": "hour"}, {"nominal": "device"}, {"nominal": {"device": "phone"}}], ids=repr
)
def test_a_string_in_place_of_a_list_is_refused(arguments: dict[str, Any]) -> None:
    """Its letters would become features, or values."""
    with pytest.raises(FeatureError, match="give a list"):
        Schema(**arguments)


def test_kinds_and_lengths_are_checked() -> None:
    with pytest.raises(FeatureError, match="feature 'a' has kind 'real'; it must be 'numeric' or 'nominal'"):
        Schema.of(["a"], ["real"])
    with pytest.raises(FeatureError, match="2 names, 1 kinds and 2 lists of values: give one of each"):
        Schema.of(["a", "b"], ["numeric"])
    with pytest.raises(FeatureError, match="feature 'a' has 257 values; at most 256"):
        Schema(nominal={"a": range(257)})
    assert Schema(nominal={"a": range(256)}).n_values() == [256]


# Open


def test_features_join_as_rows_bring_them() -> None:
    schema = Schema()
    assert coded(schema, {"hour": 21, "device": "phone"}) == [21.0, 0.0]
    assert coded(schema, {"device": "tv", "new": True, "hour": 3.5}) == [3.5, 1.0, 0.0]
    assert repr(schema) == "Schema(hour: numeric, device: nominal[2], new: nominal[1])"


def test_the_version_grows_with_news_only() -> None:
    schema = Schema()
    versions = []
    for row in [{"a": 1}, {"a": 2}, {"b": "x"}, {"b": "x"}, {"b": "y", "a": None}, {"c": None}, {}]:
        schema.admit(row)
        versions.append(schema.version)
    assert versions[0] == versions[1] < versions[2] == versions[3] < versions[4] == versions[5] == versions[6]


def test_a_refused_row_lets_nothing_in() -> None:
    schema = Schema()
    schema.admit({"a": 1.0, "s": "x"})
    before = vars(schema).copy(), repr(schema)
    with pytest.raises(FeatureError):
        schema.admit({"new": 1.0, "s": "y", "a": math.inf})
    assert (vars(schema), repr(schema)) == before


@pytest.mark.parametrize("name", [0, ("page", 3), None, "", 2.5, b"x"], ids=repr)
def test_any_hashable_is_a_name(name: Any) -> None:
    schema = Schema()
    assert coded(schema, {name: 4}) == [4.0]
    assert fast(schema, {name: 5}) == [5.0]


# Values


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_missing_values(value: Any) -> None:
    schema = Schema()
    assert coded(schema, {"n": value, "s": value}) == [], "a missing value brings no feature"
    schema.admit({"n": 1.0, "s": "x"})
    np.testing.assert_equal(coded(schema, {"n": value, "s": value}), [NAN, NAN])
    assert schema.n_values() == [0, 1]


@pytest.mark.parametrize(
    "value",
    [3, 3.0, np.float64(3), np.float32(3), np.float16(3), np.int64(3), np.uint8(3), Decimal(3), Fraction(3)],
    ids=repr,
)
def test_numbers_of_any_type_are_numbers(value: Any) -> None:
    schema = Schema()
    assert coded(schema, {"n": value}) == [3.0]
    assert schema.kinds == ("numeric",)


@pytest.mark.parametrize(
    ("value", "same"), [(True, np.bool_(True)), (False, np.False_), ("x", np.str_("x"))], ids=repr
)
def test_truth_and_text_are_nominal(value: Any, same: Any) -> None:
    schema = Schema()
    assert coded(schema, {"s": value}) == coded(schema, {"s": same}) == [0.0]
    assert schema.n_values() == [1]


@pytest.mark.parametrize("value", [1, 2.5, -3, Decimal("0.1")], ids=repr)
def test_numbers_may_be_values_of_a_declared_nominal_feature(value: Any) -> None:
    schema = Schema(nominal={"s": [value, "other"]})
    assert coded(schema, {"s": value}) == [0.0]
    assert schema.n_values() == [2]


@pytest.mark.parametrize(
    ("value", "same"),
    [(1, np.int64(1)), (1, np.uint8(1)), (2.5, np.float64(2.5)), (0.5, np.float32(0.5))],
    ids=repr,
)
def test_a_number_from_an_array_is_the_same_value(value: Any, same: Any) -> None:
    schema = Schema(nominal={"s": [value, "other"]})
    assert coded(schema, {"s": same}) == [0.0]
    assert schema.n_values() == [2]


def test_true_is_not_one() -> None:
    schema = Schema(nominal=["s"])
    assert coded(schema, {"s": 1}) != coded(schema, {"s": True})


@pytest.mark.parametrize(
    "value",
    [
        1e101, -1e300, math.nextafter(1e100, math.inf), 10**101, -(10**300), 10**400, 10**5000,
        np.float64(1.7e308), np.longdouble(2) ** 16000, Decimal("1e200"), Decimal("1e999999"),
        Fraction(10**400, 3),
    ],
    ids=type_name,
)  # fmt: skip
@pytest.mark.parametrize("known", [None, 1.0], ids=["new", "numeric"])
def test_large_numbers_are_refused(value: Any, known: Any) -> None:
    schema = Schema()
    schema.admit({"n": known})
    before = repr(schema)
    with pytest.raises(FeatureError, match=r"feature 'n' is .*; give a finite number"):
        schema.admit({"new": 1, "n": value})
    assert repr(schema) == before


@pytest.mark.parametrize("value", [1e100, -1e100, 10**100, Decimal("1e100"), Decimal("-1e100")], ids=repr)
def test_the_largest_numbers_are_taken(value: Any) -> None:
    assert coded(Schema(), {"n": value}) == [LARGEST if value > 0 else -LARGEST]


@pytest.mark.parametrize(
    "value", [Decimal("1e-400"), Fraction(1, 10**400), np.longdouble(2) ** -16000], ids=type_name
)
def test_numbers_of_which_nothing_would_be_left_are_refused(value: Any) -> None:
    with pytest.raises(FeatureError, match="too small for a 64-bit float; give 0"):
        Schema().admit({"n": value})


BAD = [
    math.inf, -math.inf, np.float64("inf"), np.float32("-inf"), Decimal("Infinity"), Decimal("NaN"),
    Decimal("sNaN"), 1j, np.complex64(1), b"x", bytearray(b"x"), np.bytes_(b"x"), [1.0], (1, 2), {1},
    np.timedelta64(3, "Y"), np.timedelta64(3), np.datetime64(2**62, "Y"), np.datetime64("20000-01-01"),
    pd.Series([1.0]), np.array([1.0]), np.array(1.0), object(), int, range(3), lambda: 1, ...,
]  # fmt: skip


@pytest.mark.parametrize("value", BAD, ids=type_name)
@pytest.mark.parametrize("known", [None, 1.0, "x"], ids=["new", "numeric", "nominal"])
def test_values_that_cannot_be_learned_from_are_refused(value: Any, known: Any) -> None:
    schema = Schema()
    schema.admit({"feature": known})
    before = repr(schema)
    assert fast(schema, {"feature": value}) is None
    with pytest.raises(FeatureError, match=r"(?s)feature 'feature' is .*give") as refusal:
        schema.admit({"feature": value})
    assert repr(value)[:20] in str(refusal.value)
    assert repr(schema) == before


@pytest.mark.parametrize(
    ("value", "remedy"),
    [
        (b"x", r"give a string, such as value\.decode\('utf-8'\)"),
        (1j, "give its real and its imaginary part as two features"),
        (np.timedelta64(3, "M"), "give a duration in weeks"),
    ],
    ids=type_name,
)
def test_some_values_get_a_remedy_of_their_own(value: Any, remedy: str) -> None:
    with pytest.raises(FeatureError, match=remedy):
        Schema().admit({"n": value})


# Types that change


@pytest.mark.parametrize(
    ("text", "number"), [("3", 3.0), (" -2.5e1\n", -25.0), ("+.5", 0.5), ("1e100", 1e100), ("-0", 0.0)]
)
@pytest.mark.parametrize("declared", [False, True])
def test_a_number_as_text_is_a_number(text: str, number: float, declared: bool) -> None:
    schema = Schema(numeric=["n"]) if declared else Schema()
    schema.admit({"n": 1})
    assert coded(schema, {"n": text}) == [number]
    assert fast(schema, {"n": text}) is None


@pytest.mark.parametrize("text", ["1e101", "-1e400", "1e-400"])
def test_a_number_as_text_has_the_limits_of_numbers(text: str) -> None:
    schema = Schema()
    schema.admit({"n": 1})
    with pytest.raises(FeatureError, match=r"feature 'n' is .*; give"):
        schema.admit({"n": text})


@pytest.mark.parametrize("text", ["noon", "", " ", "nan", "inf", "-Infinity", "1_000", "0x10", "1,5", True])
def test_other_text_in_a_numeric_feature_is_a_name_beside_it(text: Any) -> None:
    schema = Schema()
    schema.admit({"hour": 1, "s": "x"})
    np.testing.assert_equal(coded(schema, {"hour": text, "s": "x"}), [NAN, 0.0, 0.0])
    assert schema.names == ("hour", "s", "hour (text)")
    np.testing.assert_equal(coded(schema, {"hour": 5}), [5.0, NAN, NAN])
    assert schema.texts() == {"hour": (str(text),)}
    assert Schema.from_dict(schema.to_dict()).texts() == schema.texts()


def test_a_text_beside_a_number_finds_a_place_or_is_refused() -> None:
    schema = Schema()
    schema.admit({"hour": 1, "hour (text)": 2, ("a", 1): 3})
    schema.admit({"hour": "noon", ("a", 1): "x"})
    assert schema.names[3:] == ("hour (text) (text)", "('a', 1) (text)")
    other = Schema()
    other.admit({"hour": 1})
    with pytest.raises(FeatureError, match=r"'hour \(text\)' is there twice, as 'hour' with the text 'noon'"):
        other.admit({"hour": "noon", "hour (text)": "midnight"})


@pytest.mark.parametrize(
    "value", [3, 3.0, np.int8(3), np.float32(3), Decimal("3"), Decimal("3.0"), "3"], ids=repr
)
@pytest.mark.parametrize("declared", [False, True])
def test_a_number_in_a_nominal_feature_is_a_name(value: Any, declared: bool) -> None:
    schema = Schema(nominal=["s"]) if declared else Schema()
    schema.admit({"s": "3"})
    assert coded(schema, {"s": value}) == [0.0]
    assert schema.values("s") == ("3",)


def test_ids_in_a_nominal_feature_keep_all_their_digits() -> None:
    schema = Schema()
    schema.admit({"s": "x"})
    assert coded(schema, {"s": 2**53}) != coded(schema, {"s": 2**53 + 1})
    assert schema.values("s")[1:] == (str(2**53), str(2**53 + 1))


@pytest.mark.parametrize(
    ("first", "then", "remedy"),
    [
        (1.0, "x", "declare Schema"),
        (1.0, "3", "give a number"),
        (1.0, True, "give a number"),
        ("x", 2, r"give str\(2\)"),
        (True, 0.5, "give str"),
    ],
)
def test_a_feature_of_a_strict_schema_keeps_its_kind(first: Any, then: Any, remedy: str) -> None:
    schema = Schema(strict=True)
    schema.admit({"feature": first})
    for strict in (schema, Schema.from_dict(schema.to_dict()), schema.copy()):
        with pytest.raises(FeatureError, match=rf"feature 'feature' is n.*{then!r}.*{remedy}"):
            strict.admit({"feature": then})


@pytest.mark.parametrize("strict", [False, True])
def test_a_declared_schema_refuses_text_for_numbers(strict: bool) -> None:
    schema = Schema(numeric=["n"], strict=strict)
    for text in ["noon", "", True, *(["3"] if strict else [])]:
        with pytest.raises(FeatureError, match=r"feature 'n' is numeric, but .*; give a number, or declare"):
            schema.admit({"n": text})
    with pytest.raises(FeatureError, match="strict is 1; give True or False"):
        Schema(strict=1)  # type: ignore[arg-type]


# Rows without names


def test_rows_by_position() -> None:
    schema = Schema()
    assert schema.named([1.0, "x"]) == {"x0": 1.0, "x1": "x"}
    schema.admit([1.0, "x"])
    assert schema.named((2.0, "y")) == {"x0": 2.0, "x1": "y"}
    with pytest.raises(
        FeatureError, match="the row has 3 values where 2 are expected; give one for each feature of"
    ):
        schema.named([1.0, "x", 2.0])


def test_a_row_of_a_data_frame_is_a_row() -> None:
    assert Schema().named(pd.Series({"a": 1.0, "b": "x"})) == {"a": 1.0, "b": "x"}


@pytest.mark.parametrize("row", ["text", b"x", 5, None, {1, 2}, object(), iter([1])], ids=type_name)
def test_what_is_no_row_is_refused(row: Any) -> None:
    with pytest.raises(FeatureError, match=r"the row is .* of type .*; give a dict of features"):
        Schema().named(row)


@pytest.mark.parametrize("row", [[], (), np.array([], dtype=object)], ids=repr)
def test_an_empty_row_without_names_is_refused(row: Any) -> None:
    with pytest.raises(FeatureError, match="the row has no features; give at least one value"):
        Schema().named(row)


def test_positions_need_declared_features_or_none_at_all() -> None:
    schema = Schema()
    schema.admit({"a": 1.0, "b": 2.0})
    for row in ([1.0, 2.0], (1.0, 2.0)):
        with pytest.raises(
            FeatureError,
            match="the row has no names, but this model's features came from dict rows; give a dict",
        ):
            schema.named(row)
    with pytest.raises(FeatureError, match="the row has no names"):
        schema.takes_array(np.array([1.0, 2.0]))
    assert Schema(numeric=["a", "b"]).named([1.0, 2.0]) == {"a": 1.0, "b": 2.0}


values = st.one_of(
    st.floats(allow_infinity=False),
    st.integers(-10, 10),
    st.booleans(),
    st.text(max_size=2),
    st.sampled_from([*MISSING, np.float32(2), np.int8(1)]),
)


@given(rows=st.lists(st.dictionaries(st.sampled_from("abcd"), values), max_size=8))
def test_the_short_way_and_the_long_way_code_alike(rows: list[dict[str, Any]]) -> None:
    schema = Schema()
    for row in rows:
        try:
            slow = coded(schema, row)
        except FeatureError:
            continue
        quick = fast(schema, row)
        if quick is not None:
            np.testing.assert_equal(quick, slow)
