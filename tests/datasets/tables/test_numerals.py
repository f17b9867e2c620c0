"""Amounts: what is read as which number, and the same from a reader that goes letter by letter."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.tables.numerals import MARKS, amount, plain_number, reader
from tests.datasets.tables.conftest import Writer
from tests.naive import amounts as naive

LETTERS = "0123456789" * 3 + ".,.,'\u2019 \u00a0\u202f-+−()%$€£" + "USDEURkrzł"
PIECES = ["1", "12", "123", "000", ".", ",", "'", " ", "\u00a0", "-", "−", "+", "(", ")", "%", "$", "€", "US$", "EUR", "kr", "Fr.", "0"]  # fmt: skip

READ = [
    ("$1,234.50", ".", 1234.5, "$"),
    ("1.234,50 €", ",", 1234.5, "€"),
    ("1 234,50\u00a0€", ",", 1234.5, "€"),
    ("CHF 1'234.50", ".", 1234.5, "CHF"),
    ("US$ 12,345,678", ".", 12345678.0, "US$"),
    ("-$5", ".", -5.0, "$"),
    ("$-5", ".", -5.0, "$"),
    ("($5.25)", ".", -5.25, "$"),
    ("−3,5 %", ",", -3.5, "%"),
    ("1,234", ".", 1234.0, ""),
    ("1,234", ",", 1.234, ""),
    ("0,123", ",", 0.123, ""),
    (".5", ".", 0.5, ""),
    ("12 345 kr", ",", 12345.0, "kr"),
]
NOT_READ = ["", "$", "-", ".", "1,23,456", "12,3456", "$5 USD", "(-5)", "(5", "5)", "5 kg", "1,234.5.6", "1.234,5,6",
            "$ $5", "1 23", "0,123,456", "\uff11\uff12", "1,234'567", "€ %", "5%%"]  # fmt: skip


@pytest.mark.parametrize(("text", "decimal", "number", "unit"), READ)
def test_amounts(text: str, decimal: str, number: float, unit: str) -> None:
    found = amount(text, decimal)
    assert found is not None
    assert (found.number, found.unit) == (number, unit)
    assert naive.read(text, decimal) == (number, unit)


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_amount(text: str) -> None:
    assert amount(text, ".") is None
    assert naive.read(text, ".") is None


@given(
    st.one_of(st.text(LETTERS, max_size=12), st.lists(st.sampled_from(PIECES), max_size=9).map("".join)),
    st.sampled_from(MARKS),
)
@example("1" * 61, ".")
@example("1" * 60, ".")
def test_as_letter_by_letter(text: str, decimal: str) -> None:
    found = amount(text, decimal)
    assert (found and (found.number, found.unit)) == naive.read(text, decimal)


@given(
    st.integers(-(10**12), 10**12),
    st.integers(0, 99),
    st.sampled_from(MARKS),
    st.sampled_from(["", "$", "EUR ", "£"]),
)
def test_what_is_written_with_marks_is_read_again(whole: int, part: int, decimal: str, unit: str) -> None:
    swapped = str.maketrans(".,", ",." if decimal == "," else ".,")
    text = unit + f"{whole:,}.{part:02}".translate(swapped)
    sign = -1 if whole < 0 else 1
    found = amount(text, decimal)
    assert found is not None
    assert found.number == sign * float(f"{abs(whole)}.{part:02}")
    assert found.unit == unit.strip()


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(MARKS))
def test_plain_numbers_stay_what_they_are(number: float, decimal: str) -> None:
    assert reader(decimal, ",")(repr(number).replace(".", decimal)) == number


@given(st.text(LETTERS, max_size=12))
def test_without_a_mark_only_plain_numbers_are_numbers(text: str) -> None:
    found = reader(None, ",")(text)
    assert math.isnan(found) or found == plain_number(text) == float(text)


@pytest.mark.usefixtures("csv_reader")
class TestFiles:
    def test_decimal_point(self, write: Writer) -> None:
        path = write('price,y\n"$1,234.50",a\n7.25,b\n,a\n"($3)",b\nNA,a\n')
        table = datasets.read(path, "y", decimal=".")
        assert table.kinds == ("numeric",)
        assert [None if math.isnan(x) else x for x in table.X[:, 0].tolist()] == [
            1234.5,
            7.25,
            None,
            -3,
            None,
        ]

    def test_decimal_comma_also_where_points_part_thousands_only(self, write: Writer) -> None:
        path = write("price;n;y\n1.234;1,5;a\n2.000;2;b\n")
        assert datasets.read(path, "y", decimal=",").X.tolist() == [[1234, 1.5], [2000, 2]]
        assert datasets.read(path, "y").X.tolist() == [[1.234, 1.5], [2, 2]]

    def test_the_other_mark_is_no_decimal_mark(self, write: Writer) -> None:
        with pytest.raises(
            DatasetError, match=r"column 'x' mixes numbers and texts \(the first text is '1\.5'"
        ):
            datasets.read(write("x;y\n1.5;a\n1e3;b\n"), "y", decimal=",")

    def test_two_currencies_are_not_one_number(self, write: Writer) -> None:
        with pytest.raises(DatasetError, match=r"column 'x' holds amounts in \$ and in € \('\$5', '7 €'\)"):
            datasets.read(write("x,y\n$5,a\n7 €,b\n"), "y", decimal=".")

    def test_labels_stay_as_written(self, write: Writer) -> None:
        assert datasets.read(write("x,y\n1,$5\n2,$6\n"), "y", decimal=".").labels == ("$5", "$6")

    def test_a_label_of_amounts_is_continuous(self, write: Writer) -> None:
        rows = "".join(f"1;1.{i:03},50 €\n" for i in range(101))
        with pytest.raises(DatasetError, match=r"column 'y' holds 101 different numbers with fractions"):
            datasets.read(write("x;y\n" + rows), "y", decimal=",")


def test_texts_in_typed_sources_are_amounts_where_declared(write: Writer) -> None:
    path = write('{"p": "$1,200", "y": "a"}\n{"p": "$3", "y": "b"}\n', "t.jsonl")
    assert datasets.read(path, "y", numeric=["p"], decimal=".").X.tolist() == [[1200], [3]]
    assert datasets.read(path, "y").kinds == ("nominal",)


@pytest.mark.parametrize("decimal", ["", ";", "..", 1, b","])
def test_a_mark_that_is_none(write: Writer, decimal: object) -> None:
    with pytest.raises(DatasetError, match=r"decimal is .*: give '\.' or ','"):
        datasets.read(write("x,y\n1,a\n2,b\n"), "y", decimal=decimal)  # type: ignore[arg-type]
