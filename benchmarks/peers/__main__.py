"""`python -m benchmarks.peers`: plays what is not in the file of results yet, then makes the page from the
file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from banditboost.experiments.results import Results
from benchmarks import machine
from benchmarks.peers import plan, report
from benchmarks.peers.player import Player
from benchmarks.peers.streams import Entry, entries, unavailable

QUICK = plan.Budget(seconds=2.0, tuning_seconds=1.0, tuning_rounds=1_000, rounds=1_000, seeds=1)
PACKAGES = ("vowpalwabbit", "contextualbandits", "river", "capymoa", "scikit-learn", "numpy", "numba")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.peers", description="Peers side by side on the same rows."
    )
    known = list(entries()), [player.name for player in plan.all_players()]
    parser.add_argument(
        "--datasets",
        type=lambda text: _chosen("data set", text, known[0]),
        default=known[0],
        help="comma-separated",
    )
    parser.add_argument(
        "--players",
        type=lambda text: _chosen("player", text, known[1]),
        default=known[1],
        help="comma-separated",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one seed, 1,000 rounds, two seconds a run: to see that everything works",
    )
    parser.add_argument(
        "--results",
        type=Path,
        help="the file of runs (default: results/peers.jsonl or results/peers-quick.jsonl)",
    )
    parser.add_argument(
        "--page", type=Path, help="write the page here, and its chart beside it (default: print it)"
    )
    parser.add_argument("--report", action="store_true", help="play nothing, only make the page")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    given = sys.argv[1:] if arguments is None else arguments
    return parser.parse_args(given, argparse.Namespace(given=given))


def _chosen(what: str, text: str, known: Sequence[str]) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"unknown {what} {name!r}: choose from {', '.join(known)}")
    return names


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    results = Results(
        options.results or Path("results") / ("peers-quick.jsonl" if options.quick else "peers.jsonl")
    )
    if not options.report:
        _play(options, results)
    if options.page is None:
        print(report.page(results.records()))
    else:
        report.write(results.records(), options.page)


def _play(options: argparse.Namespace, results: Results) -> None:
    core = machine.pin(options.core)
    players, chosen = _available(options)
    results.prepare()
    runner = plan.Runner(
        results, QUICK if options.quick else plan.Budget(), _about(core, options.given), _tell
    )
    for cell in plan.cells(chosen, players):
        runner.play(cell)


def _available(options: argparse.Namespace) -> tuple[list[Player], list[Entry]]:
    players = [player for player in plan.all_players() if player.name in options.players]
    missing = plan.missing(players)
    absent = {
        name: reason for name in options.datasets if (reason := unavailable(entries()[name])) is not None
    }
    for name, reason in {**missing, **absent}.items():
        print(f"{name} is left out: {reason}", file=sys.stderr)
    playable = [entries()[name] for name in options.datasets if name not in absent]
    return [player for player in players if player.package not in missing], playable


def _about(core: int | None, arguments: Sequence[str]) -> dict[str, Any]:
    """What every record says of where it was made."""
    described = machine.describe(core)
    return {
        "versions": {"python": described["python"], "banditboost": described["banditboost"], **_versions()},
        "cpu": described["cpu"],
        "command": " ".join(["python -m benchmarks.peers", *arguments]),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _tell(record: dict[str, Any]) -> None:
    task = record["task"]
    found = (
        record.get("failed")
        or f"{record['last_accuracy']:.4f} / {record['accuracy']:.4f} {record['rounds_per_second']:,.0f}/s"
    )
    print(f"{task['source']['name']} {task['learner']} {task['seed']}: {found}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
