"""Values come back equal, and with their types."""

from __future__ import annotations

import datetime
import json
import math
from collections import namedtuple
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.io.values import UnreadableError, UnstorableError, decode, decode_hashable, encode

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.text(),
    st.binary(),
    st.sampled_from(
        [
            np.int64(3),
            np.uint8(3),
            np.float32(0.1),
            np.float64("nan"),
            np.bool_(True),
            np.str_("a"),
            np.float16(2.5),
        ]
    ),
)
LABELS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)
STATES = st.recursive(
    LABELS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.text(), LABELS), inner, max_size=4)
    ),
)


def via_json(value: Any) -> Any:
    return decode(json.loads(json.dumps(encode(value), allow_nan=False)))


def alike(one: Any, other: Any) -> bool:
    """Equal with the same types all the way down; NaN is like NaN, minus zero is not like zero."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return len(one) == len(other) and all(
            alike(a, b) for a, b in zip(one.items(), other.items(), strict=True)
        )
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(alike(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, (float, np.floating)):
        return bool(
            (one == other and math.copysign(1, one) == math.copysign(1, other))
            or (one != one and other != other)
        )
    return bool(one == other)


@given(LABELS)
def test_labels_come_back_with_their_types(label: Any) -> None:
    assert alike(via_json(label), label)
    assert alike(decode_hashable(encode(label)), label)


@given(STATES)
def test_lists_and_dicts_too(state: Any) -> None:
    assert alike(via_json(state), state)


def test_a_dict_may_have_keys_that_look_like_ours() -> None:
    assert via_json({"$tuple": [1], "b": 2}) == {"$tuple": [1], "b": 2}


Pair = namedtuple("Pair", "a b")
Colour = Enum("Colour", ["RED"])


@pytest.mark.parametrize(
    "value",
    [
        Decimal(1), datetime.date(2026, 1, 1), frozenset({1}), {1}, 1j, object(), Pair(1, 2), Colour.RED,
        np.datetime64(0, "s"),
        np.complex64(1), np.longdouble(1), np.zeros(2), int, (1, [2, {3}]),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_json_cannot_carry_is_refused(value: Any) -> None:
    with pytest.raises(UnstorableError, match="of type"):
        encode(value)


def test_depth_is_bounded_both_ways() -> None:
    value: Any = 1
    for _ in range(33):
        value = (value,)
    with pytest.raises(UnstorableError, match="levels"):
        encode(value)
    data: Any = 1
    for _ in range(500):
        data = {"$tuple": [data]}
    with pytest.raises(UnreadableError, match="deep"):
        decode(data)


@pytest.mark.parametrize(
    "data",
    [
        {"$code": "print()"}, {"$tuple": 1}, {"$tuple": [1], "more": 2}, {"$bytes": "xy"}, {"$bytes": 1},
        {"$int": "1_0z"}, {"$int": 5},
        {"$float": "1.5"}, {"$numpy": ["i8"]}, {"$numpy": ["O", 1]}, {"$numpy": ["i8", "a"]},
        {"$numpy": ["u1", 256]}, {"$numpy": "U"},
        {"$numpy": [["i8"], 1]}, {"$array": "nodes"}, {"$array": []}, {"$dict": [1]}, {"$dict": [[[1], 2]]},
        {"$dict": {}}, {"$float": []},
    ],
    ids=str,
)  # fmt: skip
def test_junk_is_no_value(data: Any) -> None:
    with pytest.raises(UnreadableError):
        decode(data)


def test_a_list_is_no_label() -> None:
    with pytest.raises(UnreadableError, match="cannot be a label"):
        decode_hashable([1])
