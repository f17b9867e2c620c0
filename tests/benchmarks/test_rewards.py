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
from benchmarks.rewards.players import Player, Settings, Shown, adf_command, command, lines, players


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
    wabbit, with_lines = players()[-2:]
    assert "--cb_explore 4 --squarecb" in command(wabbit.first[0], 4)
    told = [adf_command(settings) for settings in with_lines.first]
    assert "--cb_explore_adf --squarecb --gamma_scale 100 --cb_type mtr" in told[0]
    assert ["--cb_type dr" in command for command in told] == [False] * 4 + [True] * 2
    assert all("-q fo" in command for command in told)


def test_vowpal_wabbit_with_a_line_for_each_option_learns() -> None:
    pytest.importorskip("vowpalwabbit")
    stream = streams.clicks(3, 0.02, 0.9, 1_500, 4)
    with_lines = players()[-1]
    shown = with_lines.play(stream, {**with_lines.first[1], "explorer": "--epsilon 0.05"}, 4)
    earned = stream.means[np.arange(len(shown)), shown]
    assert earned[-500:].mean() > stream.means.mean() + 0.1


def test_the_better_form_of_the_peer_is_shown() -> None:
    task, told = streams.Task("clicks", streams.REPORTING, small), []
    for name, option in (("GapBoost", 0), ("Vowpal Wabbit", 1), ("Vowpal Wabbit, adf", 2)):
        for seed in (4, 5, 6):
            played = {"stream": task.name, "streams_for": task.purpose, "player": name, "seed": seed,
                      "settings": {"explorer": "--always 1"}, "purpose": PAGE, "rounds": 200, "options": 3,
                      "mean": 0.1 * option, "last": 0.1 * option, "best": 1.0, "machine": {}, "finished": "2026"}  # fmt: skip
            told.append(played)
    assert "adf always" in page.page(told)
    assert "on all streams" in page.page(told)
    assert "adf always" not in page.page(told[:-1])


def test_the_page_is_that_of_the_record() -> None:
    assert (records.FOLDER / page.PAGE_NAME).read_text() == page.page(records.read(page.RECORDS))
