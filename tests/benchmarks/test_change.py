"""The benchmark of streams that change: streams are what the page says, and time to recover is counted right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from banditboost.experiments.results import Results
from benchmarks import charts, records
from benchmarks.change import page, plan, streams
from benchmarks.change.plan import measured, recovery
from benchmarks.change.players import GAP, WABBIT, _matrix, players
from benchmarks.rewards.plan import TUNING_SEED, Runner
from benchmarks.rewards.players import Player, Settings, Shown, command
from benchmarks.rewards.streams import REPORTING, Stream, Task

USUAL = 5, 0.03, 0.15, 4_000


@pytest.mark.parametrize(
    ("kind", "n_best"),
    [(streams.sudden, 2), (streams.gradual, 2), (streams.returning, 2), (streams.one_option, 2),
     (streams.new_best, 2), (streams.never, 1)],
)  # fmt: skip
def test_which_option_is_best(kind: object, n_best: int) -> None:
    stream = streams.clicks(kind, *USUAL, seed=4)  # type: ignore[arg-type]
    best = stream.means.argmax(axis=1)
    assert len(np.unique(best)) == n_best
    assert best[0] == best[1_999]
    if n_best == 2 and kind is not streams.returning:
        assert best[-1] != best[0]
    assert stream.rewards.mean(axis=0) == pytest.approx(stream.means.mean(axis=0), abs=0.03)


def test_only_visitors_change() -> None:
    stream = streams.by_visitor(False, *USUAL, seed=4)
    liked: dict[str, set[int]] = {}
    for row, best in zip(stream.rows, stream.means.argmax(axis=1).tolist(), strict=True):
        liked.setdefault(f"{row['device']} {row['hour'] >= 12}", set()).add(best)
    assert all(len(options) == 1 for options in liked.values())
    devices = [row["device"] for row in stream.rows]
    assert devices[:2_000].count("d0") > 800 > 600 > devices[2_000:].count("d0")


def test_what_is_liked_changes_for_every_kind_of_visitor() -> None:
    stream = streams.by_visitor(True, *USUAL, seed=4)
    best = stream.means.argmax(axis=1)
    shifts = {int(b - a) % 5 for a, b, one, other in zip(best[:2_000], best[2_000:], stream.rows[:2_000], stream.rows[2_000:], strict=True)
              if one["device"] == other["device"] and (one["hour"] >= 12) == (other["hour"] >= 12)}  # fmt: skip
    assert len(shifts) == 1
    assert shifts != {0}


def test_odds_wander_and_stay_within_reason() -> None:
    rates = streams.clicks(streams.for_ever, *USUAL, seed=4).means
    assert 0.0005 < rates.min() < rates.max() < 0.8
    assert np.abs(np.diff(np.log(rates), axis=0)).max() < 0.2


def test_the_tuning_stream_is_shorter() -> None:
    assert len(streams.clicks(streams.sudden, *USUAL, seed=TUNING_SEED).rows) == 1_000


def test_labels_as_rewards() -> None:
    stream = streams.labelled([({"a": 1, "b": "x"}, "yes"), ({"a": math.nan, "b": "y"}, "no")])
    assert stream.rows == [{"a": 1.0, "b": "x"}, {"b": "y"}]
    assert stream.rewards.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_time_to_recover() -> None:
    best = np.full(20_000, 0.2)
    stream = Stream([{}] * 20_000, np.zeros((0, 0)), np.zeros((0, 0)))
    changing = streams.Changing(*(stream.rows, stream.rewards, stream.means), changed=10_000)
    earned = best.copy()
    assert recovery(changing, earned, best) == 1_000
    earned[10_000:13_000] = 0.0
    assert recovery(changing, earned, best) in (3_950, 3_951)  # by rounding
    earned[10_000:] = 0.1
    assert recovery(changing, earned, best) == -1
    assert recovery(streams.labelled([({}, 1)]), earned, best) is None


def first_option(stream: Stream, settings: Settings, seed: int) -> Shown:  # noqa: ARG001
    return np.full(len(stream.rows), settings.get("option", 0))


def test_records_and_their_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "CHART_STREAM", "small")
    make = lambda seed: streams.clicks(streams.sudden, *USUAL, seed=seed)  # noqa: E731
    results = Results(tmp_path / "r.jsonl")
    runner = Runner(results, {"machine": {}}, lambda _: None, math.inf, measured)
    settings = [{"option": i, "explorer": "--always", "rest": " --power_t 0"} for i in range(5)]
    for player in (Player(GAP, first_option), Player(WABBIT, first_option, settings)):
        runner.play(Task("small", REPORTING, make), player, plan.SEEDS)
    text, chart = page.write(results.records(), tmp_path)
    assert "always, constant" in text.read_text()
    assert charts.shows(chart, page.chart_numbers(results.records()))


def test_settings_of_peers() -> None:
    wabbit = next(player for player in players() if player.name == WABBIT)
    commands = [command(settings, 3) for settings in wabbit.first]
    assert sum("--power_t 0" in one for one in commands) * 2 == len(commands) == 8
    matrix = _matrix([{"a": 1.0, "b": "x"}, {"a": 3.0}])
    assert matrix.tolist() == [[-1.0, 1.0], [1.0, 0.0]]


def test_the_page_is_that_of_the_record() -> None:
    found = records.read(page.RECORDS)
    assert (records.FOLDER / page.PAGE_NAME).read_text() == page.page(found)
    assert charts.shows(records.FOLDER / page.CHART_NAME, page.chart_numbers(found))
