"""`python -m benchmarks.options`: plays what is not in the record yet, then writes the page from it."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from banditboost.experiments.results import Results
from benchmarks import machine
from benchmarks.options import logs, page, speed
from benchmarks.options.plan import PAGE, Record, Runner
from benchmarks.options.players import PEER, players
from benchmarks.options.streams import playable, tasks
from benchmarks.options.wabbit import Settings, first
from benchmarks.records import FOLDER

PACKAGES = ("vowpalwabbit", "numpy", "numba")
TIMED_AS = "shop, 100 items"


def tell(record: Record) -> None:
    print(f"{record['id']}: {record['mean']:.4f} ({record['seconds']:.1f} s)", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    options = _parser().parse_args(arguments)
    pinned = machine.describe(machine.pin(options.core), PACKAGES)
    about = {"machine": pinned, "command": "python -m benchmarks.options", "source": "measured"}
    results = Results(options.records)
    runner = Runner(results, about, tell, time.time() + 60.0 * options.minutes)
    try:
        _play(runner, options.players, options.streams)
        _beside(results, about, options)
    except TimeoutError as error:
        print(error, file=sys.stderr)
    print(page.write(Results(options.records).records(), options.folder))


def _play(runner: Runner, names: str, streams: str) -> None:
    wanted = [task for task in tasks() if streams in task.name and playable(task)]
    for task in wanted:
        for player in players():
            if names and player.name not in names.split(","):
                continue
            if player.name == PEER and find_spec("vowpalwabbit") is None:
                print(f"{player.name} is left out: vowpalwabbit is not installed", file=sys.stderr)
                continue
            runner.play(task, player, tasks())


def _beside(results: Results, about: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Times and logs, if they are asked for."""
    if options.speed:
        for record in speed.measure(about, _most_accurate(results)):
            results.append(record)
    where = logs.folder()
    if options.logs and where is not None and logs.LOG not in {r["purpose"] for r in results.records()}:
        for record in logs.measure(about, where):
            results.append(record)


def _most_accurate(results: Results) -> Settings:
    """Vowpal Wabbit's best setting on the shop of 100 items."""
    played = [r for r in results.records() if r["purpose"] == PAGE and r["player"] == PEER]
    found = [record["settings"] for record in played if record["stream"] == TIMED_AS]
    return found[0] if found else first()[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.options", description="Options with features, beside Vowpal Wabbit."
    )
    parser.add_argument("--records", type=Path, default=page.RECORDS, help="(default: %(default)s)")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the page goes")
    parser.add_argument("--streams", default="", help="only streams whose names contain this")
    parser.add_argument("--players", default="", help="only these, with commas between")
    parser.add_argument("--speed", action="store_true", help="measure the time of a decision, too")
    parser.add_argument("--logs", action="store_true", help="play the Open Bandit logs, too")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="stop after so many; the same command goes on"
    )
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    return parser


if __name__ == "__main__":
    main()
