"""The bake-off: the command lines are its own, its rule is its own, and the page is made of records alone."""

from __future__ import annotations

import gzip
import importlib.util
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config

from banditboost.datasets import Stream
from benchmarks import records
from benchmarks.bakeoff import __main__ as command
from benchmarks.bakeoff import page, players, score, sets

needs_vw = pytest.mark.skipif(
    importlib.util.find_spec("vowpalwabbit") is None, reason="vowpalwabbit is not installed"
)
needs_compiler = pytest.mark.skipif(config.DISABLE_JIT, reason="plays hundreds of rounds")
INDEX = "id,name,target,rows,features,labels,loss_of_best_constant,kinds\n"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two sets: a threshold, and names that tell the label."""
    folder = tmp_path / "data" / "bakeoff"
    folder.mkdir(parents=True)
    random = np.random.default_rng(5)
    numbers = random.normal(size=60)
    _write(folder / "7.csv.gz", ["n0,label", *(f"{x:.3f},{'P' if x > 0 else 'N'}" for x in numbers)])
    colours = random.choice(["red", "blue", "green"], 40)
    _write(folder / "3.csv.gz", ["c0,label", *(f"{c},{'stop' if c == 'red' else 'go'}" for c in colours)])
    (folder / "index.csv").write_text(
        INDEX + "7,threshold,multi,60,1,2,0.5,n\n3,colours,multi,40,1,2,0.4,c\n"
    )
    monkeypatch.setenv("BANDITBOOST_DATA", str(tmp_path / "data"))
    return folder


def _write(path: Path, lines: list[str]) -> None:
    path.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))


def _stream() -> Stream:
    X = np.array([[0.5, 1.0], [0.0, 0.0], [np.nan, 1.0]])
    return Stream(
        "s",
        ("a", "b"),
        ("numeric", "nominal"),
        (None, ("x", "y")),
        X,
        np.array([0, 1, 1]),
        ("p", "q"),
        np.arange(3),
    )


# Sets


def test_sets_come_in_the_order_of_the_file_the_shortest_set_first(data: Path) -> None:
    first, second = sets.read(data / "index.csv")
    assert (first.id, second.id, first.nominal, second.nominal) == (3, 7, True, False)
    stream = second.stream(data)
    assert stream.rounds == 60
    assert [stream.labels[i] for i in stream.y] == ["P" if x > 0 else "N" for x in stream.X[:, 0]]


def test_of_near_duplicates_the_lowest_id_stays() -> None:
    names = [(853, "boston"), (872, "boston"), (733, "machine.cpu"), (796, "cpu"), (5, "other")]
    assert sets.originals(names) == {853, 733, 5}


def test_without_data_nothing_is_played(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("BANDITBOOST_DATA", raising=False)
    command.main(["--records", str(tmp_path / "r.jsonl"), "--folder", str(tmp_path)])
    assert "BANDITBOOST_DATA" in capsys.readouterr().err
    assert "Nothing has been played yet" in (tmp_path / page.PAGE_NAME).read_text()


# Players


def test_rows_leave_out_zeros_and_what_is_missing() -> None:
    assert list(players.lines(_stream(), names=False)) == [
        "1 | c0:0.500000 c1:1.000000\n",
        "2 | \n",
        "2 | c1:1.000000\n",
    ]
    assert list(players.lines(_stream(), names=True)) == [
        "1 | c0:0.500000 c1_1\n",
        "2 | c1_0\n",
        "2 | c1_1\n",
    ]


def test_command_lines_are_those_of_the_bakeoff() -> None:
    assert players.command("cover", 7, 0.03) == (
        "-b 24 --cbify 7 --cb_explore_adf --loss0 -1 --loss1 0 --cover 4 --psi 0.1 --nounif --cb_type dr -l 0.03 --quiet"
    )
    assert players.command(players.TOLD, 7, 10.0) == "-b 24 --oaa 7 -l 10.0 --quiet"
    assert len(players.ALGORITHMS) == 6
    assert len(players.STEPS) == 9


@needs_vw
@needs_compiler
def test_what_is_in_the_record_is_played_again_only_if_asked(data: Path, tmp_path: Path) -> None:
    where = ["--records", str(tmp_path / "r.jsonl"), "--folder", str(tmp_path)]
    command.main(where)
    first = records.read(tmp_path / "r.jsonl")
    assert [(line["set"], line["player"]) for line in first] == [
        (3, players.GAPBOOST),
        (3, players.WABBIT),
        (3, players.WABBIT_NAMES),
        (3, players.WABBIT_PAIRS),
        (7, players.GAPBOOST),
        (7, players.WABBIT),
        (7, players.WABBIT_PAIRS),
    ]
    assert all(0 <= wrong <= line["rows"] for line in first for wrong in _wrong(line))
    command.main(where)
    assert records.read(tmp_path / "r.jsonl") == first
    _write(data / "7.csv.gz", ["n0,label", *(f"{i},{'NP'[i % 2]}" for i in range(60))])
    command.main(["--only", "gapboost", "--again", *where])
    again = records.read(tmp_path / "r.jsonl")
    assert [a["wrong"] == b["wrong"] for a, b in zip(first, again, strict=True)] == [
        True,
        True,
        True,
        True,
        False,
        True,
        True,
    ]
    assert "| threshold (7)" in (tmp_path / page.PAGE_NAME).read_text()


def _wrong(line: dict[str, Any]) -> list[int]:
    found = line["wrong"]
    return found if isinstance(found, list) else [wrong for each in found.values() for wrong in each]


# Who wins


def test_their_rule_asks_for_1386_standard_errors_and_the_usual_one_for_196() -> None:
    rows, loss = 1_000, 0.2
    error = (2 * loss * (1 - loss) / rows) ** 0.5
    for rule, needed in ((score.THEIRS, 1.386), (score.PROPER, 1.96)):
        assert score.verdict(loss, loss + 0.97 * needed * error, rows, rule) == 0
        assert score.verdict(loss, loss + 1.06 * needed * error, rows, rule) == 1
        assert score.verdict(loss + 1.06 * needed * error, loss, rows, rule) == -1


def test_equal_losses_without_any_error_are_a_draw() -> None:
    assert score.verdict(0.0, 0.0, 10, score.THEIRS) == 0


def _lines(number: int, name: str, rows: int, ours: list[int], theirs: int) -> list[dict[str, Any]]:
    about = {"machine": {"cpu": "a core", "python": "3"}, "date": "2026-11-18"}
    told = {"set": number, "name": name, "rows": rows, "labels": 2, **about}
    wrong = {algorithm: [rows, theirs + i] for i, algorithm in enumerate(players.ALGORITHMS)}
    return [
        {**told, "player": players.GAPBOOST, "wrong": ours, "constant": rows // 2},
        {**told, "player": players.WABBIT, "wrong": {**wrong, players.TOLD: [rows, 100]}},
    ]


RECORDS = [
    *_lines(1, "won", 1_000, [100, 120], 300),
    *_lines(2, "lost", 400, [200, 200], 100),
    *_lines(3, "drawn", 50, [20, 20], 20),
    *_lines(4, "won", 20_000, [100, 100], 9_000),
    _lines(5, "half played", 10, [1, 1], 1)[0],
]


def test_the_best_learning_rate_counts_and_ours_is_the_mean_of_seeds() -> None:
    found = score.results(RECORDS)
    assert [result.id for result in found] == [3, 2, 1, 4]
    won = found[2]
    assert (won.losses[players.GAPBOOST], won.losses["greedy"], won.losses[score.BEST]) == (0.11, 0.3, 0.3)
    assert won.normalised("greedy") == pytest.approx(2.0)
    assert score.count(found, players.GAPBOOST, score.BEST, score.THEIRS) == (2, 1)
    assert [result.id for result in score.without_duplicates(found)] == [3, 2, 1]
    seen = [*found, replace(found[0], id=21, name="car")]
    assert [result.id for result in score.fresh(seen)] == [3, 2, 1]
    assert {limit: len(members) for limit, members in score.by_length(found).items()} == {
        (0, 100): 1,
        (300, 1_000): 1,
        (1_000, 10_000): 1,
        (10_000, None): 1,
    }


def test_names_are_taken_where_there_are_any() -> None:
    named = {
        **RECORDS[1],
        "player": players.WABBIT_NAMES,
        "wrong": {**RECORDS[1]["wrong"], "greedy": [50, 60]},
    }
    found = {result.id: result for result in score.results([*RECORDS, named], players.WABBIT_NAMES)}
    assert (found[1].losses["greedy"], found[2].losses["greedy"]) == (0.05, 0.25)


def test_the_page_is_made_of_records_alone() -> None:
    text = page.page(RECORDS)
    assert "on 4 of its sets" in text
    assert "| best of the six  |                2 |      1 |              2 |      1 |" in text
    assert "1 of the sets are made from a table" in text
    behind = text[text.index("## Where GapBoost is behind") : text.index("## All sets")]
    assert "lost (2)*" in behind
    assert "drawn" not in behind
    assert [n["verdict"] for n in page.chart_numbers(RECORDS)] == [0, -1, 1, 1]
    assert len(page.draw(page.chart_numbers(RECORDS)).axes) == 2
