"""`python -m benchmarks.bakeoff`: plays what is not in the record yet, then writes page and chart from it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks import machine, records
from benchmarks.bakeoff import page, sets
from benchmarks.bakeoff.players import Player, players
from benchmarks.bakeoff.sets import Set

PACKAGES = ("vowpalwabbit", "numpy", "numba")
KEY = ("set", "player")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.bakeoff", description="The contextual bandit bake-off, with GapBoost."
    )
    parser.add_argument(
        "--only", choices=sorted({p.group for p in players()}), help="who plays (default: all)"
    )
    parser.add_argument(
        "--sets",
        type=lambda text: [int(word) for word in text.split(",")],
        help="OpenML ids, comma-separated",
    )
    parser.add_argument(
        "--again", action="store_true", help="play what is in the record, too, and replace it"
    )
    parser.add_argument(
        "--records", type=Path, default=page.RECORDS, help="what was played (default: %(default)s)"
    )
    parser.add_argument(
        "--folder", type=Path, default=records.FOLDER, help="where page and chart go (default: %(default)s)"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    data = sets.folder()
    if data is None:
        print("nothing is played: BANDITBOOST_DATA names no folder with bakeoff/index.csv", file=sys.stderr)
    else:
        about = records.about(
            machine.describe(None, PACKAGES), records.typed("benchmarks.bakeoff", arguments)
        )
        chosen = [s for s in sets.read(data / "index.csv") if options.sets is None or s.id in options.sets]
        for item, player in _open(chosen, options):
            _play(item, player, data, options.records, about)
    for path in page.write(records.read(options.records), options.folder):
        print(path)


def _open(chosen: Iterable[Set], options: argparse.Namespace) -> list[tuple[Set, Player]]:
    """What is to be played."""
    present = [p for p in players() if options.only in (None, p.group)]
    if find_spec("vowpalwabbit") is None:
        print("Vowpal Wabbit is left out: vowpalwabbit is not installed", file=sys.stderr)
        present = [p for p in present if p.group == "gapboost"]
    done = set() if options.again else {(r["set"], r["player"]) for r in records.read(options.records)}
    return [(s, p) for s in chosen for p in present if p.meets(s) and (s.id, p.name) not in done]


def _play(item: Set, player: Player, data: Path, path: Path, about: records.Record) -> None:
    stream = item.stream(data)
    told = {
        "set": item.id,
        "player": player.name,
        "name": item.name,
        "rows": item.rows,
        "labels": item.labels,
    }
    line = {
        **told,
        "columns": len(item.kinds),
        "nominal": item.kinds.count("c"),
        **player.play(stream),
        **about,
    }
    records.update(path, [line], KEY)
    print(
        f"{item.id} {item.name} {item.rows} {player.name}: {line['seconds']} s", file=sys.stderr, flush=True
    )


if __name__ == "__main__":
    main()
