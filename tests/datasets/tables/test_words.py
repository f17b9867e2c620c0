"""Columns of words in files and frames: what is read is what the same rows are in a frame, to the last bit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import banditboost
from banditboost import AdaBandit, GapBoost, Schema, datasets, play
from banditboost.datasets.errors import DatasetError
from banditboost.errors import FeatureError
from banditboost.rows.bags import Bag, WordedRows
from banditboost.rows.sharing import MOST_WORDS
from tests.datasets.tables.conftest import Writer
from tests.naive import sharing

TOPICS = {"sports": ("cup", "final", "goal"), "politics": ("vote", "law", "party")}


def rows_of(n: int, seed: int = 1) -> list[dict[str, Any]]:
    """Numbers, names, texts that grow longer, and tags; the words tell the label."""
    luck = np.random.default_rng(seed)
    noise = [f"w{i}" for i in range(200)]
    rows = []
    for t in range(n):
        label = list(TOPICS)[luck.integers(2)]
        words = [
            *luck.choice(TOPICS[label], 2).tolist(),
            *luck.choice(noise, luck.integers(2, 8 if t < n // 2 else 40)).tolist(),
        ]
        text = f"The {', '.join(words)}!" if t % 9 else None
        tags = luck.choice(noise, luck.integers(4)).tolist()
        row = {"hour": float(luck.integers(24)), "title": text, "city": str(luck.choice(["a", "b"]))}
        rows.append({**row, "tags": tags, "right": label})
    return rows


def files(folder: Path, rows: list[dict[str, Any]]) -> Iterator[tuple[Any, list[str]]]:
    """The rows in every kind of source, each with the columns that it does not have."""
    frame = pd.DataFrame(rows)
    frame.to_parquet(folder / "t.parquet")
    frame.drop(columns="tags").to_csv(folder / "t.csv", index=False)
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    yield from ((folder / name, []) for name in ("t.parquet", "t.jsonl"))
    yield folder / "t.csv", ["tags"]
    yield from ((source, []) for source in (frame, pl.DataFrame(rows), pa.Table.from_pylist(rows)))


def model(table: Any) -> GapBoost:
    return GapBoost(table.labels, schema=table.schema(), seed=4)


def test_a_file_is_played_as_its_rows_are(tmp_path: Path) -> None:
    rows = rows_of(400)
    frame = pd.DataFrame(rows)
    for source, lacking in files(tmp_path, rows):
        table = datasets.read(source, "right")
        assert (table.features, table.words) == (
            ("hour", "city"),
            ("title",) if lacking else ("title", "tags"),
        )
        played, by_frame = model(table), model(table)
        X = frame.drop(columns=["right", *lacking])
        result, expected = play(played, *table.stream()), play(by_frame, X, frame["right"])
        assert np.array_equal(result.shown, expected.shown)
        assert played.distribution(X.iloc[7].to_dict()) == by_frame.distribution(X.iloc[7].to_dict())
        assert played.schema.to_dict() == by_frame.schema.to_dict()
        assert result.accuracy > 0.65


def test_a_file_stays_on_the_disk_in_parts(tmp_path: Path) -> None:
    rows = rows_of(300)
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    table, opened = (door(tmp_path / "t.jsonl", "right") for door in (datasets.read, datasets.open_file))
    whole, in_parts = model(table), model(opened)
    shown = [play(in_parts, X, y).shown for X, y in opened.batches(37)]
    assert np.array_equal(np.concatenate(shown), play(whole, *table.stream()).shown)
    assert opened.describe() == table.describe()
    assert "title  words    each word counts, 34 missing" in table.describe()


def test_decisions_by_hand_are_those_of_play(tmp_path: Path) -> None:
    table = datasets.read(pd.DataFrame(rows_of(60)), "right", words=["title"])
    X, y = table.stream(repeat=2, seed=3)
    played, by_hand, many = (model(table) for _ in range(3))
    shown = play(played, X, y).shown
    rows = [row for row, _ in table.stream(repeat=2, seed=3).records()]
    for row, right, label in zip(rows, y, shown, strict=True):
        decision = by_hand.decide(row)
        assert decision.label == table.labels[label]
        by_hand.learn(decision, decision.label == table.labels[right])
    before = [played.distribution(row) for row in rows[:9]]
    assert [decision.distribution() for decision in played.decide_many(X[:9])] == before
    path = tmp_path / "m.bb"
    played.save(path)
    loaded = banditboost.load(path)
    assert np.array_equal(play(loaded, X[5:50], y[5:50]).shown, play(played, X[5:50], y[5:50]).shown)
    assert many.rounds == 0


cells = st.one_of(st.none(), st.text(alphabet='aB_9 .,éß\n"', max_size=30), st.just("NA"), st.just("007"))
tags = st.one_of(st.none(), st.lists(st.text(alphabet="ab ", max_size=4), max_size=4))


@given(
    st.lists(st.tuples(cells, tags, cells), min_size=2, max_size=12),
    st.sampled_from(["csv", "jsonl", "frame"]),
)
@settings(max_examples=60, deadline=None)
def test_every_word_is_there_once_and_in_order(rows: list[tuple[Any, Any, Any]], kind: str) -> None:
    with_tags = kind != "csv"
    records = [
        {
            "n": float(t),
            "title": title,
            **({"tags": tags} if with_tags else {}),
            "note": note,
            "y": "ab"[t % 2],
        }
        for t, (title, tags, note) in enumerate(rows)
    ]
    table = datasets.read(
        _source(kind, records), "y", words=["title", "note", *(["tags"] if with_tags else [])]
    )
    assert table.features == ("n",)
    for t, (found, _) in enumerate(table.records()):
        expected: dict[int, float] = {}
        for name in table.words:
            cell = records[t][name]
            words = cell if isinstance(cell, list) else sharing.words(cell or "")
            expected |= {sharing.number(name, word): 1.0 for word in words}
        assert list(found.items()) == [
            ("n", float(t)),
            *((("#", code), one) for code, one in expected.items()),
        ]


def _source(kind: str, records: list[dict[str, Any]]) -> Any:
    if kind == "frame":
        return pl.DataFrame(
            records, schema_overrides={"tags": pl.List(pl.String), "title": pl.String, "note": pl.String}
        )
    folder = Path(__import__("tempfile").mkdtemp())
    path = folder / f"t.{kind}"
    if kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in records))
    else:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(records[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(records)
        path.write_text(text.getvalue())
    return path


@given(
    st.lists(st.lists(st.integers(0, 30), unique=True, max_size=20), max_size=9), st.integers(0, 9), st.data()
)
@settings(max_examples=60, deadline=None)
def test_rows_are_taken_in_any_order_and_in_parts(
    rows: list[list[int]], start: int, data: st.DataObject
) -> None:
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    bag = Bag("t", ends, np.array([code for row in rows for code in row], np.uint32))
    start, stop = sorted((min(start, len(rows)), data.draw(st.integers(0, len(rows)))))
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=9)) if rows else []

    def listed(bag: Bag) -> list[list[int]]:
        return [bag.codes[bag.ends[t] : bag.ends[t + 1]].tolist() for t in range(len(bag))]

    assert listed(bag.part(start, stop)) == rows[start:stop]
    assert listed(bag.taken(np.array(order, np.int64))) == [rows[t] for t in order]
    both = WordedRows(np.zeros((len(rows), 1)), [bag, bag.taken(np.arange(len(rows))[::-1])])
    for t, row in enumerate(rows):
        assert [code for _, code in both.words(t)] == list(dict.fromkeys([*row, *rows[-1 - t]]))


# What a column is


TEXTS = [f"the story of number {i}" for i in range(40)]


@pytest.mark.usefixtures("csv_reader")
def test_texts_are_words_unless_something_else_is_said(write: Writer) -> None:
    path = write("note,n,y\n" + "".join(f"{text},{i},{'uv'[i % 2]}\n" for i, text in enumerate(TEXTS)))
    found = datasets.check(path, "y")
    assert (found.columns[0].kind, found.options["words"]) == ("text: 44 words", ("note",))
    assert datasets.read(path, "y").words == datasets.read(path, "y", words=["note"]).words == ("note",)
    named = datasets.read(path, "y", nominal=["note"])
    assert (named.words, named.features) == ((), ("note", "n"))
    assert datasets.read(path, "y", ignore=["note"]).words == ()


@pytest.mark.usefixtures("csv_reader")
def test_numbers_among_texts_are_words_as_they_are_written(write: Writer) -> None:
    lines = [*TEXTS, *(f"0{i}" for i in range(4))]
    path = write("note,n,y\n" + "".join(f"{text},{i},{'uv'[i % 2]}\n" for i, text in enumerate(lines)))
    last = [*datasets.read(path, "y").records()][-1][0]
    assert list(last) == ["n", ("#", sharing.number("note", "03"))]


def test_lists_need_no_word_and_texts_among_them_do() -> None:
    rows = [{"x": ["red", "big"], "y": "u"}, {"x": None, "y": "v"}, {"x": [], "y": "v"}]
    assert datasets.read(pl.DataFrame(rows), "y").words == ("x",)
    assert datasets.check(pl.DataFrame(rows), "y").columns[0].kind == "lists: 2 words"
    mixed = pd.DataFrame([*rows, {"x": "Big, blue", "y": "u"}])
    with pytest.raises(
        DatasetError, match=r"holds lists and values of type str \(the first in row 4\): say words=\['x'\]"
    ):
        datasets.read(mixed, "y")
    assert [len(row) for row, _ in datasets.read(mixed, "y", words=["x"]).records()] == [2, 0, 0, 2]
    with pytest.raises(
        DatasetError, match=r"holds lists of words, and is named in nominal: say words=\['x'\]"
    ):
        datasets.read(pl.DataFrame(rows), "y", nominal=["x"])
    with pytest.raises(DatasetError, match="holds lists, which are no labels"):
        datasets.read(pl.DataFrame(rows), "x")


def test_lists_in_one_part_of_a_file_and_texts_in_another(write: Writer) -> None:
    lines = [{"x": ["a"], "y": "u"}] * 10_000 + [{"x": "b c", "y": "v"}]
    path = write("".join(json.dumps(line) + "\n" for line in lines), "t.jsonl")
    with pytest.raises(DatasetError, match=r"holds lists and other values: say words=\['x'\]"):
        datasets.read(path, "y")
    checked = datasets.check(path, "y")
    assert (checked.columns[0].choice, checked.is_ready) == ("ignore", False)
    assert len(datasets.read(path, "y", words=["x"]).bags[0].codes) == 10_002


def test_dates_have_no_words() -> None:
    frame = pd.DataFrame({"x": pd.to_datetime(["2024-01-02", "2024-01-03"]), "y": ["u", "v"]})
    with pytest.raises(DatasetError, match="holds dates, which have no words"):
        datasets.read(frame, "y", words=["x"])


def test_too_many_words_are_refused_with_their_place(write: Writer) -> None:
    long = " ".join(f"w{i}" for i in range(MOST_WORDS + 1))
    path = write(f"a,b,y\nx,y,u\n{long},z,v\n")
    with pytest.raises(DatasetError, match=r"'a' has 4,097 words in row 2, and a row may have 4,096"):
        datasets.read(path, "y", words=["a"])
    half = " ".join(f"w{i}" for i in range(MOST_WORDS // 2 + 1))
    path = write(f"a,b,y\nx,y,u\n{half},{half},v\n")
    with pytest.raises(DatasetError, match=r"a row has 4,098 words in 'a', 'b', and may have 4,096"):
        datasets.read(path, "y", words=["a", "b"])


# Models that cannot read words


def test_who_cannot_read_words_says_so_and_plays_without_them() -> None:
    table = datasets.read(pd.DataFrame(rows_of(80)), "right")
    stream = table.stream()
    other = AdaBandit(table.labels, n_learners=3, schema=table.schema(), seed=1)
    with pytest.raises(
        FeatureError, match=r"words \['title', 'tags'\], of which only GapBoost learns; .*without_words"
    ):
        play(other, *stream)
    assert other.rounds == 0
    plain = table.without_words()
    assert (plain.words, plain.schema().words) == ((), ())
    play(AdaBandit(table.labels, n_learners=3, schema=plain.schema(), seed=1), *plain.stream())
    alone = datasets.read(pd.DataFrame(rows_of(80))[["title", "right"]], "right").without_words()
    assert (
        len(play(AdaBandit(alone.labels, n_learners=3, schema=alone.schema(), seed=1), *alone.stream()).y)
        == 80
    )


def test_a_model_that_was_told_nothing_of_the_words_refuses_them() -> None:
    table = datasets.read(pd.DataFrame(rows_of(40)), "right")
    for schema in (None, table.without_words().schema()):
        made = GapBoost(table.labels, schema=schema, seed=1)
        with pytest.raises(FeatureError, match=r"make it with schema=table\.schema\(\)"):
            play(made, *table.stream())
        with pytest.raises(FeatureError, match=r"make it with schema=table\.schema\(\)"):
            made.decide_many(next(iter(table.stream())))
    with pytest.raises(FeatureError, match="a slice without a step"):
        next(iter(table.stream()))[::2]


def test_arrays_have_codes_also_after_words_have_come() -> None:
    def fresh() -> GapBoost:
        schema = Schema(numeric=["n"], nominal={"c": ["a", "b"]}, words=["t"])
        return GapBoost(["p", "q"], schema=schema, seed=1)

    by_array, by_dict = fresh(), fresh()
    for t in range(40):
        for made, row in ((by_array, np.array([t, t % 2.0])), (by_dict, {"n": t, "c": "ab"[t % 2]})):
            decision = made.decide(row if t % 3 else {"t": "hello big world"})
            made.learn(decision, decision.label == "pq"[t % 2])
    X, y = np.array([[t, t % 2] for t in range(30)]), [t % 2 for t in range(30)]
    rows = [{"n": float(t), "c": "ab"[t % 2]} for t in range(30)]
    assert by_array.distribution(X[3]) == by_dict.distribution(rows[3])
    assert np.array_equal(play(by_array, X, y).shown, play(by_dict, rows, y).shown)
    pairs = zip(by_array.decide_many(X), by_dict.decide_many(rows), strict=True)
    assert all(one.distribution() == other.distribution() for one, other in pairs)
    with pytest.raises(FeatureError, match="nominal: in an array give a code"):
        play(by_array, X + 0.5, y)
