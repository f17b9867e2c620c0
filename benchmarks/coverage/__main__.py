"""`python -m benchmarks.coverage`: how often intervals hold; then the page, from the record."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from benchmarks import machine, records
from benchmarks.coverage import page
from benchmarks.coverage.measure import LEVEL, LOOKS, measure
from benchmarks.coverage.worlds import N_ROWS, worlds


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage", description="How often intervals from logs hold."
    )
    records.add_option(parser, page.NAME)
    parser.add_argument("--logs", type=int, default=2000, help="of each setting (default: %(default)s)")
    parser.add_argument("--settings", default="", help="only settings whose names contain this")
    options = parser.parse_args(arguments)
    about = records.about(machine.describe(None, ("numpy",)), records.typed("benchmarks.coverage", arguments))
    for world in worlds():
        if options.settings not in world.name:
            continue
        start = time.process_time()
        found = measure(world, options.logs)
        line = {
            "setting": world.name,
            "words": world.words,
            "logs": options.logs,
            "rows": N_ROWS,
            "looks": len(LOOKS),
            "level": LEVEL,
            "intervals": found,
            "seconds": round(time.process_time() - start, 1),
            **about,
        }
        print(page.table([line]), file=sys.stderr, flush=True)
        if options.record is not None:
            records.update(options.record, [line], ["setting"])


if __name__ == "__main__":
    main()
