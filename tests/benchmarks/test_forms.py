"""Forms of rows: all hold the same rows, play the same, and are told beside the array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from banditboost import datasets
from benchmarks import forms, records
from benchmarks.mixed import LABEL, N_VALUES, TABLES, Forms, mixed
from benchmarks.rate import Rate, Turn


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Forms:
    return Forms(mixed(400), tmp_path_factory.mktemp("forms"))


def test_the_stream_has_twelve_numbers_and_eight_names(rows: Forms) -> None:
    stream = rows.stream
    assert [kind == "nominal" for kind in stream.kinds] == [False] * 12 + [True] * 8
    assert stream.X[:, 12:].max(axis=0).tolist() == [n - 1 for n in N_VALUES]
    assert set(stream.y.tolist()) == set(range(len(stream.labels)))
    again = mixed(400)
    assert np.array_equal(again.X, stream.X)
    assert np.array_equal(again.y, stream.y)


@pytest.mark.parametrize("name", forms.MODELS)
def test_all_forms_play_alike(rows: Forms, name: str) -> None:
    right = {form: contender(0).right for form, contender in forms.ours(name, rows).items()}
    open_ones = {form: n for form, n in right.items() if form in {forms.ROW, *(f"play {t}" for t in TABLES)}}
    assert len(set(open_ones.values())) == 1
    asked = {form: n for form, n in right.items() if form.startswith(forms.MANY)}
    assert len(set(asked.values())) == 1
    assert right[forms.ARRAY] == right[forms.ARRAY_ROW]
    assert len({n for form, n in right.items() if form.startswith("run")}) == 1


def test_what_run_reads_is_the_stream(rows: Forms) -> None:
    for source in rows.labelled.values():
        table = datasets.read(source, LABEL)
        assert table.kinds == rows.stream.kinds
        assert [table.labels[i] for i in table.y] == rows.truths


def test_the_fastest_turn_counts() -> None:
    seconds = {"a": iter([2.0, 0.5, 1.0]), "b": iter([1.0, 3.0, 2.0])}
    played: list[str] = []

    def contender(name: str) -> Any:
        def turn(_: int) -> Turn:
            played.append(name)
            return Turn(10, next(seconds[name]), 5.0)

        return turn

    rates = forms.fastest({name: contender(name) for name in seconds}, 3)
    assert played == ["a", "b"] * 3
    assert rates == {"a": Rate(10, 0.5, 0.5), "b": Rate(10, 1.0, 0.5)}


def test_a_share_is_of_the_array_asked_in_the_same_way() -> None:
    found = {
        form: {name: {"per_second": rate, "accuracy": 0.5} for name in models}
        for form, rate, models in [
            (forms.ARRAY, 200.0, forms.MODELS),
            ("play pandas", 150.0, forms.MODELS),
            (f"{forms.MANY} array", 1000.0, forms.MODELS),
            (f"{forms.MANY} pandas", 900.0, forms.MODELS),
            (forms.PLAIN, 100.0, [""]),
        ]
    }
    cells = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in forms.report(found).splitlines()[2:]
    ]
    assert [line[:3] for line in cells] == [
        ["play array", "200", "100 %"],
        ["play pandas", "150", "75 %"],
        ["decide_many array", "1,000", "100 %"],
        ["decide_many pandas", "900", "90 %"],
        ["Vowpal Wabbit, plain", "100", "50 %"],
    ]
    assert cells[-1][3:5] == ["-", "-"]


def test_the_record_holds_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {form: {name: Rate(10, 0.1, 0.5) for name in forms.MODELS} for form in (forms.ARRAY, forms.ROW)}
    monkeypatch.setattr(forms, "measure", lambda *_: rates)
    monkeypatch.setattr(forms.machine, "pin", lambda _: None)
    forms.main(["--rounds", "10", "--record", str(tmp_path / "forms.jsonl")])
    first, second = records.read(tmp_path / "forms.jsonl")
    assert (first["form"], second["form"], first["rounds"]) == (forms.ARRAY, forms.ROW, 10)
    assert first["rates"]["GapBoost"] == {"per_second": 100.0, "accuracy": 0.5}
