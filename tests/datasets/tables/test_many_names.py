"""Columns of names without limit: the frequent ones have places of their own, the others share."""

from __future__ import annotations

from pathlib import Path

import pytest

from banditboost import GapBoost, datasets, play
from banditboost.datasets.frequent import Frequent
from banditboost.rows.sharing import MAX_VALUES, SHARED
from tests.naive import sharing as naive


def written(path: Path, n_cities: int, n_ids: int) -> Path:
    lines = [
        f"c{i % n_cities},{'id' if n_ids else 'x'}{i},{'ab'[i % n_cities % 2]}" for i in range(3 * n_cities)
    ]
    path.write_text("\n".join(["city,visit,label", *lines, "c0,last,a"]) + "\n")
    return path


def test_frequent_names_have_places(tmp_path: Path) -> None:
    table = datasets.read(written(tmp_path / "visits.csv", 300, 1), label="label")
    cities, visits = table.values
    assert isinstance(cities, Frequent)
    assert len(cities or ()) == MAX_VALUES
    assert "c0" in cities
    assert visits == ()
    assert table.X[0, 0] == cities.index("c0")
    shared = next(i for i in range(300) if f"c{i}" not in cities)
    assert table.X[shared, 0] == SHARED + naive.number("city", f"c{shared}")
    assert table.X[5, 1] == SHARED + naive.number("visit", "id5")
    assert "256 frequent values: c0, c1, " in table.describe()
    assert "others share places" in table.describe()


def test_they_are_learned_and_go_on_row_by_row(tmp_path: Path) -> None:
    table = datasets.read(written(tmp_path / "visits.csv", 400, 1), label="label", ignore=["visit"])
    model = GapBoost(table.labels, schema=table.schema(), seed=1)
    result = play(model, *table.stream(repeat=6))
    assert result.correct[-1200:].mean() > 0.9
    shared = next(i for i in range(400) if f"c{i}" not in (table.values[0] or ()))
    told = model.distribution({"city": f"c{shared}"})
    assert told == model.distribution(dict([*table.records()][shared][0]))
    assert max(told, key=lambda label: told[label]) == "ab"[shared % 2]


@pytest.mark.parametrize("batch", [7, 1000])
def test_files_read_in_batches_have_the_same_codes(tmp_path: Path, batch: int) -> None:
    path = written(tmp_path / "visits.csv", 300, 1)
    whole = datasets.read(path, label="label")
    opened = datasets.open_file(path, label="label")
    rows = [row for X, _ in opened.batches(batch) for row in X.tolist()]
    assert rows == whole.X.tolist()
    assert opened.schema().to_dict() == whole.schema().to_dict()
