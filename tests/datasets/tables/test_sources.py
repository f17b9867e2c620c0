"""The same table through every format and frame gives the same X and y."""

import gzip
import io
import json
import math
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import datasets
from banditboost.datasets.tables import csv_files, json_files, paths
from tests.datasets.tables.conftest import Writer

Columns = dict[str, list[Any]]


def plain_csv(columns: Columns) -> bytes:
    text = io.StringIO()
    pd.DataFrame(columns, dtype=object).to_csv(text, index=False)
    return text.getvalue().encode()


def json_lines(columns: Columns) -> bytes:
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def to_parquet(columns: Columns) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink, row_group_size=7)
    return sink.getvalue()


def to_arrow(columns: Columns) -> bytes:
    sink = io.BytesIO()
    feather.write_feather(pa.table(columns), sink)
    return sink.getvalue()


def polars_bytes(method: str) -> Callable[[Columns], bytes]:
    def write(columns: Columns) -> bytes:
        sink = io.BytesIO()
        getattr(pl.DataFrame(columns), method)(sink)
        return sink.getvalue()

    return write


FILES: dict[str, tuple[str, Callable[[Columns], bytes]]] = {
    "csv": ("table.csv", plain_csv),
    "csv.gz": ("table.csv.gz", lambda columns: gzip.compress(plain_csv(columns), 1)),
    "polars csv": ("table.csv", polars_bytes("write_csv")),
    "jsonl": ("table.jsonl", json_lines),
    "jsonl.gz": ("table.jsonl.gz", lambda columns: gzip.compress(json_lines(columns), 1)),
    "polars ndjson": ("table.ndjson", polars_bytes("write_ndjson")),
    "parquet": ("table.parquet", to_parquet),
    "polars parquet": ("table.parquet", polars_bytes("write_parquet")),
    "arrow": ("table.arrow", to_arrow),
    "polars ipc": ("table.feather", polars_bytes("write_ipc")),
}
FRAMES: dict[str, Callable[[Columns], Any]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas categories": lambda columns: pd.DataFrame(columns).astype({"word": "category", "y": "category"}),
    "polars": pl.DataFrame,
    "polars categories": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("word").cast(pl.Categorical)
    ),
    "pyarrow": pa.table,
    "pyarrow dictionary": lambda columns: pa.table(
        {**columns, "word": pa.array(columns["word"], pa.string()).dictionary_encode()}
    ),
}

letters = st.characters(min_codepoint=0x61, max_codepoint=0x17F, categories=("Ll",))
quoted = st.sampled_from(
    ["a,b", 'say "x"', "two\nlines", "a;b", "tab\there", "naïve", "日本", "true story", "1a", "-"]
)
names = st.one_of(st.text(letters, min_size=1, max_size=6), quoted).filter(
    lambda text: text not in ("nan", "true", "false", "inf", "infinity")
)
finite = st.floats(-1e15, 1e15).map(lambda number: number + 0.0)


@st.composite
def tables(draw: st.DrawFn) -> Columns:
    n_rows = draw(st.integers(2, 25))

    def column(cell: st.SearchStrategy[Any]) -> list[Any]:
        return draw(
            st.lists(cell, min_size=n_rows, max_size=n_rows).filter(
                lambda cells: any(cell is not None for cell in cells)
            )
        )

    labels = draw(st.lists(names, min_size=2, max_size=4, unique=True))
    return {
        "number": column(st.one_of(st.none(), finite)),
        "whole": column(st.integers(-(2**40), 2**40)),
        "flag": column(st.booleans()),
        "word": column(st.one_of(st.none(), names)),
        "y": [
            *labels[:2],
            *draw(st.lists(st.sampled_from(labels), min_size=n_rows - 2, max_size=n_rows - 2)),
        ],
    }


def expected(columns: Columns) -> tuple[list[list[float]], list[int], tuple[str, ...]]:
    words = sorted({word for word in columns["word"] if word is not None})
    labels = tuple(sorted(set(columns["y"])))
    flags = sorted({str(flag) for flag in columns["flag"]})
    X = [
        [
            math.nan if number is None else number,
            float(whole),
            float(flags.index(str(flag))),
            math.nan if word is None else float(words.index(word)),
        ]
        for number, whole, flag, word in zip(*list(columns.values())[:4], strict=True)
    ]
    return X, [labels.index(label) for label in columns["y"]], labels


def check(table: datasets.Table, columns: Columns) -> None:
    X, y, labels = expected(columns)
    assert table.kinds == ("numeric", "numeric", "nominal", "nominal")
    assert table.labels == labels
    assert table.y.tolist() == y
    assert np.array_equal(table.X, X, equal_nan=True)


def read_file(columns: Columns, form: str) -> datasets.Table:
    name, write = FILES[form]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(write(columns))
        return datasets.read(path, "y")


@pytest.mark.parametrize("form", FILES)
@settings(max_examples=8, deadline=None)
@given(columns=tables())
def test_round_trip_through_files(form: str, columns: Columns) -> None:
    check(read_file(columns, form), columns)


@pytest.mark.parametrize("form", FRAMES)
@settings(max_examples=8, deadline=None)
@given(columns=tables())
def test_frames(form: str, columns: Columns) -> None:
    check(datasets.read(FRAMES[form](columns), "y"), columns)


@pytest.mark.parametrize("form", ["csv", "csv.gz", "polars csv"])
@settings(max_examples=15, deadline=None)
@given(columns=tables(), cells_a_batch=st.integers(1, 40))
def test_round_trip_through_python_alone(form: str, columns: Columns, cells_a_batch: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paths, "_pyarrow", lambda: None)
        patch.setattr(csv_files, "_CELLS_A_BATCH", cells_a_batch)
        check(read_file(columns, form), columns)


@settings(max_examples=15, deadline=None)
@given(columns=tables(), size=st.integers(1, 30), lines=st.integers(1, 10))
def test_blocks_hold_the_rows_in_order(columns: Columns, size: int, lines: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_files, "_LINES_A_BATCH", lines)
        path = Path(folder) / "table.jsonl"
        rows = (json.loads(line) for line in json_lines(columns).splitlines())
        present = ({name: cell for name, cell in row.items() if cell is not None} for row in rows)
        path.write_text("\n".join(map(json.dumps, present)))
        opened = datasets.open_file(path, "y")
        blocks = list(opened.batches(size))
    X, y, labels = expected(columns)
    order = [["number", "whole", "flag", "word"].index(name) for name in opened.features]
    assert [len(block) for _, block in blocks[:-1]] == [size] * (len(blocks) - 1)
    assert np.array_equal(
        np.concatenate([block for block, _ in blocks]), np.array(X)[:, order], equal_nan=True
    )
    assert np.concatenate([block for _, block in blocks]).tolist() == y
    assert (opened.labels, opened.n_rows) == (labels, len(y))


@pytest.mark.parametrize("form", ["parquet", "polars parquet", "arrow", "polars ipc"])
def test_polars_alone(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns: Columns = {
        "number": [1.5, None, 3],
        "whole": [1, 2, 3],
        "flag": [True, False, True],
        "word": ["a", None, "b"],
        "y": ["u", "v", "u"],
    }
    name, write = FILES[form]
    content = write(columns)
    for module in ("pyarrow", "pyarrow.dataset"):
        monkeypatch.setitem(sys.modules, module, None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        check(datasets.read(path, "y"), columns)


def test_words_that_look_like_numbers_stay_words_where_the_source_has_types() -> None:
    table = datasets.read(pl.DataFrame({"x": ["1", "2"], "y": ["a", "b"]}), "y")
    assert (table.kinds, table.values) == (("nominal",), (("1", "2"),))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_declared_kinds_of_typed_columns(make: Callable[[Columns], Any]) -> None:
    table = datasets.read(
        make({"zip": [10, 9, 10], "z": [1.0, 2.0, 1.0], "y": [3, 20, 3]}), "y", nominal=["zip", "z"]
    )
    assert (table.values, table.labels, table.y.tolist()) == (
        (("9", "10"), ("1", "2")),
        ("3", "20"),
        [0, 1, 0],
    )
    assert table.X.tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    "column",
    [pd.Series([20, 3, None, 20]).astype("category"), pa.array([20, 3, None, 20]).dictionary_encode()],
    ids=["pandas", "pyarrow"],
)
def test_categories_that_are_numbers_are_names(column: Any) -> None:
    frame = {"size": column, "y": ["a", "b", "a", "b"]}
    table = datasets.read(pa.table(frame) if isinstance(column, pa.Array) else pd.DataFrame(frame), label="y")
    codes = table.X[:, 0].tolist()
    assert codes[2] != codes[2]
    names = table.schema().values("size")
    assert [float(names[int(code)]) for code in (codes[0], codes[1], codes[3])] == [20, 3, 20]
    model = banditboost.AdaBandit(table.labels, n_learners=2, schema=table.schema(), seed=1)
    banditboost.play(model, *table.stream())
    assert model.schema.values("size") == names


def test_objects_of_several_types() -> None:
    frame = pd.DataFrame(
        {"x": pd.Series([1, "red", None, 2.5, np.int64(1)], dtype=object), "y": list("abaab")}
    )
    assert datasets.read(frame, "y", nominal=["x"]).values == (("1", "2.5", "red"),)
    numeric = datasets.read(frame, "y", numeric=["x"])
    assert np.array_equal(numeric.X[:, 0], [1, math.nan, math.nan, 2.5, 1], equal_nan=True)


def test_keys_that_come_late_in_json_lines(write: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_files, "_LINES_A_BATCH", 2)
    path = write(
        "".join(
            json.dumps({"x": i, "y": "ab"[i % 2]} | ({"late": "z"} if i == 5 else {})) + "\n\n"
            for i in range(7)
        ),
        "t.jsonl",
    )
    table = datasets.read(path, "y")
    assert table.features == ("x", "late")
    assert np.isnan(table.X[:, 1]).tolist() == [True] * 5 + [False, True]
    assert "late  nominal  1 values: z, 6 missing" in table.describe()


def test_whole_numbers_beyond_floats_in_json(write: Writer) -> None:
    path = write(f'{{"x": 1{"0" * 400}, "y": "a"}}\n{{"x": 1, "y": "b"}}\n', "t.jsonl")
    with pytest.raises(datasets.DatasetError, match="column 'x' is infinite in row 1"):
        datasets.read(path, "y")


def test_table_plays(write: Writer) -> None:
    """The schema fits the codes, and dict rows fit the schema."""
    path = write("device,new,y\n" + "phone,true,a\ntv,false,b\n" * 60)
    table = datasets.read(path, "y")
    model = banditboost.AdaBandit(table.labels, n_learners=3, exploration=0.1, schema=table.schema(), seed=1)
    assert len(banditboost.play(model, *table.stream()).shown) == 120
    assert model.decide({"device": "tv", "new": True}).label in ("a", "b")
    assert model.schema.values("new") == ("False", "True")


def test_file_plays_block_after_block(write: Writer) -> None:
    path = write(
        "x,device,y\n"
        + "".join(f"{i % 7},{'phone' if i % 3 else 'tv'},{'ab'[i % 7 > 3]}\n" for i in range(200))
    )
    opened, table = datasets.open_file(path, "y"), datasets.read(path, "y")

    def model() -> banditboost.AdaBandit:
        return banditboost.AdaBandit(
            table.labels, n_learners=3, exploration=0.1, schema=opened.schema(), seed=1
        )

    in_blocks, at_once = model(), model()
    shown = [
        label for X, y in opened.batches(64) for label in banditboost.play(in_blocks, X, y).shown.tolist()
    ]
    assert shown == banditboost.play(at_once, *table.stream()).shown.tolist()


def test_stream_order(write: Writer) -> None:
    table = datasets.read(write("x,y\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(30))), "y")
    assert table.stream().X[:, 0].tolist() == list(range(30))
    assert table.stream(repeat=2, rounds=40).X[:, 0].tolist() == [*range(30), *range(10)]
    shuffled = table.stream(repeat=2, seed=3)
    assert shuffled.rows.tolist() != sorted(shuffled.rows.tolist())
    assert sorted(shuffled.X[:, 0].tolist()) == sorted([*range(30)] * 2)


def test_describe(write: Writer) -> None:
    path = write("hour,device,y\n9,tv,a\n,phone,b\n21.5,,b\n" + "".join(f"1,d{i},a\n" for i in range(5)))
    lines = (
        "hour    numeric  1 to 21.5, 1 missing\ndevice  nominal  7 values: d0, d1, d2, d3, d4, ..., 1 missing"
    )
    assert datasets.read(path, "y").describe() == datasets.open_file(path, "y").describe() == lines
    assert datasets.load("car").describe().splitlines()[2] == "doors     numeric  2 to 5"
