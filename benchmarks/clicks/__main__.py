"""`python -m benchmarks.clicks`: plays what is not in the record yet, then writes page and chart from it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from banditboost.experiments.results import Results
from benchmarks import machine
from benchmarks.clicks import page
from benchmarks.clicks.plan import Record, Runner
from benchmarks.clicks.players import Wabbit, players
from benchmarks.records import FOLDER

PACKAGES = ("vowpalwabbit", "numpy", "numba")


def tell(record: Record) -> None:
    print(
        f"{record['player']} {record['settings']} seed {record['seed']}: {record['rate']:.4f}",
        file=sys.stderr,
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.clicks", description="Banners and clicks, beside Vowpal Wabbit."
    )
    parser.add_argument(
        "--records", type=Path, default=page.RECORDS, help="what was played (default: %(default)s)"
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where page and chart go (default: %(default)s)"
    )
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    options = parser.parse_args(arguments)
    about = {
        "machine": machine.describe(machine.pin(options.core), PACKAGES),
        "command": "python -m benchmarks.clicks",
    }
    runner = Runner(Results(options.records), about, tell)
    for player in players():
        if player.game is Wabbit and find_spec("vowpalwabbit") is None:
            print(f"{player.name} is left out: vowpalwabbit is not installed", file=sys.stderr)
        else:
            runner.play(player)
    for path in page.write(Results(options.records).records(), options.folder):
        print(path)


if __name__ == "__main__":
    main()
