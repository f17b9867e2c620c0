"""The comparison with peers: small runs of everybody who is installed, and the page from a file."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config

from banditboost import datasets
from banditboost.datasets import Stream
from banditboost.experiments.learners import LEARNERS
from banditboost.experiments.results import Results
from banditboost.experiments.run import warm_up
from banditboost.experiments.task import Source, Task
from benchmarks import charts
from benchmarks.peers import (
    bundled,
    capymoa,
    columns,
    known,
    measure,
    plan,
    report,
    standing,
    streams,
    topics,
    vowpal,
    words,
)
from benchmarks.peers.__main__ import main
from benchmarks.peers.player import Player
from benchmarks.peers.speeds import Speed

pytestmark = [
    pytest.mark.skipif(config.DISABLE_JIT, reason="what is measured is compiled"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a run is a forked process"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
ROUNDS = 80
TINY = plan.Budget(
    seconds=5.0, told_seconds=5.0, tuning_seconds=5.0, tuning_rounds=40, rounds=ROUNDS, seeds=1
)
PLAYERS = {player.name: player for player in plan.all_players()}
needs_vw = pytest.mark.skipif(
    importlib.util.find_spec("vowpalwabbit") is None, reason="vowpalwabbit is not installed"
)


def installed(name: str) -> Player:
    player = PLAYERS[name]
    if importlib.util.find_spec(player.package) is None:
        pytest.skip(f"{player.package} is not installed")
    prepare(name, player.package)
    return player


@functools.cache
def prepare(name: str, package: str) -> None:
    """Compile or import here, so that not every child has to."""
    if name in LEARNERS:
        warm_up(name)
    elif package in ("river", "vowpalwabbit"):
        importlib.import_module({"river": "river.forest"}.get(package, package))


def run(tmp_path: Path, *names: str, stream: str = "car") -> list[dict[str, Any]]:
    """What the file holds when these have played."""
    results = Results(tmp_path / "peers.jsonl")
    runner = plan.Runner(
        results, TINY, {"versions": {"python": "3"}, "cpu": "a core", "command": "a command"}, lambda _: None
    )
    for cell in plan.cells([streams.entries()[stream]], [installed(name) for name in names]):
        runner.play(cell)
    return results.records()


def small_stream(rounds: int = ROUNDS) -> Stream:
    """With a missing number and a nominal column."""
    stream = datasets.load("car").stream(seed=3, rounds=rounds)
    X = stream.X.copy()
    X[1, stream.values.index(None)] = np.nan
    return replace(stream, X=X)


class Fixed:
    """Shows the first label, after doing what it was asked to do first."""

    def __init__(self, stream: Stream, parameters: Any, seed: int) -> None:  # noqa: ARG002
        self._rounds, self._first = stream.rounds, parameters.get("do", "")
        freed = [bytes(10_000) for _ in range(5_000)]  # must not hide what is taken later
        del freed

    def play(self, limit: float) -> None:  # noqa: ARG002
        if self._first == "raise":
            raise ValueError("no such thing")
        if self._first == "exit":
            os._exit(3)
        self._ballast = [b"x" * 10_000 for _ in range(6_000 if self._first == "fill" else 0)]

    def shown(self) -> np.ndarray[Any, Any]:
        return np.zeros(self._rounds, np.int64)


def fixed(do: str) -> dict[str, Any]:
    player = Player("Fixed", Fixed, "numpy", settings=lambda _: ({"do": do},))
    return measure.measure(
        Task(Source("car"), "Fixed", {"do": do}, 4), player, streams.Rounds(small_stream()), 5.0
    )


# Runs


@pytest.mark.parametrize("name", PLAYERS)
def test_everybody_plays(name: str, tmp_path: Path) -> None:
    record = run(tmp_path, name)[-1]
    assert "failed" not in record, record["failed"]
    assert (record["task"]["seed"], record["rounds"], record["stream_rounds"]) == (
        plan.FIRST_SEED,
        ROUNDS,
        ROUNDS,
    )
    assert 0 <= record["last_accuracy"] <= 1
    assert record["rounds_per_second"] > 0


@pytest.mark.parametrize(
    "name",
    [
        "GapBoost",
        "EpsilonGreedyTree",
        *(name for name in PLAYERS if name.startswith("VW ")),
        "contextualbandits",
    ],
)
def test_a_label_that_was_not_shown_changes_nothing(name: str) -> None:
    assert np.array_equal(*_shown_with_other_wrong_labels(name))


@pytest.mark.parametrize("name", ["AdaFull", "River ARF"])
def test_who_is_told_does_see_labels(name: str) -> None:
    assert not np.array_equal(*_shown_with_other_wrong_labels(name))


def _shown_with_other_wrong_labels(name: str) -> tuple[Any, Any]:
    """What is shown, and what is shown if every label that was not guessed is another one that would not have
    been guessed either.
    """
    player, stream, answers = installed(name), small_stream(200), []
    for _ in range(2):
        game = player.game(stream, player.settings("car")[-1], 5)
        game.play(10.0)
        answers.append(game.shown())
        others = (stream.y + 1) % 4
        others = np.where(others == answers[0], (others + 1) % 4, others)
        stream = replace(stream, y=np.where(stream.y == answers[0], stream.y, others))
    return answers[0], answers[1]


def test_what_is_in_the_file_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run(tmp_path, "Random", "Majority")
    monkeypatch.setattr(measure, "measure", lambda *_: pytest.fail("played again"))
    assert run(tmp_path, "Random", "Majority") == before


def test_a_torn_line_is_played_again(tmp_path: Path) -> None:
    before = run(tmp_path, "Random")
    path = tmp_path / "peers.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    assert [record["accuracy"] for record in run(tmp_path, "Random")] == [
        record["accuracy"] for record in before
    ]


def test_a_run_that_raises_or_dies_costs_only_itself() -> None:
    assert fixed("raise")["failed"] == "ValueError: no such thing"
    assert "without an answer" in fixed("exit")["failed"]
    assert "failed" not in fixed("")


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
def test_memory_is_what_playing_added() -> None:
    assert fixed("")["memory_bytes"] < 20e6
    assert 55e6 < fixed("fill")["memory_bytes"] < 90e6


def test_the_clock_ends_a_run() -> None:
    river = installed("River AdaBoost")
    record = measure.measure(
        Task(Source("car"), river.name, river.settings("car")[0], 4),
        river,
        streams.Rounds(datasets.load("car").stream(seed=1)),
        0.05,
    )
    assert 0 < record["rounds"] < record["stream_rounds"]
    assert str(record["stream_rounds"]) not in record["milestones"]


def test_the_command_prints_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--results", str(tmp_path / "runs.jsonl")]
    affinity = os.sched_getaffinity(0)
    try:
        main(["--quick", "--datasets", "balance,prototypes", "--players", "Random", *where])
    finally:
        os.sched_setaffinity(0, affinity)
    printed = capsys.readouterr().out
    main(["--report", "--page", str(tmp_path / "page.md"), *where])
    assert (tmp_path / "page.md").read_text() == printed.removesuffix("\n")
    assert "| balance" in printed
    assert "| prototypes" in printed


def test_the_command_refuses_unknown_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--datasets", "cars"])
    assert "unknown data set 'cars': choose from balance, car" in capsys.readouterr().err


# Settings


def _tried(name: str, **milestones: float) -> dict[str, Any]:
    rounds = max(map(int, milestones))
    return {
        "task": {"parameters": {"name": name}},
        "milestones": milestones,
        "accuracy": milestones[str(rounds)],
        "rounds": rounds,
    }


def test_settings_are_compared_where_all_have_been() -> None:
    slow, fast = (
        _tried("slow", **{"10": 0.1, "1000": 0.5}),
        _tried("fast", **{"10": 0.2, "1000": 0.4, "2000": 0.9}),
    )
    assert plan.choose([fast, slow]) == {"name": "slow"}
    assert plan.choose([fast, {"failed": "it did", "task": {}}]) == {"name": "fast"}
    assert plan.choose([{"failed": "it did", "task": {}}]) is None


def test_settings_that_are_too_slow_are_not_chosen() -> None:
    snail, fast = (
        _tried("snail", **{"10": 0.9, "100": 0.9}),
        _tried("fast", **{"10": 0.2, "100": 0.2, "1000": 0.2}),
    )
    assert plan.choose([snail, fast]) == {"name": "fast"}
    assert plan.choose([snail, _tried("other", **{"10": 0.1, "100": 0.1})]) == {"name": "snail"}


@needs_vw
def test_peers_are_tuned_on_another_order(tmp_path: Path) -> None:
    records = run(tmp_path, "VW squarecb")
    tuning, reported = records[:-1], records[-1]
    assert {record["task"]["seed"] for record in tuning} == {plan.TUNING_SEED}
    assert {record["rounds"] for record in tuning} == {TINY.tuning_rounds}
    assert reported["task"]["parameters"] == plan.choose(tuning)
    assert len(tuning) == 2 + len(vowpal.EXPLORERS["squarecb"]) - 1 + len(vowpal.STEPS) - 1 + 2


# Formats


def test_rows_in_vowpal_wabbits_format() -> None:
    stream = Stream(
        "s",
        ("a", "b"),
        ("numeric", "nominal"),
        (None, ("x", "y")),
        np.array([[0.5, 1], [np.nan, 0]]),
        np.array([0, 2]),
        ("p", "q", "r"),
        np.arange(2),
    )
    assert list(vowpal.lines(stream)) == ["1 |f c0:0.5 c1_1\n", "3 |f c1_0\n"]


def test_vowpal_wabbits_predictions() -> None:
    assert vowpal.parse("3\n1.000000\n2 tag\n\n").tolist() == [2, 0, 1]


def test_rows_as_arff() -> None:
    stream = Stream(
        "s",
        ("a", "b"),
        ("numeric", "nominal"),
        (None, ("x, y", "z")),
        np.array([[0.5, 1], [np.nan, 0]]),
        np.array([0, 1]),
        ("p", "q"),
        np.arange(2),
    )
    assert list(capymoa.arff(stream))[1:] == [
        "@attribute a0 numeric",
        "@attribute a1 {v0,v1}",
        "@attribute class {l0,l1}",
        "@data",
        "0.5,v1,l0",
        "?,v0,l1",
    ]


def test_columns_for_linear_peers() -> None:
    stream = Stream(
        "s",
        ("a", "b"),
        ("numeric", "nominal"),
        (None, ("x", "y")),
        np.array([[1.0, 1], [3, 0], [np.nan, 1]]),
        np.zeros(3, np.int64),
        ("p",),
        np.arange(3),
    )
    scaled = columns.standardised(stream)
    assert columns.one_hot(scaled).tolist() == [[-1, 0, 1], [1, 1, 0], [0, 0, 1]]
    assert stream.X[0, 0] == 1.0
    assert columns.one_hot(columns.named(stream)).tolist() == [[1, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 1]]
    assert columns.named(stream).values[0] == ("1", "3")


# Streams


@pytest.mark.parametrize("name", known.KNOWN)
def test_the_best_policy_is_the_best(name: str) -> None:
    rounds = streams.entries()[name].draw(5)
    assert rounds.best is not None
    scored = measure.score(rounds.best, rounds)
    assert scored["regret"] == 0
    assert scored["best_accuracy"] == scored["accuracy"] > 0.75
    assert (
        measure.score((rounds.best + 1) % len(rounds.stream.labels), rounds)["regret"]
        > 0.5 * rounds.stream.rounds
    )
    assert not np.array_equal(rounds.stream.X, streams.entries()[name].draw(6).stream.X)


@pytest.mark.parametrize(
    "name",
    ["digits", "segments", "led", "quantiles", "terrain", "splice", "leaf", "storms", "prototypes", "lookup"],
)
def test_streams_are_what_the_page_says(name: str) -> None:
    entry = streams.entries()[name]
    if (reason := streams.unavailable(entry)) is not None:
        pytest.skip(reason)
    stream = entry.draw(4).stream
    assert re.search(rf"\b{len(stream.features)}\b.* columns", entry.about)
    assert re.search(rf"\b{len(stream.labels)}\b.* labels", entry.about)
    assert ("nominal" in entry.about) == ("nominal" in stream.kinds)


def test_every_table_is_described() -> None:
    assert {*bundled.TABLES, *bundled.WIDE, *known.KNOWN, *topics.TOPICS, *words.WORDS} == {
        entry.name for entry in streams.entries().values() if entry.about
    }


def test_a_cut_stream_is_a_beginning() -> None:
    whole = streams.entries()["change"].draw(4)
    short = plan.cut(whole, 50)
    assert short.stream.rounds == len(short.best if short.best is not None else []) == 50
    assert np.array_equal(short.stream.X, whole.stream.X[:50])
    assert plan.cut(whole, None) is whole


# The page


def _record(
    stream: str, player: str, seed: int, total: float, rounds: int = 100, **others: Any
) -> dict[str, Any]:
    task = Task(
        Source(stream),
        player,
        {"explorer": "--x", "quadratic": True} if player.startswith("VW") else {},
        seed,
    )
    return {
        "id": task.id,
        "task": task.to_dict(),
        "stream_rounds": 100,
        "rounds": rounds,
        "accuracy": total,
        "last_accuracy": total + 0.01,
        "regret": 7 if stream in known.KNOWN else None,
        "best_accuracy": 0.9 if stream in known.KNOWN else None,
        "rounds_per_second": 1000.0,
        "memory_bytes": 3 << 20,
        "versions": {"python": "3.11"},
        "cpu": "a core",
        "command": "python -m benchmarks.peers",
        "finished": "2026-11-16T00:00:00Z",
        **others,
    }


def test_the_page_is_made_of_records_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "speeds", lambda: [Speed("car", 3000.0, 1000.0, "VW squarecb")])
    page = report.page(
        [
            _record("car", "GapBoost", 4, 0.90, rounds_per_second=3000.0),
            _record("car", "GapBoost", 5, 0.94, rounds_per_second=3000.0),
            _record("car", "VW squarecb", plan.TUNING_SEED, 0.99),
            _record("car", "VW squarecb", 4, 0.80),
            _record("car", "VW bag", 4, 0.85, rounds=50),
            _record("digits", "GapBoost", 4, 0.50),
            _record("digits", "contextualbandits", 4, 0.75),
            _record("change", "GapBoost", 4, 0.80),
            {**_record("change", "VW bag", 4, 0.1), "failed": "out of breath"},
        ]
    )
    cells = [
        cell.strip()
        for cell in next(line for line in page.splitlines() if line.startswith("| car ")).split("|")
    ]
    assert cells[4:7] == ["0.920", "VW squarecb", "0.800"]
    assert re.search(r"\| all +\| +2 \| +1 \| +1 \| +-0.065 \|", page)
    assert re.search(r"\| contextualbandits +\| +1 \| +0 \| +-0.250 \|", page)
    assert re.search(r"\| car +\| +3,000 \| +1,000 \(squarecb\) \| +3.00 \|", page)
    assert "0.850*" in page
    assert "- VW squarecb: change, digits" in page
    assert "VW bag on change, seed 4: out of breath" in page
    assert "0.99" not in page


def test_the_last_settings_count() -> None:
    old = _record("car", "VW bag", 4, 0.99)
    old["task"] = {**old["task"], "parameters": {"explorer": "--old", "quadratic": False}}
    assert "0.99" not in report.page([old, _record("car", "VW bag", 4, 0.80)])


def test_an_empty_file_has_a_page() -> None:
    assert "Nothing has been played yet" in report.page([])


def test_the_chart_has_a_bar_for_every_stream(tmp_path: Path) -> None:
    records = [
        _record(stream, player, 4, total)
        for stream, ours in (("car", 0.9), ("fishing", 0.3), ("change", 0.7))
        for player, total in (("GapBoost", ours), ("VW bag", 0.5))
    ]
    numbers = report.chart_numbers(records)
    assert {(n["stream"], n["used"]): n["gap"] for n in numbers} == {
        ("car", "tuned"): 0.4,
        ("fishing", "fresh"): -0.2,
        ("change", "seen"): 0.2,
    }
    page, chart = report.write(records, tmp_path / "page.md")
    assert "](peers.svg)" in page.read_text(encoding="utf-8")
    assert charts.shows(chart, numbers)
    assert not charts.shows(chart, numbers[1:])
    labels = [tick.get_text() for axes in standing.draw(numbers).axes for tick in axes.get_yticklabels()]
    assert sorted(labels) == ["car", "change", "fishing"]
