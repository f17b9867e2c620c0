"""The benchmark of clicks: rates are what the page says, runs are played once, and the best setting is
chosen.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import config

from banditboost.experiments.results import Results
from benchmarks.clicks import page
from benchmarks.clicks.plan import FINALISTS, FURTHER_TUNING_SEEDS, PAGE, TUNING, Run, Runner
from benchmarks.clicks.players import AB_TEST, TABLE, Player, Settings, Wabbit, command, features, players
from benchmarks.clicks.visits import BANNERS, BEST, BEST_RATE, RATE, Row, click_rate, draw

PLAYERS = {player.name: player for player in players()}
needs_vw = pytest.mark.skipif(
    importlib.util.find_spec("vowpalwabbit") is None, reason="vowpalwabbit is not installed"
)
VW: Settings = {
    "explorer": "--epsilon 0.1",
    "estimate": "mtr",
    "pairs": True,
    "hour": "number",
    "step": 0.1,
    "costs": [0, -1],
}


class Always:
    """Shows one banner."""

    def __init__(self, settings: Settings, seed: int, n_visits: int) -> None:  # noqa: ARG002
        self._banner = settings["banner"]

    def show(self, row: Row) -> str:  # noqa: ARG002
        return str(self._banner)

    def hear(self, clicked: bool) -> None:
        pass


ALWAYS = Player("Always", Always, [{"banner": banner} for banner in BANNERS])


def test_one_banner_is_best_for_every_visitor() -> None:
    for row in draw(1, 200).rows():
        rates = [click_rate(row, banner) for banner in BANNERS]
        assert sorted(rates) == [RATE] * (len(BANNERS) - 1) + [BEST_RATE]


def test_a_seed_draws_the_same_visitors() -> None:
    first, again, other = draw(5, 50), draw(5, 50), draw(6, 50)
    assert np.array_equal(first.luck, again.luck)
    assert list(first.rows()) == list(again.rows())
    assert not np.array_equal(first.luck, other.luck)


def test_a_run_tells_the_rates_of_what_was_shown() -> None:
    record = Run(ALWAYS, {"banner": "sale"}, 4, PAGE).play(3000)
    expected = [click_rate(row, "sale") for row in draw(4, 3000).rows()]
    assert record["rate"] == pytest.approx(np.mean(expected), abs=1e-5)
    assert record["last_rate"] == pytest.approx(np.mean(expected[-600:]), abs=1e-5)
    assert record["clicks"] == sum(draw(4, 3000).luck < expected)
    assert np.mean(record["curve"]) == pytest.approx(record["rate"], abs=1e-5)


def test_the_best_setting_is_chosen_on_other_visitors(tmp_path: Path) -> None:
    results = Results(tmp_path / "clicks.jsonl")
    Runner(results, {"machine": {}}, lambda _: None).play(ALWAYS, 2000, seeds=(4, 5))
    shown = [record for record in results.records() if record["purpose"] == PAGE]
    assert {record["settings"]["banner"] for record in shown} == {
        "sale"
    }  # best for two of six kinds of visitors
    assert sorted(BEST.values()).count("sale") == 2
    tuning = [record for record in results.records() if record["purpose"] == TUNING]
    assert {record["seed"] for record in tuning}.isdisjoint({4, 5})
    assert len(tuning) == len(BANNERS) + min(FINALISTS, len(BANNERS)) * len(FURTHER_TUNING_SEEDS)


def test_what_is_in_the_file_is_not_played_again(tmp_path: Path) -> None:
    results, told = Results(tmp_path / "clicks.jsonl"), list[Any]()
    for _ in range(2):
        Runner(results, {}, told.append).play(PLAYERS["guessing"], 100, seeds=(4, 5))
    assert len(told) == 2


def test_a_test_ends_with_one_banner_and_a_table_with_several() -> None:
    kinds = {name: _last_banners(PLAYERS[name], 3000) for name in (AB_TEST, TABLE, "guessing")}
    assert len(kinds[AB_TEST]) == 1
    assert 1 < len(kinds[TABLE]) <= len(BANNERS)
    assert len(kinds["guessing"]) == len(BANNERS)


def _last_banners(player: Player, n_visits: int) -> set[str]:
    return set(list(_banners(player, n_visits))[-200:])


def _banners(player: Player, n_visits: int) -> Iterator[str]:
    game = player.game(player.grid[0], 4, n_visits)
    for row in draw(4, n_visits).rows():
        banner = game.show(row)
        yield banner
        game.hear(banner == BEST[row["device"], "morning" if row["hour"] < 12 else "evening"])


@pytest.mark.skipif(config.DISABLE_JIT, reason="plays thousands of visits")
def test_gapboost_learns_clicks_when_there_are_enough_of_them() -> None:
    assert Run(PLAYERS["GapBoost"], PLAYERS["GapBoost"].grid[0], 4, PAGE).play(15_000)["last_rate"] > 0.045


@needs_vw
@pytest.mark.parametrize("name", ["VW epsilon", "VW squarecb", "VW regcb", "VW bag"])
def test_every_explorer_plays(name: str) -> None:
    player = PLAYERS[name]
    for settings in (player.grid[0], player.grid[-1]):
        assert RATE <= Run(player, settings, 4, TUNING).play(50)["rate"] <= BEST_RATE


def test_vowpal_wabbits_command_and_rows() -> None:
    assert (
        command(VW)
        == "--cb_explore 5 --epsilon 0.1 -l 0.1 --cb_type mtr --cb_min_cost -1 --cb_max_cost 0 -q ::"
    )
    assert "-q" not in command({**VW, "pairs": False})
    assert features({"device": "phone", "hour": 23}, VW) == "|f device=phone hour:1.0000"
    assert features({"device": "phone", "hour": 23}, {**VW, "hour": "name"}) == "|f device=phone hour=23"


def test_vowpal_wabbit_is_tuned_with_and_without_pairs() -> None:
    for player in PLAYERS.values():
        if player.game is Wabbit:
            assert {settings["pairs"] for settings in player.grid} == {True, False}


def _record(player: str, seed: int, last_rate: float, clicks: int) -> dict[str, Any]:
    settings = VW if player.startswith("VW") else {"exploration": 0.1} if player == "AdaBandit" else {}
    scores = {
        "rate": last_rate,
        "last_rate": last_rate,
        "clicks": clicks,
        "curve": [last_rate] * 30,
        "visits": 1000,
    }
    told = {"machine": {"cpu": "a core", "python": "3"}, "finished": "2026-11-18T00:00:00Z"}
    return {"player": player, "settings": settings, "seed": seed, "purpose": PAGE, **scores, **told}


def test_the_page_is_made_of_records_alone() -> None:
    players = {
        "guessing": 0.028,
        "GapBoost": 0.05,
        "VW epsilon": 0.04,
        "VW bag": 0.03,
        "AdaBandit": 0.029,
        AB_TEST: 0.031,
    }
    records = [_record(name, seed, rate + seed / 1e4, 7) for name, rate in players.items() for seed in (4, 6)]
    text = page.page(records)
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["**GapBoost**", "VW epsilon"]
    assert "0.0505 ±" in lines[2]
    assert "reaches 0.030 to 0.041" in text or "reaches 0.031 to 0.041" in text
    assert list(page.curves(records)["curves"])[:3] == ["GapBoost", "VW epsilon", "VW bag"]
    assert page.draw(page.curves(records)).axes
