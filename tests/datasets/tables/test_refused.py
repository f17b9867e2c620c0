"""What is refused at the door: one line that names the file or column, and the remedy."""

import gzip
import os
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.errors import ParameterError
from tests.datasets.tables.conftest import Writer

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

REFUSED = {
    "empty file": ("", r"is empty: it needs column names, and rows"),
    "blank lines": ("\n\n\n", r"is empty: it needs column names, and rows"),
    "header only": ("x,y\n", r"table\.csv: there are no rows"),
    "missing label": ("x,Y,z\n1,a,2\n", r"has no column 'y': its columns are x, Y, z"),
    "no header": (
        "1,2\n3,4\n",
        r"has no column 'y': its columns are 1, 2 \(the first line of a CSV file has to name them\)",
    ),
    "one class": (
        "x,y\n1,a\n2,a\n",
        r"column 'y' has only the label 'a': there is nothing to choose between; name another",
    ),
    "one class, spelled twice": ("x,y\n1,true\n2,True\n", r"column 'y' has only the label 'True'"),
    "no label cell": ("x,y\n1,\n2,\n", r"column 'y' has no label at all"),
    "row without label": (
        "x,y\n1,a\n2,b\n3,\n",
        r"column 'y' is empty in 1 row, the first is row 3: every row needs its right label; leave such rows out",
    ),
    "no features": ("y\na\nb\n", r"there is no column besides the label 'y'"),
    "long line": ("x,y\n1,a\n2,b,c\n", r"has 3 cells in line 3 where the header has 2: repair that line"),
    "short line": ("x,y\n1,a\n2\n", r"has 1 cells in line 3 where the header has 2: repair that line"),
    "open quote": ('x,y\n1,"a\n2,b\n', r"cannot be read in line \d.*look for a quote that is not closed"),
    "latin-1": (
        b"x,y\n1,caf\xe9\n2,b\n",
        r"is not UTF-8 text \(byte 0xe9 in line 2\): save it as UTF-8, or say what it is, such as encoding='cp1252'",
    ),
    "utf-16": (
        "x,y\n1,a\n2,b\n".encode("utf-16"),
        r"is UTF-16 text by its content: save it as UTF-8, or say encoding='utf-16'",
    ),
    "two names": ("x,x,y\n1,2,a\n", r"has two columns 'x': give each a name of its own"),
    "mixture": (
        "x,y\n1,a\nred,b\n",
        r"column 'x' mixes numbers and texts \(the first text is 'red', in row 2\): "
        r"say nominal=\['x'\] .* or numeric=",
    ),
    "dates": (
        "x,y\n2024-01-02,a\n2024-02-01,b\n",
        r"column 'x' holds dates or times \('2024-01-02'\): say dates=\['x'\] .*weekday.*ignore=\['x'\]",
    ),
    "times": ("x,y\n12:30,a\n9:15,b\n", r"column 'x' holds dates or times"),
    "other dates": ("x,y\n31.12.2024 10:00,a\n1.1.2025 11:00,b\n", r"column 'x' holds dates or times"),
    "amounts": (
        'x,y\n"$1,234.50",a\n$7,b\n',
        r"column 'x' holds amounts, such as '\$1,234.50': say decimal='\.' to take them as numbers, or nominal",
    ),
    "amounts with commas": (
        "x;y\n1.234,50 €;a\n7 €;b\n",
        r"column 'x' holds amounts, such as '1.234,50 €': say decimal=',' to take",
    ),
    "thousands or not": (
        'x,y\n"1,234",a\n"2,345",b\n',
        r"column 'x' holds amounts, such as '1,234': say decimal='\.' or decimal=',', whichever mark it has",
    ),
    "half zstd": (zstd.compress(b"x,y\n1,a\n2,b\n" * 999)[:-4], r"is cut short or damaged"),
    "broken zstd": (zstd.compress(b"x,y\n1,a\n2,b\n" * 99)[:12] + b"garbage", r"is cut short or damaged"),
    "a line for Excel": (
        "sep=;\nx;y\n1;a\n2;b\n",
        r"begins with the line sep=;, which only Excel understands: delete",
    ),
    "infinity": ("x,y\n1,a\ninf,b\n", r"column 'x' is infinite in row 2: leave that cell empty"),
    "beyond floats": ("x,y\n1e999,a\n?,b\n", r"column 'x' is infinite in row 1"),
    "too many labels": (
        "x,y\n" + "".join(f"1,{i}\n" for i in range(10_001)),
        r"more than 10,000 different values: it holds measurements or ids",
    ),
    "continuous label": (
        "x,y\n" + "".join(f"1,{i / 2}\n" for i in range(101)),
        r"column 'y' holds 101 different numbers with fractions \(such as 0\.5\): a measurement is no label; "
        r"make a few bins of it .*, or name another label column",
    ),
    "continuous label with decimal commas": (
        "x;y\n" + "".join(f"1;{i},5\n" for i in range(101)),
        r"column 'y' holds 101 different numbers with fractions \(such as 0,5\)",
    ),
    "parquet called csv": (b"PAR1....", r"is a Parquet file by its content: rename it to end in \.parquet"),
    "arrow called csv": (b"ARROW1..", r"is an Arrow file by its content: rename it"),
    "excel called csv": (
        b"PK\x03\x04....",
        r"is a zip archive or an Excel workbook by its content: unpack it, or export it as CSV",
    ),
    "old excel": (b"\xd0\xcf\x11\xe0....", r"is an Excel workbook by its content"),
    "half gzip": (gzip.compress(b"x,y\n1,a\n2,b\n" * 999)[:60], r"is cut short or damaged"),
    "broken gzip": (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03garbage", r"is cut short or damaged"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str, write: Writer, csv_reader: str) -> None:  # noqa: ARG001
    content, message = REFUSED[case]
    path = write(content)
    for door in (datasets.read, datasets.open_file):
        with pytest.raises(DatasetError, match=message) as caught:
            door(path, "y")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "labels",
    [
        [i / 2 for i in range(100)],
        [float(i) for i in range(101)],
        [*(i / 2 for i in range(101)), "none"],
        [f"{i}" for i in range(9_999)],
    ],
    ids=["few fractions", "whole numbers", "a name among them", "many ids"],
)
def test_labels_that_are_not_continuous(write: Writer, labels: list[object], csv_reader: str) -> None:  # noqa: ARG001
    path = write("x,y\n" + "".join(f"1,{label}\n" for label in labels))
    assert len(datasets.read(path, "y").labels) == len(labels)


def test_near_miss_of_a_column(write: Writer) -> None:
    path = write("size,colour,kind\n1,red,a\n2,red,b\n")
    with pytest.raises(
        DatasetError, match=r"has no column 'kinds': did you mean 'kind'\? its columns are size, colour, kind"
    ):
        datasets.read(path, "kinds")
    for argument in ("numeric", "nominal", "ignore"):
        with pytest.raises(DatasetError, match=r"has no column 'color': did you mean 'colour'\?"):
            datasets.read(path, "kind", **{argument: ["color"]})


def test_many_columns_are_not_all_listed(write: Writer) -> None:
    path = write(",".join(f"c{i}" for i in range(500)) + "\n")
    with pytest.raises(DatasetError, match=r"c19 and 480 more"):
        datasets.read(path, "label")


def test_column_named_twice_or_as_a_text(write: Writer) -> None:
    path = write("x,y\n1,a\n2,b\n")
    with pytest.raises(
        DatasetError,
        match="column 'x' is in nominal, and is the label or was named before: name each column once",
    ):
        datasets.read(path, "y", numeric=["x"], nominal=["x"])
    with pytest.raises(DatasetError, match="column 'y' is in ignore"):
        datasets.read(path, "y", ignore=["y"])
    with pytest.raises(
        DatasetError, match=r"numeric is the text 'x': give a list of columns, such as \['x'\]"
    ):
        datasets.read(path, "y", numeric="x")


def test_declared_numeric_without_a_number(write: Writer) -> None:
    with pytest.raises(
        DatasetError, match=r"numeric=\['x'\], but no cell of that column is a number \(one is 'red'\)"
    ):
        datasets.read(write("x,y\nred,a\nblue,b\n"), "y", numeric=["x"])


def test_missing_file(write: Writer) -> None:
    path = write("x,y\n1,a\n", "people.csv")
    with pytest.raises(DatasetError, match=r"no file .*peple\.csv: did you mean people\.csv\?"):
        datasets.read(path.with_name("peple.csv"), "y")
    with pytest.raises(DatasetError, match=r"no file .*nowhere/a\.csv: check the path"):
        datasets.read(path.parent / "nowhere" / "a.csv", "y")


def test_directory_without_files(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DatasetError, match=r"folder\.csv is a directory without files: name a file, or"):
        datasets.read(tmp_path / "folder.csv", "y")


@pytest.mark.parametrize("name", ["table.xlsx", "table", "table.parquet.gz", "table.json", "table.gz"])
def test_extension(write: Writer, name: str) -> None:
    path = write("x,y\n1,a\n2,b\n", name)
    with pytest.raises(
        DatasetError,
        match=r"extension that is not known: "
        r"give a file that ends in \.csv, .*\.jsonl.*\.parquet.*export others as CSV",
    ):
        datasets.read(path, "y")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_unreadable(write: Writer) -> None:
    path = write("x,y\n1,a\n2,b\n")
    path.chmod(0)
    with pytest.raises(DatasetError, match=r"cannot read .*check its permissions"):
        datasets.read(path, "y")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"x": 1, "y": "a"', r"has no whole JSON object in line 2 \(.*\): write one object in each line"),
        ("[1, 2]", r"has a list in line 2: write one JSON object in each line"),
        (
            '{"x": "red", "y": "a"}',
            r"column 'x' mixes numbers and texts \(the first text is 'red', in row 2\)",
        ),
        (
            '{"x": [1], "y": "a"}',
            r"column 'x' holds lists and values of type int \(the first in row 1\): part it",
        ),
        ('{"x": Infinity, "y": "a"}', r"column 'x' is infinite in row 2"),
        ('{"x": 1}', r"column 'y' is empty in 1 row, the first is row 2: every row needs its right label"),
    ],
)
def test_json_lines(write: Writer, line: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        datasets.read(write(f'{{"x": 1, "y": "b"}}\n{line}\n{{"x": 3, "y": "c"}}\n', "table.jsonl"), "y")


@pytest.mark.parametrize("content", ["", "\n", '{"x": 1}\n{"x": 2}\n', "{}\n"])
def test_json_lines_without_what_is_needed(write: Writer, content: str) -> None:
    with pytest.raises(DatasetError, match=r"is empty|there are no rows|has no column 'y'"):
        datasets.read(write(content, "table.jsonl"), "y")


@pytest.mark.parametrize("name", ["table.parquet", "table.arrow", "table.feather", "table.ipc"])
def test_text_with_a_binary_name(write: Writer, name: str) -> None:
    with pytest.raises(
        DatasetError, match=r"is not a \.\w+ file by its content: give it the extension that fits"
    ):
        datasets.read(write("x,y\n1,a\n2,b\n", name), "y")


@pytest.mark.parametrize("without", [(), ("pyarrow", "pyarrow.dataset")])
@pytest.mark.parametrize("name", ["table.parquet", "table.arrow"])
def test_binary_file_cut_short(
    tmp_path: Path, name: str, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    frame = pl.DataFrame({"x": range(1000), "y": ["a", "b"] * 500})
    frame.write_parquet(path) if name.endswith("parquet") else frame.write_ipc(path)
    path.write_bytes(path.read_bytes()[:-300])
    for module in without:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DatasetError, match=r"is cut short or damaged \(.*\): get a fresh copy"):
        datasets.read(path, "y")


def test_neither_pyarrow_nor_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.parquet"
    pl.DataFrame({"x": [1, 2], "y": ["a", "b"]}).write_parquet(path)
    for module in ("pyarrow", "pyarrow.dataset", "polars"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        DatasetError,
        match=r"is read with pyarrow or polars, and neither is installed: "
        "pip install pyarrow, or save it as CSV",
    ):
        datasets.read(path, "y")


def test_dates_as_text_in_frames() -> None:
    frame = pl.DataFrame({"x": ["2024-01-01", "2024-01-02"], "y": ["a", "b"]})
    with pytest.raises(DatasetError, match=r"the frame: column 'x' holds dates or times .*dates=\['x'\]"):
        datasets.read(frame, "y")


def test_nested_frame() -> None:
    with pytest.raises(
        DatasetError,
        match=r"column 'x' holds lists of things that are no texts \(the first in row 1\): .*flatten it",
    ):
        datasets.read(pl.DataFrame({"x": [[1], [2]], "y": ["a", "b"]}), "y")


def test_neither_path_nor_frame() -> None:
    for thing in (7, [[1, 2]], pl.LazyFrame({"x": [1]})):
        with pytest.raises(DatasetError, match="give a path, or a frame of pandas, polars or pyarrow"):
            datasets.read(thing, "y")


def test_frame_without_names() -> None:
    with pytest.raises(DatasetError, match=r"the frame has a column 0: give it names that are texts"):
        datasets.read(pd.DataFrame([[1, 2], [3, 4]]), "y")


def test_frame_with_two_columns_of_one_name() -> None:
    with pytest.raises(
        DatasetError, match="the frame has two columns of one name: give each a name of its own"
    ):
        datasets.read(pd.DataFrame([[1, 2, "a"], [3, 4, "b"]], columns=["x", "x", "y"]), "y")


def test_block_size(write: Writer) -> None:
    with pytest.raises(ParameterError, match="size is 0; give a whole number from 1"):
        next(datasets.open_file(write("x,y\n1,a\n2,b\n"), "y").batches(0))


@pytest.mark.parametrize("later", ["x,y\nred,a\nblue,b\ngreen,a\n", "x,y\nred,a\n", "x,y\nred,a\nred,\n"])
def test_file_that_changes_between_the_passes(write: Writer, later: str, csv_reader: str) -> None:  # noqa: ARG001
    opened = datasets.open_file(write("x,y\nred,a\nred,b\n"), "y")
    write(later)
    with pytest.raises(DatasetError, match="let no one write to it meanwhile"):
        list(opened.batches())


def test_a_name_that_is_a_whole_text(write: Writer) -> None:
    with pytest.raises(
        DatasetError, match=r"a column whose name has 5,000 characters.*give it a short one"
    ) as refusal:
        datasets.read(write(f"{'x' * 5_000},y\n1,a\n2,b\n"), "z")
    assert len(str(refusal.value)) < 500
    for label in ("y", None):
        with pytest.raises(DatasetError, match="a column whose name has 5,000 characters"):
            datasets.check(write(f"{'x' * 5_000},y\n1,a\n2,b\n"), label)


def test_a_cell_that_is_a_whole_text(write: Writer) -> None:
    text = "word " * 5_000
    for content in (f"x,y\n1,{text}\n2,{text}\n", f"x,y\n1,a\n{text},b\n"):
        with pytest.raises(DatasetError) as refusal:
            datasets.read(write(content), "y")
        assert len(str(refusal.value)) < 1_000
        assert len(datasets.check(write(content), "y").describe()) < 1_000
