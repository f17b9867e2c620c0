"""Argument checks: what is taken is given back, what is refused is named with its value and a remedy."""

from __future__ import annotations

import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.errors import BanditBoostError, LabelError, ParameterError
from banditboost.types import Array
from banditboost.validation import check_choice, check_count, check_labels, check_number, refuse

NO_NUMBERS = [
    None,
    "1",
    math.nan,
    math.inf,
    -math.inf,
    True,
    np.True_,
    [1.0],
    1j,
    Decimal(1),
    np.array(1.0),
    10**400,
    object,
]
finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite, finite, st.booleans(), st.booleans())
def test_a_number_is_taken_exactly_if_it_is_in_the_interval(
    value: float, one: float, other: float, low_is_out: bool, high_is_out: bool
) -> None:
    low, high = sorted((one, other))
    inside = (low < value or (value == low and not low_is_out)) and (
        value < high or (value == high and not high_is_out)
    )
    if inside:
        assert check_number("x", value, low, high, open_low=low_is_out, open_high=high_is_out) == value
        return
    with pytest.raises(ParameterError) as refused:
        check_number("x", value, low, high, open_low=low_is_out, open_high=high_is_out)
    assert str(refused.value).startswith(f"x is {value!r}; give a number in {'(' if low_is_out else '['}")
    assert str(refused.value).endswith(")" if high_is_out else "]")


@given(st.integers(), st.integers(-(2**40), 2**40), st.integers(0, 2**40))
def test_a_count_is_taken_exactly_if_it_is_in_the_range(value: int, low: int, width: int) -> None:
    if low <= value <= low + width:
        assert check_count("n", value, low, low + width) == value
        return
    with pytest.raises(ParameterError, match=rf"^n is {value}; give a whole number from "):
        check_count("n", value, low, low + width)


@pytest.mark.parametrize("value", NO_NUMBERS, ids=repr)
def test_what_is_no_number_is_refused_as_one(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^x is .*; give a finite number$"):
        check_number("x", value, -math.inf, math.inf)


@pytest.mark.parametrize("value", [*NO_NUMBERS, 3.0, Fraction(3), np.float64(3)], ids=repr)
def test_what_is_no_count_is_refused_as_one(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"^n is .*; give a whole number from 1 to 9$"):
        check_count("n", value, 1, 9)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.float32(3), Fraction(3)], ids=repr)
def test_numbers_of_all_kinds_become_floats(value: Any) -> None:
    found = check_number("x", value, 0, 9)
    assert (found, type(found)) == (3.0, float)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)], ids=repr)
def test_counts_of_all_kinds_become_ints(value: Any) -> None:
    found = check_count("n", value, 0, 9)
    assert (found, type(found)) == (3, int)


@pytest.mark.parametrize(
    ("low", "high", "options", "remedy"),
    [
        (0, 1, {}, "[0, 1]"),
        (0, 1, {"open_low": True}, "(0, 1]"),
        (0, 0.5, {"open_high": True}, "[0, 0.5)"),
        (0, math.inf, {"open_low": True}, "a finite number above 0"),
        (0, math.inf, {}, "a finite number of at least 0"),
        (-math.inf, 2, {}, "a finite number of at most 2"),
        (-math.inf, 2, {"open_high": True}, "a finite number below 2"),
        (0, 1, {"hint": "a share of the stream"}, "[0, 1]: a share of the stream"),
    ],
)
def test_the_remedy_says_what_would_do(low: float, high: float, options: dict[str, Any], remedy: str) -> None:
    with pytest.raises(ParameterError) as refused:
        check_number("x", "no", low, high, **options)
    assert str(refused.value).endswith(remedy)


@pytest.mark.parametrize(
    ("high", "written"),
    [
        (10_000, "10000"),
        (2**20, "1048576"),
        (2**31, "2**31"),
        (2**53, "2**53"),
        (2**63 - 1, "9223372036854775807"),
    ],
)
def test_large_powers_of_two_are_written_as_such(high: int, written: str) -> None:
    with pytest.raises(ParameterError) as refused:
        check_count("n", 0, 1, high, hint="so it is")
    assert str(refused.value) == f"n is 0; give a whole number from 1 to {written}: so it is"


def test_a_choice_is_one_of_the_names() -> None:
    assert check_choice("kind", "b", ["a", "b"]) == "b"
    for value in ("c", "", "A", None, 1, ["a"]):
        with pytest.raises(ParameterError) as refused:
            check_choice("kind", value, iter(["a", "b"]))
        assert str(refused.value) == f"kind is {value!r}; give one of a, b"


@given(st.lists(st.one_of(st.integers(), st.text(), st.tuples(st.integers())), min_size=2, unique=True))
def test_different_labels_are_taken_in_their_order(labels: list[Any]) -> None:
    assert check_labels(iter(labels)) == tuple(labels)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("yes", "the string 'yes'"),
        (b"yes", "the string b'yes'"),
        (3, "labels is 3"),
        ({"a", "b"}, "labels is a set"),
        (frozenset({"a", "b"}), "labels is a set"),
        ([], "labels has 0"),
        (["a"], "labels has 1"),
        (["a", "b", "a"], "label 'a' is given twice"),
        ([1, True], "label True is given twice"),
        (["a", []], r"label \[\] is not hashable"),
        (["a", math.nan], "label nan"),
        (["a", np.float32("nan")], "label nan"),
    ],
)
def test_labels_that_cannot_be_chosen_from_are_refused(labels: Any, said: str) -> None:
    with pytest.raises(LabelError, match=said):
        check_labels(labels)


def test_a_refusal_is_a_banditboost_error_and_a_value_error() -> None:
    with pytest.raises(BanditBoostError, match=r"^x is 'a'; give b$"):
        refuse("x", "a", "give b")
    assert issubclass(ParameterError, ValueError)


def test_the_type_of_arrays_is_one_that_numpy_has() -> None:
    assert isinstance(np.zeros(3), getattr(Array, "__origin__", Array))


def test_neither_module_loads_numba() -> None:
    code = "import sys, banditboost.validation, banditboost.types; print('numba' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        == "False\n"
    )


@pytest.mark.parametrize("tiny", [Fraction(1, 10**400), np.longdouble(2) ** -16000])
def test_a_number_is_held_to_its_bounds_as_the_float_that_it_becomes(tiny: Any) -> None:
    with pytest.raises(ParameterError, match=r"^edge is .*; give a number in \(0, 1\]$"):
        check_number("edge", tiny, 0.0, 1.0, open_low=True)
    assert check_number("edge", tiny, 0.0, 1.0) == 0.0


def test_a_set_is_no_label_though_it_can_be_looked_for() -> None:
    with pytest.raises(LabelError, match=r"^label \{1, 2\} is not hashable"):
        check_labels(["a", {1, 2}])
