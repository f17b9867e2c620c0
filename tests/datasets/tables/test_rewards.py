"""Tables that say what each label would earn: columns, labels, ranges, refusals."""

from __future__ import annotations

import json
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
from tests.datasets.tables.conftest import Writer

FRAME = pd.DataFrame({"x": [1.0, 2.0, 3.0], "w_a": [0, 1, 0], "w_b": [0.25, 0.5, -1]})


def test_a_table_of_rewards() -> None:
    table = datasets.read(FRAME, rewards=["w_*"])
    assert (table.features, table.labels, table.n_rows) == (("x",), ("a", "b"), 3)
    assert table.rewards is not None
    assert table.rewards.tolist() == [[0, 0.25], [1, 0.5], [0, -1]]
    assert table.mean_rewards == {"a": 1 / 3, "b": pytest.approx(-0.25 / 3)}
    assert list(table.records())[1] == ({"x": 2.0}, {"a": 1.0, "b": 0.5})
    assert table.reward_columns is not None
    assert table.reward_columns.lowest == (-1.0, "w_b", "row 3")
    assert table.reward_columns.highest == (1.0, "w_a", "row 2")
    stream = table.stream(repeat=2, seed=3)
    assert stream.rounds == 6
    assert stream.to_play()["rewards"].tolist() == [table.rewards[i].tolist() for i in stream.rows]
    with pytest.raises(DatasetError, match=r"no right labels: play it with play\(model, \*\*stream.to_play"):
        _, _ = stream
    model = banditboost.GapBoost(table.labels, rewards=(-1, 1), schema=table.schema(), seed=1)
    assert len(banditboost.play(model, **stream.to_play()).shown) == 6


def test_sources_agree(write: Writer) -> None:
    lines = [json.dumps({"x": x, "w": {"a": a, "b": b}}) for x, a, b in FRAME.to_numpy().tolist()]
    expected = datasets.read(FRAME, rewards=["w_*"]).rewards
    csv = write(FRAME.to_csv(index=False))
    for source, said in (
        (pl.from_pandas(FRAME), ["w_*"]),
        (csv, ["w_a", "w_b"]),
        (csv, ["w_b", "w_a"]),
        (write("\n".join(lines), "t.jsonl"), ["w.*"]),
    ):
        table = datasets.read(source, rewards=said)
        assert table.rewards is not None
        order = [["a", "b"].index(label[-1]) for label in table.labels]
        assert np.array_equal(table.rewards, expected[:, order])  # type: ignore[index]
        if not isinstance(source, pl.DataFrame):
            blocks = [y for _, y in datasets.open_file(source, rewards=said).batches(2)]
            assert np.array_equal(np.concatenate(blocks), table.rewards)


def test_amounts_are_rewards(write: Writer) -> None:
    path = write('x,price_a,price_b\n1,"$1,200.50",$3\n2,$4,$5\n')
    table = datasets.read(path, rewards=["price_*"], decimal=".")
    assert table.rewards is not None
    assert table.rewards.tolist() == [[1200.5, 3], [4, 5]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "label is None: give the name of the column with the right labels, or the columns of rewards"),
        ({"rewards": "w_*"}, r"rewards is the text 'w_\*': give a list"),
        ({"rewards": [3]}, r"rewards is \[3\]: give a list of names"),
        ({"label": "x", "rewards": ["w_*"]}, "give one of the two"),
        ({"rewards": ["w_*", "x*"]}, "rewards has 'x[*]', and no column is called so"),
        ({"rewards": ["w_*", "*_a"]}, "rewards has column 'w_a' twice"),
        ({"rewards": ["w_*"], "numeric": ["w_a"]}, "'w_a' is in rewards, and is named in numeric"),
        ({"rewards": ["w_*"], "ignore": ["w_a"]}, "one column: give a column for each label"),
        ({"rewards": ["*_*"]}, "no column is called so"),
    ],
)
def test_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        datasets.read(FRAME, **arguments)


def test_two_columns_for_one_label() -> None:
    with pytest.raises(DatasetError, match="two columns for the label 'a', one of them 'v_a'"):
        datasets.read(FRAME.assign(v_a=1.0), rewards=["w_*", "v_*"])


REWARDS = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([None, float("nan"), float("inf"), "red", ""]))


@given(rows=st.lists(st.tuples(REWARDS, REWARDS), min_size=1, max_size=6), cut=st.floats(-1e6, 1e6))
def test_any_rewards_are_taken_as_they_are_or_refused(rows: list[tuple[Any, Any]], cut: float) -> None:
    """Refused with the first bad row of a column; else all numbers are there, and the range is theirs."""
    lines = [{"x": float(i), "a": a, "b": b} for i, (a, b) in enumerate(rows)]
    bad = [
        i
        for i, row in enumerate(rows)
        for cell in row
        if not isinstance(cell, float) or not np.isfinite(cell)
    ]
    source = pd.DataFrame(lines, dtype=object)
    if bad:
        places = "|".join(f"row {i + 1}" for i in bad)
        with pytest.raises(DatasetError, match=places):
            datasets.read(source, rewards=["a", "b"])
        return
    table = datasets.read(source, rewards=["a", "b"])
    assert table.rewards is not None
    assert table.reward_columns is not None
    assert table.rewards.tolist() == [list(row) for row in rows]
    low, high = table.reward_columns.lowest[0], table.reward_columns.highest[0]
    assert (low, high) == (table.rewards.min(), table.rewards.max())
    if cut > low:
        with pytest.raises(DatasetError, match=r"has the reward .* in row \d, and rewards go from"):
            table.reward_columns.check_range(cut, cut + 1)
