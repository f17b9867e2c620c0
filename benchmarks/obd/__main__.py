"""`python -m benchmarks.obd --record`: what one policy earned, from the log of the other one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from benchmarks import machine, records
from benchmarks.obd import page
from benchmarks.obd.judge import CAMPAIGNS, judge


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.obd", description="The Open Bandit logs, each policy from the other's log."
    )
    records.add_option(parser, page.NAME)
    options = parser.parse_args(arguments)
    about = records.about(machine.describe(None, ("numpy",)), records.typed("benchmarks.obd", arguments))
    lines = [{**line, **about} for campaign in CAMPAIGNS for line in judge(campaign)]
    print(page.table(lines, "bts"))
    print(page.table(lines, "random"))
    if options.record is not None:
        records.update(options.record, lines, ["campaign", "policy"])


if __name__ == "__main__":
    main()
