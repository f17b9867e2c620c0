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
from benchmarks.rate import Contender, Rate, Turn, in_turns, timed
from benchmarks.tables import number, render

STREAMS = ("topics", "noise", "million", "mnist")
"""A thousand, ten thousand, a million possible words, of which fifty are there; 784 columns."""
ROUNDS, TURNS, SEED = 5_000, 3, 4
OURS, PEER = plan.CHAMPION, "VW"
_WITHOUT_END = 1e6
"""Seconds that a game may take."""


def most_accurate(players: Mapping[str, Summary]) -> tuple[str, Parameters]:
    """Which of Vowpal Wabbit's explorers was best on a stream, and its settings."""
    name = next(name for name in standing.rivals(players) if name.startswith("VW "))
    return name, players[name].settings


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


def measure(name: str, rounds: int = ROUNDS, turns: int = TURNS) -> dict[str, Any]:
    """The line of a stream; ours is None if `play` does not take such rows."""
    stream = plan.cut(entries()[name].draw(SEED), rounds).stream
    players = {player.name: player for player in plan.all_players()}
    explorer, settings = most_accurate(sources.peers()[0][name])
    contenders = {PEER: contender(players[explorer], stream, settings)}
    ours = contender(players[OURS], stream, players[OURS].settings(name)[0])
    try:
        ours(0)
        contenders[OURS] = ours
    except BanditBoostError as error:
        print(f"{name}: GapBoost is left out: {error}", file=sys.stderr)
    rates = in_turns(contenders, turns)
    return {
        "stream": name,
        "columns": len(stream.words) if isinstance(stream, Bags) else stream.X.shape[1],
        "present": _present(stream),
        "labels": len(stream.labels),
        "rounds": stream.rounds,
        "explorer": explorer,
        "settings": dict(settings),
        "rates": {who: _rate(rates.get(who)) for who in (OURS, PEER)},
        "accuracies": {
            who: None if who not in rates else round(rates[who].accuracy, 4) for who in (OURS, PEER)
        },
    }


def _present(stream: AnyStream) -> float:
    """Cells of a row that are not empty or zero, on average."""
    cells = stream.matrix.nnz if isinstance(stream, Bags) else int((stream.X != 0).sum())
    return round(cells / stream.rounds, 1)


def _rate(rate: Rate | None) -> float | None:
    return None if rate is None else round(rate.per_second, 1)


def table(lines: Sequence[Mapping[str, Any]]) -> str:
    heads = [
        "stream",
        "columns",
        "of them not 0",
        "labels",
        "GapBoost",
        "Vowpal Wabbit, most accurate",
        "quotient",
    ]
    return render(heads, [_row(line) for line in lines])


def _row(line: Mapping[str, Any]) -> list[str]:
    ours, theirs = line["rates"][OURS], line["rates"][PEER]
    return [
        line["stream"],
        f"{line['columns']:,}",
        f"{line['present']:.0f}",
        str(line["labels"]),
        number(ours),
        f"{number(theirs)} ({line['explorer'].removeprefix('VW ')}{', pairs' if line['settings']['quadratic'] else ''})",
        "-" if ours is None else f"{ours / theirs:.2f}",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wide", description="Speed on wide rows.")
    parser.add_argument("streams", nargs="*", help="default: all")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    records.add_option(parser, "wide")
    options = parser.parse_args(arguments)
    described = machine.describe(machine.pin(options.core), ("vowpalwabbit", "numpy", "numba"))
    about = records.about(described, records.typed("benchmarks.wide", arguments))
    found = [measure(name) for name in options.streams or STREAMS]
    print(table(found))
    if options.record is not None:
        records.update(options.record, [{**line, **about} for line in found], ["stream"])


if __name__ == "__main__":
    main()
