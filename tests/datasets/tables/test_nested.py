"""Objects and durations in files and frames: columns as rows have them."""

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import banditboost
from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.tables import json_files
from tests.datasets.tables.conftest import Writer
from tests.naive import rows as naive

NOON = datetime.datetime(2026, 11, 18, 12)
ROWS: list[dict[str, Any]] = [
    {
        "user": None if i == 3 else {"age": 20 + i % 9, "home": {"zip": f"Z{i % 3}"}, "born": NOON},
        "wait": datetime.timedelta(minutes=i, microseconds=1),
        "y": "ab"[i % 2],
    }
    for i in range(12)
]
FEATURES = ("user.age", "user.home.zip", "wait", *(f"user.born.{part}" for part in naive.parts_of(NOON)))
ARROW = pa.Table.from_pylist(ROWS)
FRAMES = {
    "pyarrow": ARROW,
    "polars": pl.from_arrow(ARROW),
    "pandas": pd.DataFrame(ROWS),
    "pandas and pyarrow": ARROW.to_pandas(types_mapper=pd.ArrowDtype),
}


def check_table(table: datasets.Table) -> None:
    assert table.features == FEATURES
    assert table.dates == ("user.born",)
    parts = naive.parts_of(NOON).values()
    for i, row in enumerate(ROWS):
        user = row["user"]
        assert table.X[i, 2] == row["wait"].total_seconds()
        if user is None:
            assert np.isnan(np.delete(table.X[i], 2)).all()
        else:
            assert table.X[i, 0] == user["age"]
            assert table.values[1][int(table.X[i, 1])] == user["home"]["zip"]  # type: ignore[index]
            assert table.X[i, 3:] == pytest.approx(list(parts), abs=1e-9)
    model = banditboost.AdaBandit(table.labels, n_learners=2, schema=table.schema(), seed=1)
    banditboost.play(model, *table.stream())
    model.decide({name: value for name, value in ROWS[0].items() if name != "y"})


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())
def test_frames(frame: object) -> None:
    check_table(datasets.read(frame, "y"))


@pytest.mark.parametrize("reader", ["pyarrow", "polars"])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_arrow_files(tmp_path: Path, kind: str, reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"table.{kind}"
    (pq.write_table if kind == "parquet" else pyarrow.feather.write_feather)(ARROW, path)
    if reader == "polars":
        from banditboost.datasets.tables import arrow_files

        monkeypatch.setattr(arrow_files, "_PyArrow", arrow_files._Polars)
    check_table(datasets.read(path, "y"))
    table = datasets.open_file(path, "y", ignore=["user.home", "wait"])
    assert table.features == ("user.age", *FEATURES[3:])


def test_a_label_within_an_object(write: Writer) -> None:
    path = write('{"seen": {"x": 1, "y": "a"}}\n{"seen": {"x": 2, "y": "b"}}\n', "t.jsonl")
    table = datasets.read(path, "seen.y")
    assert (table.features, table.labels) == (("seen.x",), ("a", "b"))
    with pytest.raises(DatasetError, match=r"no column 'seen': did you mean 'seen.[xy]'\?"):
        datasets.read(path, "seen")


def test_json_lines_whose_objects_come_late(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "_LINES_A_BATCH", 2)
    rows = [
        {"y": "a", "u": None},
        {"y": "b"},
        {"y": "a", "u": {"x": 1, "w": {"z": 2}}},
        {"y": "b", "u": {"x": 3}},
    ]
    path = write("\n".join(map(json.dumps, rows)), "t.jsonl")
    table = datasets.read(path, "y")
    assert table.features == ("u.x", "u.w.z")
    assert np.array_equal(table.X[:, 0], [np.nan, np.nan, 1, 3], equal_nan=True)
    assert datasets.check(path).options == {}
    assert datasets.read(path, "y", ignore=["u.w"]).features == ("u.x",)


def test_values_beside_objects_are_a_column_of_their_own(write: Writer) -> None:
    rows = [{"y": "a", "u": 7}, {"y": "b", "u": {"x": 1}}, {"y": "b", "u": 8}]
    table = datasets.read(write("\n".join(map(json.dumps, rows)), "t.jsonl"), "y")
    assert table.features == ("u", "u.x")
    assert np.array_equal(table.X, [[7, np.nan], [np.nan, 1], [8, np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"u": {"x": 1}, "u.x": 2, "y": "a"}',
            r"column 'u.x' is there twice, once within an object: rename",
        ),
        ('{"u": ' + 8 * '{"x": ' + "1" + 9 * "}", r"more than 8 deep: flatten it, or leave it out"),
        ('{"u": [{"x": 1}], "y": "a"}', r"holds lists of things that are no texts"),
    ],
)
def test_refused(write: Writer, line: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        datasets.read(write(line, "t.jsonl"), "y")


def test_durations_without_a_length() -> None:
    months = pd.DataFrame({"x": [np.timedelta64(3, "M"), None], "y": ["a", "b"]}, dtype=object)
    with pytest.raises(DatasetError, match=r"column 'x' holds durations whose length is not known.*ignore="):
        datasets.read(months, "y")


def test_durations_as_names_and_amid_numbers() -> None:
    waits = pd.Series([datetime.timedelta(seconds=90), 3, None, np.timedelta64(2, "m")], dtype=object)
    frame = pd.DataFrame({"x": waits, "y": list("abab")})
    assert np.array_equal(datasets.read(frame, "y").X[:, 0], [90, 3, np.nan, 120], equal_nan=True)
    assert datasets.read(frame, "y", nominal=["x"]).values == (("3", "90", "120"),)


names = st.sampled_from(["a", "b", "c"])
leaves = st.none() | st.integers(-9, 9) | st.floats(-1e9, 1e9)
objects = st.recursive(
    st.dictionaries(names, leaves, max_size=3),
    lambda inner: st.dictionaries(names, leaves | inner, max_size=3),
    max_leaves=8,
)


@given(rows=st.lists(objects, min_size=2, max_size=6))
def test_json_lines_have_the_columns_of_rows(rows: list[dict[str, Any]], tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("nested") / "t.jsonl"
    path.write_text("\n".join(json.dumps({"in": row, "y": "ab"[i % 2]}) for i, row in enumerate(rows)))
    flat = [dict(naive.flat({"in": row})) for row in rows]
    here = {name for row in flat for name, value in row.items() if value is not None}
    if not here:
        return
    table = datasets.read(path, "y")
    assert here <= set(table.features) <= {name for row in flat for name in row}
    for i, row in enumerate(flat):
        for name, number in zip(table.features, table.X[i].tolist(), strict=True):
            value = row.get(name)
            assert number != number if value is None else number == value
