"""The benchmark of graded rewards: rewards are what the page says, runs are played once, and the best setting
is chosen.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from banditboost.experiments.results import Results
from benchmarks import records
from benchmarks.rewards import page, streams
from benchmarks.rewards.plan import PAGE, Runner
from benchmarks.rewards.players import Player, Settings, Shown, command, lines, players


def always(stream: streams.Stream, settings: Settings, seed: int) -> Shown:  # noqa: ARG001
    return np.full(len(stream.rows), settings["option"])


ALWAYS = Player("Vowpal Wabbit", always, [{"option": i, "explorer": "--always"} for i in range(3)])


def small(seed: int) -> streams.Stream:
    return streams.clicks(3, 0.05, 0.5, 200, seed)


def test_clicks_are_drawn_by_their_rates() -> None:
    stream = streams.clicks(4, 0.05, 0.5, 20_000, 1)
    assert stream.rewards.mean(axis=0) == pytest.approx(stream.means.mean(axis=0), abs=0.015)
    assert set(np.unique(stream.rewards)) == {0.0, 1.0}


def test_rewards_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    target = np.arange(80.0)
    monkeypatch.setattr(streams, "table", lambda *_: ([{}] * 80, target))
    near, price = streams.near("", 1), streams.price("", 1)
    assert np.array_equal(near.rewards.argmax(axis=1), np.repeat(np.arange(8), 10))
    assert near.rewards[0].tolist() == pytest.approx([1 - i / 7 for i in range(8)])
    assert price.rewards[79].tolist() == sorted(price.rewards[79])
    assert price.rewards[79, 7] == 1.0
    assert price.rewards[0].max() == 0.0


def test_the_best_setting_is_chosen_and_nothing_is_played_twice(tmp_path: Path) -> None:
    told: list[Any] = []
    task = streams.Task("clicks", streams.REPORTING, small)
    for _ in range(2):
        runner = Runner(Results(tmp_path / "r.jsonl"), {"machine": {}}, told.append, math.inf)
        runner.play(task, ALWAYS, seeds=(4, 5, 6))
    shown = [record for record in told if record["purpose"] == PAGE]
    best = int(small(99).means.mean(axis=0).argmax())
    assert [record["settings"]["option"] for record in shown] == [best] * 3
    runner.play(task, Player("GapBoost", lambda s, _, seed: always(s, {"option": best}, seed)), (4, 5, 6))
    assert "level on 1" in page.page(Results(tmp_path / "r.jsonl").records())


def test_time_that_is_over(tmp_path: Path) -> None:
    runner = Runner(Results(tmp_path / "r.jsonl"), {}, print, 0.0)
    with pytest.raises(TimeoutError):
        runner.play(streams.Task("clicks", streams.REPORTING, small), ALWAYS)


def test_lines_and_commands() -> None:
    rows = [{"a": 1.0, "b": "x y|z:"}, {"a": 3.0}]
    assert lines(rows)[1] == "|f c0:1"
    assert all(line.count("|") == 1 and line.count(":") == 1 for line in lines(rows))
    wabbit = players()[-1]
    assert "--cb_explore 4 --squarecb" in command(wabbit.first[0], 4)


def test_the_page_is_that_of_the_record() -> None:
    assert (records.FOLDER / page.PAGE_NAME).read_text() == page.page(records.read(page.RECORDS))
