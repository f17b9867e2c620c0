"""CSV files: what cells mean, and how files may be written."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.tables import csv_files
from tests.datasets.tables.conftest import Writer

pytestmark = pytest.mark.usefixtures("csv_reader")


def matrix(table: datasets.Table) -> list[list[float | None]]:
    return [[None if np.isnan(cell) else cell for cell in row] for row in table.X.tolist()]


def test_kinds_and_codes(write: Writer) -> None:
    table = datasets.read(write("hour,device,new,y\n9,tv,true,b\n21.5,phone,FALSE,a\n,tv,True,a\n"), "y")
    assert table.features == ("hour", "device", "new")
    assert table.kinds == ("numeric", "nominal", "nominal")
    assert table.values == (None, ("phone", "tv"), ("False", "True"))
    assert matrix(table) == [[9, 1, 1], [21.5, 0, 0], [None, 1, 1]]
    assert (table.labels, table.y.tolist(), table.n_rows) == (("a", "b"), [1, 0, 0], 3)


def test_label_may_be_any_column_and_look_like_numbers(write: Writer) -> None:
    table = datasets.read(write("y,x\n10,1\n9,2\n10,3\n"), "y")
    assert (table.labels, table.y.tolist(), table.features) == (("9", "10"), [1, 0, 1], ("x",))


@pytest.mark.parametrize("missing", ["", "NA", "?", "nan", "NaN", "null", "N/A", " "])
def test_missing_among_numbers(write: Writer, missing: str) -> None:
    table = datasets.read(write(f"x,y\n1,a\n{missing},b\n2,a\n"), "y")
    assert matrix(table) == [[1], [None], [2]]
    assert table.kinds == ("numeric",)


def test_among_names_only_the_empty_cell_is_missing(write: Writer) -> None:
    table = datasets.read(write("country,y\nNA,a\n,b\nDE,a\n"), "y")
    assert (table.values, matrix(table)) == ((("DE", "NA"),), [[1], [None], [0]])


def test_column_without_values(write: Writer) -> None:
    table = datasets.read(write("x,empty,y\n1,,a\n2,,b\n"), "y")
    assert table.kinds == ("numeric", "numeric")
    assert "no number, 2 missing" in table.describe()


@pytest.mark.parametrize("text", ["1_000", "0x1A", "1,00,0", "ten", "1 2", "--1"])
def test_not_numbers(write: Writer, text: str) -> None:
    assert datasets.read(write(f'x,y\n"{text}",a\n"{text}",b\n'), "y").values == ((text,),)


@pytest.mark.parametrize("text", ["1e3", "+1000", " 1000 ", "1000.", "1.0E+3"])
def test_numbers(write: Writer, text: str) -> None:
    assert matrix(datasets.read(write(f"x,y\n{text},a\n{text},b\n"), "y")) == [[1000], [1000]]


def test_blanks_around_cells_do_not_count(write: Writer) -> None:
    table = datasets.read(write("x , word,y\n1, red ,a\n2,red,b\n"), "y")
    assert (table.features, table.values) == (("x", "word"), (None, ("red",)))


def test_semicolons_and_decimal_commas(write: Writer) -> None:
    table = datasets.read(write("height;who;y\n1,62;ann;a\n1.7;bob;b\n;ann;b\n"), "y")
    assert matrix(table) == [[1.62, 0], [1.7, 1], [None, 0]]


def test_decimal_commas_beside_texts(write: Writer) -> None:
    table = datasets.read(write("x;y\n1,5;a\n?;b\n"), "y")
    assert matrix(table) == [[1.5], [None]]


def test_tabs(write: Writer) -> None:
    assert matrix(datasets.read(write("a\tb\ty\n1\t2\tu\n3\t4\tv\n", "table.tsv"), "y")) == [[1, 2], [3, 4]]


def test_quotes_newlines_and_empty_lines(write: Writer) -> None:
    table = datasets.read(write('"a","the word",y\r\n\r\n1,"red, ""dark""\nred",u\r\n2,blue,v\r\n\r\n'), "y")
    assert table.values == (None, ("blue", 'red, "dark"\nred'))
    assert matrix(table) == [[1, 1], [2, 0]]


def test_a_lone_quote_inside_a_cell(write: Writer) -> None:
    assert datasets.read(write('pipe,y\n5" long,a\n6in,b\n'), "y").values == (('5" long', "6in"),)


def test_byte_order_mark(write: Writer) -> None:
    assert datasets.read(write("\ufeffx,y\n1,a\n2,b\n"), "y").features == ("x",)


def test_no_newline_at_the_end(write: Writer) -> None:
    assert datasets.read(write("x,y\n1,a\n2,b"), "y").n_rows == 2


@pytest.mark.parametrize("name", ["table.csv.gz", "table.csv"])
def test_gzip_whatever_the_name(write: Writer, name: str) -> None:
    assert matrix(datasets.read(write(gzip.compress(b"x,y\n1,a\n2,b\n"), name), "y")) == [[1], [2]]


def test_column_without_a_name(write: Writer) -> None:
    """As pandas writes its index."""
    table = datasets.read(write(",x,y\n0,1,a\n1,2,b\n"), "y", ignore=["column 1"])
    assert table.features == ("x",)


def test_declared_numeric_takes_texts_as_missing(write: Writer) -> None:
    table = datasets.read(write("x,y\n1,a\nunknown,b\n2,a\n"), "y", numeric=["x"])
    assert (table.kinds, matrix(table)) == (("numeric",), [[1], [None], [2]])
    assert "1 to 2, 1 missing" in table.describe()


def test_declared_nominal_keeps_numbers_as_written(write: Writer) -> None:
    table = datasets.read(
        write("zip,day,y\n01234,2024-01-01,a\n1234,2024-01-02,b\n01234,2024-01-01,b\n"),
        "y",
        nominal=["zip", "day"],
    )
    assert table.kinds == ("nominal", "nominal")
    assert {frozenset(names or ()) for names in table.values} == {
        frozenset({"01234", "1234"}),
        frozenset({"2024-01-01", "2024-01-02"}),
    }


def test_a_name_may_spell_infinity(write: Writer) -> None:
    table = datasets.read(write("x,y\n1,inf\n2,sup\n"), "y")
    assert table.labels == ("inf", "sup")


def test_ignored_columns_are_not_looked_at(write: Writer) -> None:
    assert datasets.read(write("when,x,y\n2024-01-01,1,a\nsoon,2,b\n"), "y", ignore=["when"]).features == (
        "x",
    )


def test_kinds_hold_over_batches(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first batches alone look like numbers, or like nothing."""
    monkeypatch.setattr(csv_files, "_CELLS_A_BATCH", 8)
    monkeypatch.setattr(csv_files, "_BLOCK", 64)
    rows = "".join(f"{i},,x{i % 3},{'ab'[i % 2]}\n" for i in range(50)) + "?,late,x9,a\n"
    table = datasets.read(write("n,late,word,y\n" + rows), "y")
    assert table.kinds == ("numeric", "nominal", "nominal")
    assert matrix(table)[-1] == [None, 0, 3]
    assert (np.isnan(table.X[:-1, 1]).all(), table.X[:50, 0].tolist()) == (True, list(range(50)))


def test_mixture_is_found_over_batches(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_CELLS_A_BATCH", 4)
    monkeypatch.setattr(csv_files, "_BLOCK", 32)
    path = write("x,y\n" + "1,a\n2,b\n" * 20 + "12 kg,a\n")
    with pytest.raises(
        DatasetError, match=r"column 'x' mixes numbers and texts \(the first text is '12 kg', in row 41\)"
    ):
        datasets.read(path, "y")


def test_car_as_a_file(tmp_path: Path) -> None:
    car = datasets.load("car", "raw")
    path = tmp_path / "car.csv"
    rows = (",".join([*map(str, row.values()), label]) for row, label in car.records())
    path.write_text("\n".join([",".join([*car.features, "label"]), *rows]))
    table = datasets.read(path, "label", nominal=["doors", "persons"])
    assert list(table.records()) == list(car.records())
