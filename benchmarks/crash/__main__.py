"""The command: see the package."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import machine, records
from benchmarks.crash.killing import kill_again_and_again


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill, tell, and keep a record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    records.add_option(parser, "crash")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = kill_again_and_again(Path(folder), given.kills, given.seed)
    line = {
        "kills": found.kills,
        "seed": given.seed,
        "answers": found.answers,
        "events": found.events,
        "lost": len(found.lost),
        "wrong": len(found.wrong),
        "start_median": statistics.median(found.starts),
        "start_most": max(found.starts),
    }
    print(line)
    print(*found.lost[:5], *found.wrong[:5], sep="\n")
    if given.record:
        about = records.about(machine.describe(None), records.typed("benchmarks.crash", arguments))
        records.update(given.record, [{**about, **line}], ("kills", "seed"))
    return 0 if found.holds else 1


if __name__ == "__main__":
    raise SystemExit(main())
