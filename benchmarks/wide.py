"""Rounds per second on bags of words and on hundreds of columns, beside Vowpal Wabbit: `python -m benchmarks.wide`.

Vowpal Wabbit has the setting with which it was most accurate on the stream in the record of the peers. The two
play in turns, so that a machine that is slow for a while is slow for both.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from banditboost.errors import BanditBoostError
from benchmarks import machine, records
from benchmarks.numbers import sources
from benchmarks.peers import plan, standing
from benchmarks.peers.bags import Bags
from benchmarks.peers.player import AnyStream, Game, Parameters, Player
from benchmarks.peers.streams import entries
from benchmarks.peers.summary import Summary
from benchmarks.rate import Contender, Turn, in_turns, timed
from benchmarks.tables import number, render

STREAMS = ("topics", "noise", "million", "mnist")
"""A thousand, ten thousand, a million possible words, of which fifty are there; 784 columns."""
ROUNDS, TURNS, SEED = 5_000, 3, 4
ACCURATE, PLAIN = "most accurate", "without pairs"
"""Vowpal Wabbit's settings: the best of all, and the best of those without pairs of words."""
_WITHOUT_END = 1e6
"""Seconds that a game may take."""


def settings_of(players: Mapping[str, Summary]) -> dict[str, tuple[str, Parameters]]:
    """Vowpal Wabbit's two settings on a stream, each with its explorer."""
    found = [
        (name, summary.settings)
        for name, summary in standing.rivals(players).items()
        if name.startswith("VW ")
    ]
    plain = [one for one in found if not one[1]["quadratic"]]
    return {ACCURATE: found[0], PLAIN: plain[0]} if plain else {ACCURATE: found[0]}


def contender(player: Player, stream: AnyStream, settings: Parameters) -> Contender:
    """A fresh game in each turn, made outside the clock."""

    def turn(_: int) -> Turn:
        game: Game = player.game(stream, settings, SEED)
        seconds, _ = timed(lambda: _played(game))
        shown = game.shown()
        return Turn(len(shown), seconds, float((shown == stream.y[: len(shown)]).sum()))

    return turn


def _played(game: Game) -> float:
    game.play(_WITHOUT_END)
    return 0.0


def measure(name: str, ours: bool) -> dict[str, Any]:
    """The line of a stream; GapBoost's rate is None if it does not play, or `play` does not take such rows."""
    stream = plan.cut(entries()[name].draw(SEED), ROUNDS).stream
    players = {player.name: player for player in plan.all_players()}
    chosen = settings_of(sources.peers()[0][name])
    contenders = {
        how: contender(players[explorer], stream, settings) for how, (explorer, settings) in chosen.items()
    }
    if ours:
        champion = players[plan.CHAMPION]
        contenders |= _able(name, contender(champion, stream, champion.settings(name)[0]))
    rates = in_turns(contenders, TURNS)
    return {
        "stream": name,
        "columns": len(stream.words) if isinstance(stream, Bags) else stream.X.shape[1],
        "present": _present(stream),
        "labels": len(stream.labels),
        "rounds": stream.rounds,
        "settings": {how: {"player": explorer, **settings} for how, (explorer, settings) in chosen.items()},
        "rates": {who: round(rate.per_second, 1) for who, rate in rates.items()},
        "accuracies": {who: round(rate.accuracy, 4) for who, rate in rates.items()},
    }


def _able(name: str, ours: Contender) -> dict[str, Contender]:
    """Ours, if it plays these rows; what is compiled for them is compiled then."""
    try:
        ours(0)
    except BanditBoostError as error:
        print(f"{name}: GapBoost is left out: {error}", file=sys.stderr)
        return {}
    return {plan.CHAMPION: ours}


def _present(stream: AnyStream) -> float:
    """Cells of a row that are not empty or zero, on average."""
    cells = stream.matrix.nnz if isinstance(stream, Bags) else int((stream.X != 0).sum())
    return round(cells / stream.rounds, 1)


def table(lines: Sequence[Mapping[str, Any]]) -> str:
    heads = ["stream", "columns", "not 0", "GapBoost"]
    heads += ["VW, best", "ratio", "VW, no pairs", "ratio"]
    return render(heads, [_row(line) for line in lines])


def _row(line: Mapping[str, Any]) -> list[str]:
    row = [line["stream"], f"{line['columns']:,}", f"{line['present']:.0f}"]
    row.append(number(line["rates"].get(plan.CHAMPION)))
    for how in (ACCURATE, PLAIN):
        row += _beside(line, how)
    return row


def _beside(line: Mapping[str, Any], how: str) -> list[str]:
    """Vowpal Wabbit's rate, and ours as a multiple of it."""
    ours, theirs = line["rates"].get(plan.CHAMPION), line["rates"].get(how)
    if theirs is None:
        return ["-", "-"]
    return [number(theirs), "-" if ours is None else f"{ours / theirs:.2f}"]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide", description="Speed on wide rows.")
    parser.add_argument("streams", nargs="*", help="default: all")
    parser.add_argument("--peers", action="store_true", help="Vowpal Wabbit alone, without GapBoost")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    records.add_option(parser, "wide")
    options = parser.parse_args(arguments)
    described = machine.describe(machine.pin(options.core), ("vowpalwabbit", "numpy", "numba"))
    about = records.about(described, records.typed("benchmarks.wide", arguments))
    found = [measure(name, not options.peers) for name in options.streams or STREAMS]
    print(table(found))
    if options.record is not None:
        records.update(options.record, [{**line, **about} for line in found], ["stream"])


if __name__ == "__main__":
    main()
