"""Rates: contenders play in turns, and River's faster setting counts."""

from __future__ import annotations

import pytest

from benchmarks import ours, river_peer, rounds
from benchmarks.cases import cases
from benchmarks.rate import TURNS, Contender, Rate, Turn, in_turns


def steady(seconds: float, played: list[str], name: str, right: float = 1.0) -> Contender:
    """Ten rounds in every turn."""

    def turn(number: int) -> Turn:
        played.append(f"{name}{number}")
        return Turn(10, seconds, right)

    return turn


def test_contenders_take_turns_and_rates_are_over_all_of_them() -> None:
    played: list[str] = []
    rates = in_turns({"a": steady(0.5, played, "a"), "b": steady(2.0, played, "b", right=4.0)}, turns=3)
    assert played == ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert rates == {"a": Rate(30, 1.5, 0.1), "b": Rate(30, 6.0, 0.4)}
    assert rates["a"].per_second == 4 * rates["b"].per_second


def test_our_booster_plays_the_whole_beginning_in_every_turn() -> None:
    case = next(cases(("balance",), 4)).cut(120)
    first, again = (ours.by_array(case)(turn) for turn in (0, 1))
    assert (first.rounds, first.right) == (again.rounds, again.right)
    assert first.rounds == 120
    assert first.right == ours.played(case, "AdaBandit")(0).right


@pytest.mark.parametrize("slower", range(2))
def test_the_faster_of_rivers_settings_counts(slower: int, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["one", "two"]
    monkeypatch.setattr(river_peer, "rate_in_a_trial", lambda _: 50.0)
    monkeypatch.setattr(
        river_peer,
        "as_shipped",
        lambda _: {name: steady(2.0 if i == slower else 1.0, [], name) for i, name in enumerate(names)},
    )
    monkeypatch.setattr(river_peer, "with_our_trees", lambda _: steady(0.5, [], "ours"))
    monkeypatch.setattr(ours, "played", lambda *_: steady(0.004, [], "whole"))
    monkeypatch.setattr(rounds, "_ours", lambda case: {rounds.PLAY: steady(0.004, [], f"{case.rounds}")})
    options = rounds.parse(
        ["--seconds", "2", "--minimum-rounds", "60", "--peers", "river", "--datasets", "balance"]
    )
    outcome = rounds.measure(next(cases(("balance",), 4)), options)
    assert (outcome.prefix, outcome.river) == (100, names[1 - slower])
    assert outcome.rates[rounds.RIVER].seconds == TURNS * 1.0
    assert "250 (100) ok" in rounds.report([outcome], {})
