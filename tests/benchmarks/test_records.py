"""Records keep what was measured, line by line, and benchmarks can be run in parts."""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import pytest

from benchmarks import before_after, records, rounds, startup
from benchmarks.rate import Rate, Turn

FILES = sorted(records.FOLDER.glob("*.jsonl"))
OF_BENCHMARKS = [path for path in FILES if path.stem != "clicks"]  # its lines are runs, told apart by an id


def test_lines_with_the_same_key_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "folder/rounds.jsonl"
    records.update(path, [{"stream": "car", "rate": 1}, {"stream": "mice", "rate": 2}], ["stream"])
    records.update(path, [{"stream": "car", "rate": 3}, {"stream": "isolet", "rate": 4}], ["stream"])
    assert records.read(path) == [
        {"stream": "car", "rate": 3},
        {"stream": "mice", "rate": 2},
        {"stream": "isolet", "rate": 4},
    ]


def test_a_packed_record_is_read_and_one_that_is_not_there_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "peers.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "a"}\n{"id": "b"}\n'))
    assert records.read(path) == [{"id": "a"}, {"id": "b"}]
    assert records.read(tmp_path / "nothing.jsonl") == []


def test_the_option_names_the_benchmarks_own_file() -> None:
    parser = argparse.ArgumentParser()
    records.add_option(parser, "rounds")
    given = [parser.parse_args(words).record for words in ([], ["--record"], ["--record", "x.jsonl"])]
    assert given == [None, records.FOLDER / "rounds.jsonl", Path("x.jsonl")]
    assert (
        records.typed("benchmarks.rounds", ["--datasets", "a b"])
        == "python -m benchmarks.rounds --datasets 'a b'"
    )


@pytest.mark.parametrize("path", OF_BENCHMARKS, ids=lambda path: path.name)
def test_every_line_tells_machine_date_command_and_source(path: Path) -> None:
    for line in records.read(path):
        assert {"machine", "date", "command", "source"} <= set(line)
        assert line["source"].startswith((records.MEASURED, "copied from docs/"))


def test_rates_are_kept_by_stream() -> None:
    outcome = rounds.Outcome(
        "car", 15, 100, {"play": Rate(100, 0.5, 0.9), "River's defaults": Rate(100, 2.0, 0.8)}
    )
    (line,) = rounds.as_records({"cpu": "a core"}, "python -m benchmarks.rounds", [outcome])
    assert (line["stream"], line["n_learners"], line["rounds"], line["rates"]) == (
        "car",
        15,
        100,
        {"play": 200.0},
    )


# Start-up


def test_start_up_counts_from_the_start_of_the_interpreter(tmp_path: Path) -> None:
    case = startup.Case(
        "GapBoost", ("-c", startup._ROUND.replace("import banditboost\n", _STAND_IN)), "GapBoost"
    )
    times = case.run(startup.sys.executable, tmp_path)
    assert list(times) == ["GapBoost: first decide", "GapBoost: first learn"]
    (decided, _), (learned, cpu) = times.values()
    assert 0.2 <= decided <= learned
    assert cpu > 0


# A package whose first decision takes a fifth of a second.
_STAND_IN = """
class GapBoost:
    def __init__(self, labels, seed): pass
    def decide(self, x): time.sleep(0.2)
    def learn(self, decision, correct): pass
import types
banditboost = types.SimpleNamespace(GapBoost=GapBoost)
"""


def test_every_run_has_an_empty_cache_and_the_next_one_finds_it_filled(tmp_path: Path) -> None:
    code = "import os, pathlib; p = pathlib.Path(os.environ['NUMBA_CACHE_DIR']); n = len(list(p.iterdir()));"
    code += f"open({str(tmp_path / 'seen')!r}, 'a').write(str(n)); (p / str(n)).touch()"
    case = startup.Case("look", ("-c", code))
    for _ in range(2):
        assert set(startup.measure(case, startup.sys.executable)) == {"empty", "warm"}
    assert (tmp_path / "seen").read_text() == "0101"


def test_the_median_of_runs_counts() -> None:
    runs = [
        {state: {"x": (float(seconds), 2.0 * seconds)} for state in startup.CACHES} for seconds in (1, 5, 2)
    ]
    lines = startup.medians(runs)
    assert [(line["cache"], line["wall"], line["cpu"], line["runs"]) for line in lines] == [
        ("empty", 2, 4, 3),
        ("warm", 2, 4, 3),
    ]
    assert "2.00 |" in startup.table(lines)


def test_an_unknown_case_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        startup.parse(["--only", "import banditboost,tea"])
    assert "--only names 'tea': choose from import banditboost" in capsys.readouterr().err


# Before and after


class Steady:
    """A checkout that always takes as long, after a first slice that takes longer."""

    def __init__(self, seconds: float, asked: list[str], name: str) -> None:
        self._seconds, self._asked, self._name = seconds, asked, name

    def ask(self, *question: str) -> float:
        assert question == ("car", "AdaBandit play")
        self._asked.append(self._name)
        return self._seconds if self._asked.count(self._name) > 1 else 100.0


def test_checkouts_take_turns_and_who_goes_first_changes() -> None:
    asked: list[str] = []
    sides = [Steady(seconds, asked, name) for seconds, name in ((3.0, "before"), (2.0, "after"))]
    assert before_after.compare(sides[0], sides[1], "car", "AdaBandit play", 3) == (3.0, 2.0)  # type: ignore[arg-type]
    assert asked == ["after", "before", "before", "after", "after", "before", "before", "after"]


def test_a_slice_is_filled_with_plays() -> None:
    played: list[int] = []

    def play(turn: int) -> Turn:
        played.append(turn)
        return Turn(10, 0.03 if len(played) % 2 else 0.05, 1.0)

    assert before_after.seconds_a_play(play) == pytest.approx((0.03 + 0.05 + 0.03) / 3)
    assert len(played) == 3


def test_the_median_of_sittings_counts_and_what_is_slower_is_marked() -> None:
    sittings = [{("car", "AdaBandit play"): (before, 2.0)} for before in (2.0, 1.9, 1.0)]
    (line,) = before_after.taken_together(sittings)
    assert (line["quotient"], line["spread"]) == (0.95, [0.5, 1.0])
    assert "0.950 SLOWER" in before_after.table([line])
    assert "SLOWER" not in before_after.table([{**line, "quotient": 0.971}])


def test_a_folder_without_the_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="holds no src/banditboost: give the root of a checkout"):
        before_after.Checkout(tmp_path, tmp_path, 10)


def test_the_checkout_that_was_named_is_the_one_that_plays(tmp_path: Path) -> None:
    with before_after.Checkout(before_after.ROOT, tmp_path, 10) as checkout:
        assert Path(checkout.ask("where")) == before_after.ROOT / "src/banditboost/__init__.py"


@pytest.mark.parametrize("booster", before_after.BOOSTERS)
def test_every_column_can_be_played(booster: str) -> None:
    for way in before_after.WAYS:
        turn = before_after.contender("balance", f"{booster} {way}", 20)(0)
        assert turn.rounds == 20


def test_the_commit_to_compare_with_has_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        before_after.parse([])
    assert "--before is missing: give a checkout" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        before_after.parse(["--before", "x", "--columns", "AdaBandit tea"])
    assert "unknown column 'AdaBandit tea'" in capsys.readouterr().err


def test_a_record_is_json_that_anybody_can_read() -> None:
    for path in FILES:
        for line in path.read_text(encoding="utf-8").splitlines():
            json.loads(line)
