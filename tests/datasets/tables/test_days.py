"""Columns of dates in files: the seven numbers that a date in a row has."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.tables.days import iso, looks_like_a_date, parts_of
from banditboost.rows.plain import DATE_PARTS, date_parts
from tests.datasets.tables.conftest import Writer

NAMES = tuple(f"when.{part}" for part in DATE_PARTS)
MOMENTS = [
    datetime.datetime(2024, 2, 29, 21, 5),
    datetime.datetime(2025, 12, 31, 0, 0),
    datetime.datetime(2024, 7, 4, 9, 30),
]


def expected(value: object) -> list[float]:
    parts = date_parts("when", value)
    return [parts.get(part, np.nan) for part in DATE_PARTS]


def same(X: Any, values: list[object]) -> bool:
    return np.array_equal(np.asarray(X), np.array([expected(value) for value in values]), equal_nan=True)


@pytest.mark.parametrize(
    "written",
    [
        "%Y-%m-%dT%H:%M:%S",
        "%Y-%m-%d %H:%M",
        "%d.%m.%Y %H:%M",
        "%Y/%m/%d %H:%M:%S",
        "%d/%m/%Y %H:%M",
        "%m/%d/%Y %I:%M %p",
        "%d-%m-%Y, %H:%M:%S",
    ],
)
@pytest.mark.usefixtures("csv_reader")
def test_ways_to_write_a_date(write: Writer, written: str) -> None:
    rows = "".join(
        f'"{moment.strftime(written)}",{label}\n' for moment, label in zip(MOMENTS, "aba", strict=True)
    )
    table = datasets.read(write("when,y\n" + rows), "y", dates=["when"])
    assert table.features == NAMES
    assert table.dates == ("when",)
    assert same(table.X, list(MOMENTS))


@given(st.datetimes(datetime.datetime(1000, 1, 1)), st.sampled_from(["day", "month"]))
def test_every_moment_is_read_again(moment: datetime.datetime, order: str) -> None:
    moment = moment.replace(microsecond=0)
    first, second = (moment.day, moment.month) if order == "day" else (moment.month, moment.day)
    half = "PM" if moment.hour >= 12 else "AM"
    for text in (
        f"{first}/{second}/{moment.year} {moment.hour % 12 or 12}:{moment:%M:%S} {half}",
        f"{moment.day}.{moment.month}.{moment.year} {moment:%H:%M:%S}",
        f"{moment.year}/{moment.month}/{moment.day} {moment:%H:%M:%S}",
        f"{moment.year}-{moment.month}-{moment.day} {moment.hour}:{moment:%M:%S}",
        moment.isoformat(),
    ):
        assert looks_like_a_date(text)
        assert iso(text, order) == moment.isoformat()
        assert parts_of(text, order) == tuple(expected(moment))


@given(st.text(st.sampled_from("0123456789-/.: TAPMapm+Z"), max_size=24))
def test_any_text_is_a_date_or_none(text: str) -> None:
    for order in ("day", "month"):
        parts = parts_of(text, order)
        assert parts is None or len(parts) == 7


@pytest.mark.parametrize(
    "text",
    ["13:00 PM", "1/2/2024 13:00 PM", "1/2/2024 0:30 AM", "30.2.2024", "2024-13-01", "1.1.24", "", "x"],
)
def test_no_dates(text: str) -> None:
    assert parts_of(text, "day") is None


def test_dates_without_and_times_only(write: Writer) -> None:
    table = datasets.read(write("when,n,y\n2024-01-02,1,a\n9:30,2,b\n,3,b\n"), "y", dates=["when"])
    assert table.features == ("n", *NAMES)
    assert same(table.X[:2, 1:], [datetime.date(2024, 1, 2), datetime.time(9, 30)])
    assert np.isnan(table.X[2, 1:]).all()
    path = write("when,n,y\n2024-01-02,1,a\n9:30,2,b\n,3,b\n")
    opened = datasets.open_file(path, "y", dates=["when"])
    assert opened.describe() == table.describe()
    assert opened.schema().to_dict() == table.schema().to_dict()


def test_model_goes_on_with_rows(write: Writer, tmp_path: Path) -> None:
    """What is learned from a file is used for rows with dates, also after a model was saved."""
    rows = "".join(
        f"2024-03-{1 + i % 28:02}T{i % 24:02}:00,{i % 5},{'ab'[i % 24 > 11]}\n" for i in range(200)
    )
    table = datasets.read(write("when,n,y\n" + rows), "y", dates=["when"])
    model = banditboost.GapBoost(table.labels, n_learners=2, schema=table.schema(), seed=1)
    banditboost.play(model, *table.stream())
    model.save(tmp_path / "m.bb")
    loaded = banditboost.load(tmp_path / "m.bb")
    for row in ({"when": "2024-04-01T20:00", "n": 2}, {"when": datetime.datetime(2024, 4, 1, 20), "n": 2}):
        assert loaded.decide(row).label in "ab"


def test_day_and_month(write: Writer) -> None:
    path = write("when,y\n03/04/2024,a\n05/06/2024,b\n")
    with pytest.raises(
        DatasetError, match=r"'when' may have the day or the month first, and no date in it tells which"
    ):
        datasets.read(path, "y", dates=["when"])
    one = datasets.read(write("when,y\n03/04/2024,a\n13/06/2024,b\n"), "y", dates=["when"])
    assert same(one.X, [datetime.date(2024, 4, 3), datetime.date(2024, 6, 13)])
    other = datasets.read(write("when,y\n03/04/2024,a\n06/13/2024,b\n"), "y", dates=["when"])
    assert same(other.X, [datetime.date(2024, 3, 4), datetime.date(2024, 6, 13)])
    with pytest.raises(DatasetError, match=r"dates=\['when'\], but a cell of that column is '06/13/2024'"):
        datasets.read(write("when,y\n13/04/2024,a\n06/13/2024,b\n"), "y", dates=["when"])


@pytest.mark.parametrize("cell", ["soon", "5", "2024", "$5"])
def test_what_is_no_date(write: Writer, cell: str) -> None:
    with pytest.raises(
        DatasetError, match=r"dates=\['when'\], but a cell of that column is .*2024-12-31.*ignore"
    ):
        datasets.read(write(f"when,y\n2024-01-01,a\n{cell},b\n"), "y", dates=["when"])


def test_a_column_called_as_a_part(write: Writer) -> None:
    with pytest.raises(
        DatasetError, match=r"column 'when.elapsed' is called as a part of the date 'when' is: rename"
    ):
        datasets.read(write("when,when.elapsed,y\n2024-01-01,1,a\n2024-01-02,2,b\n"), "y", dates=["when"])


FRAMES = {
    "pandas": lambda: pd.DataFrame({"when": MOMENTS, "y": list("aba")}),
    "pandas objects": lambda: pd.DataFrame({"when": pd.Series(MOMENTS, dtype=object), "y": list("aba")}),
    "polars": lambda: pl.DataFrame({"when": MOMENTS, "y": list("aba")}),
    "pyarrow": lambda: pl.DataFrame({"when": MOMENTS, "y": list("aba")}).to_arrow(),
}


@pytest.mark.parametrize("form", FRAMES)
def test_typed_dates_need_no_word(form: str) -> None:
    for said in ({}, {"dates": ["when"]}):
        table = datasets.read(FRAMES[form](), "y", **said)
        assert table.features == NAMES
        assert same(table.X, list(MOMENTS))
    assert datasets.read(FRAMES[form](), "y", nominal=["when"]).kinds == ("nominal",)


@pytest.mark.parametrize("without", [(), ("pyarrow", "pyarrow.dataset")])
def test_typed_dates_in_files(
    tmp_path: Path, without: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    pl.DataFrame({"when": [*MOMENTS, None], "y": list("abab")}).write_parquet(tmp_path / "t.parquet")
    for module in without:
        monkeypatch.setitem(sys.modules, module, None)
    table = datasets.read(tmp_path / "t.parquet", "y")
    assert same(table.X[:3], list(MOMENTS))
    assert np.isnan(table.X[3]).all()
