"""Folders and globs: many files that are one table."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import polars as pl
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.tables.folders import files_of, is_glob, title_of


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


THREE = {
    "b.csv": "x,y\n3,a\n4,b\n",
    "a.csv.gz": gzip.compress(b"x,y\n1,a\n2,b\n"),
    "c.csv": "y,x\nb,5\n",
    "_SUCCESS": "",
    ".b.csv.crc": "junk",
}


@pytest.mark.usefixtures("csv_reader")
@pytest.mark.parametrize("pattern", ["", "*", "?.csv*", "[abc].*", "../*/*.csv*", "**/*.csv*"])
def test_files_in_order(tmp_path: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = put(tmp_path / "visits", THREE)
    monkeypatch.chdir(folder)
    source = (
        str(folder / pattern) if pattern.startswith("*") and pattern != "**/*.csv*" else pattern or folder
    )
    if pattern == "*":
        (folder / "_SUCCESS").unlink()
    table = datasets.read(source, "y")
    assert table.X[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert [table.labels[code] for code in table.y] == ["a", "b", "a", "b", "b"]
    assert sum(len(y) for _, y in datasets.open_file(source, "y").batches(2)) == 5


def test_a_file_called_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    put(tmp_path, {"a[1].csv": "x,y\n1,a\n2,b\n", "a1.csv": "x,y\n9,a\n9,b\n"})
    assert not is_glob(tmp_path / "a[1].csv")
    assert datasets.read(tmp_path / "a[1].csv", "y").X.tolist() == [[1], [2]]


def test_hive_partitions_are_columns(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "country=DE/year=2023/p.csv": "x,y\n1,a\n",
            "country=DE/year=2024/p.csv": "x,y\n2,b\n",
            "country=New%20Zealand/year=__HIVE_DEFAULT_PARTITION__/p.csv": "x,y\n3,b\n",
        },
    )
    table = datasets.read(tmp_path, "y")
    assert [row for row, _ in table.records()] == [
        {"x": 1, "country": "DE", "year": 2023},
        {"x": 2, "country": "DE", "year": 2024},
        {"x": 3, "country": "New Zealand"},
    ]
    assert datasets.read(tmp_path, "y", ignore=["year"], nominal=["country"]).features == ("x", "country")
    assert datasets.read(f"{tmp_path}/country=DE/*/*.csv", "y").features == ("x", "year")


@pytest.mark.parametrize("with_key", [True, False])
@pytest.mark.parametrize("without", [(), ("pyarrow", "pyarrow.dataset")])
def test_parquet_data_set(
    tmp_path: Path, without: tuple[str, ...], with_key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"x": [1, 2, 3], "part": ["u", "v", "u"], "y": ["a", "b", "b"]})
    for i, (part, rows) in enumerate((("u", [0, 2]), ("v", [1]))):
        (tmp_path / "set" / f"part={part}").mkdir(parents=True)
        kept = frame[rows] if with_key else frame[rows].drop("part")
        kept.write_parquet(tmp_path / "set" / f"part={part}" / f"{i}.parquet")
    for module in without:
        monkeypatch.setitem(sys.modules, module, None)
    table = datasets.read(tmp_path / "set", "y")
    assert sorted((row["x"], row["part"], label) for row, label in table.records()) == [
        (1, "u", "a"),
        (2, "v", "b"),
        (3, "u", "b"),
    ]


REFUSED = {
    "other columns": (
        {"a.csv": "x,z,y\n1,2,a\n", "b.csv": "x,w,y\n1,2,b\n"},
        r"b\.csv has other columns than .*a\.csv: it lacks 'z' and has 'w' besides; give all files the same",
    ),
    "other kinds of files": (
        {"a.csv": "x,y\n1,a\n", "b.jsonl": "{}\n"},
        r"b\.jsonl is a json lines file, and .*a\.csv is a csv file: name files of one kind",
    ),
    "something else": ({"a.csv": "x,y\n1,a\n", "notes.txt": "hello"}, r"notes\.txt has an extension that is not known"),
    "an empty file": ({"a.csv": "x,y\n1,a\n", "b.csv": ""}, r"b\.csv is empty"),
    "a bad line": ({"a.csv": "x,y\n1,a\n", "b.csv": "x,y\n1,2,3\n"}, r"b\.csv has 3 cells in line 2"),
    "a mixture": (
        {"a.csv": "x,y\n1,a\n2,b\n", "b.csv": "x,y\n1,a\nred,b\n"},
        r"column 'x' mixes numbers and texts \(the first text is 'red', in row 2 of .*b\.csv\)",
    ),
    "an infinity": ({"a.csv": "x,y\n1,a\n2,b\n", "b.csv": "x,y\ninf,a\n"}, r"infinite in row 1 of .*b\.csv"),
    "half a gzip": ({"a.csv": "x,y\n1,a\n", "b.csv.gz": gzip.compress(b"x,y\n1,a\n" * 999)[:50]}, r"b\.csv\.gz is cut short"),
    "other folders": ({"k=1/a.csv": "x,y\n1,a\n", "b.csv": "x,y\n1,b\n"}, r"is in folders for 'k', and .*b\.csv in folders for nothing"),
    "headers alone": ({"a.csv": "x,y\n", "b.csv": "x,y\n"}, r"there are no rows"),
    "hidden files alone": ({"_a.csv": "x,y\n"}, r"is a directory without files"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.usefixtures("csv_reader")
def test_refused(tmp_path: Path, case: str) -> None:
    files, message = REFUSED[case]
    folder = put(tmp_path / "folder", files)
    with pytest.raises(DatasetError, match=message) as caught:
        datasets.read(folder, "y")
    assert "\n" not in str(caught.value)


def test_a_column_of_the_files_themselves_comes_before_the_folder(tmp_path: Path) -> None:
    put(tmp_path / "csv", {"x=7/a.csv": "x,y\n1,a\n2,b\n"})
    put(tmp_path / "json", {"x=7/a.jsonl": '{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n'})
    for form in ("csv", "json"):
        assert datasets.read(tmp_path / form, "y").X.tolist() == [[1], [2]]


def test_no_file_fits(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no file is called .*\*\.csv: check the path and the pattern"):
        datasets.read(tmp_path / "*.csv", "y")


def test_titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "visits", THREE)
    monkeypatch.chdir(tmp_path / "visits")
    for path in ("*.csv", ".", "../visits/*.csv", "../visits", "../visits/"):
        assert title_of(path) == "visits"
    files = files_of("*.csv*")
    assert files is not None
    assert files.names() == ["a.csv.gz", "b.csv", "c.csv"]
