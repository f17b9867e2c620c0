"""How long a stranger waits: fresh processes with an empty cache of kernels, and with a warm one.

    python -m benchmarks.startup [--python PATH] [--only NAMES] [--repeat 3] [--record]

Measured are `import banditboost`, `banditboost run car`, `banditboost reproduce --quick`, and the first
decision and the first verdict of GapBoost and of AdaBandit, counted from the start of the interpreter. The
empty cache is a new NUMBA_CACHE_DIR for every measurement; the warm one is the same directory once more. Wall
seconds and CPU seconds (those of child processes too); of repetitions the median. --python is the interpreter
of another environment, for example one in which a wheel was installed; --setting names it in the record.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine, records
from benchmarks.tables import number, render

_COMMAND = "from banditboost.cli import main; main()"
# Times are since the start of the interpreter, which is told by the parent's clock.
_ROUND = """
import json, sys, time
start = float(sys.argv[1])
import banditboost
def now():
    return [time.time() - start, time.process_time()]
model = getattr(banditboost, sys.argv[2])(["a", "b", "c"], seed=1)
decision = model.decide({"hour": 3, "device": "phone"})
decided = now()
model.learn(decision, correct=True)
print(json.dumps({"decide": decided, "learn": now()}))
"""
CACHES = ("empty", "warm")
Times = dict[str, tuple[float, float]]
"""What was waited for -> wall and CPU seconds."""


@dataclass(frozen=True)
class Case:
    """A program, and the names of what it measures."""

    name: str
    arguments: tuple[str, ...]
    booster: str = ""

    def run(self, python: str, cache: Path) -> Times:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
        with tempfile.TemporaryDirectory() as folder:
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
            arguments = [*self.arguments, str(start), self.booster] if self.booster else list(self.arguments)
            shown = subprocess.run(
                [python, *arguments], cwd=folder, env=environment, check=True, capture_output=True, text=True
            )
            wall, after = time.time() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        if self.booster:
            return {
                f"{self.booster}: first {what}": tuple(times)
                for what, times in json.loads(shown.stdout).items()
            }
        return {self.name: (wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)}


CASES = (
    Case("import banditboost", ("-c", "import banditboost")),
    Case("banditboost run car", ("-c", _COMMAND, "run", "car")),
    Case("GapBoost", ("-c", _ROUND), "GapBoost"),
    Case("AdaBandit", ("-c", _ROUND), "AdaBandit"),
    Case("banditboost reproduce --quick", ("-c", _COMMAND, "reproduce", "--quick", "--out", "reproduction")),
)


def measure(case: Case, python: str) -> dict[str, Times]:
    """Cache -> times; the second run finds what the first has compiled."""
    with tempfile.TemporaryDirectory() as cache:
        return {state: case.run(python, Path(cache)) for state in CACHES}


def medians(runs: Sequence[dict[str, Times]]) -> list[records.Record]:
    """A line for each cache and each thing that was waited for."""
    return [
        {
            "cache": state,
            "what": what,
            "wall": round(statistics.median(run[state][what][0] for run in runs), 2),
            "cpu": round(statistics.median(run[state][what][1] for run in runs), 2),
            "runs": len(runs),
        }
        for state in CACHES
        for what in runs[0][state]
    ]


def table(lines: Sequence[records.Record]) -> str:
    """Wall and CPU seconds, with an empty and with a warm cache."""
    found = {(line["what"], line["cache"]): line for line in lines}
    rows = [
        [what, *(number(found[what, state][unit]) for state in CACHES for unit in ("wall", "cpu"))]
        for what in dict.fromkeys(line["what"] for line in lines)
    ]
    return render(["seconds", "empty cache", "of it CPU", "warm cache", "of it CPU"], rows)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [case.name for case in CASES]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.startup", description="How long a stranger waits."
    )
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter to start (default: this one)"
    )
    parser.add_argument(
        "--setting", default="source", help="what is installed there: source, wheel (default: %(default)s)"
    )
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=names,
        help=f"comma-separated, from {','.join(names)}",
    )
    parser.add_argument(
        "--repeat", type=int, default=1, help="how often; the median counts (default: %(default)s)"
    )
    records.add_option(parser, "startup")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.only if name not in names]
    if unknown:
        parser.error(f"--only names {unknown[0]!r}: choose from {', '.join(names)}")
    return options


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    told = records.about(machine.describe(None), records.typed("benchmarks.startup", arguments))
    lines: list[records.Record] = []
    for case in CASES:
        if case.name in options.only:
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            found = medians([measure(case, options.python) for _ in range(options.repeat)])
            lines += [{"setting": options.setting, **line, **told} for line in found]
    print(table(lines))
    if options.record:
        records.update(options.record, lines, ["setting", "cache", "what"])


if __name__ == "__main__":
    main()
