"""Knock at all doors with odd input, and tell whatever should not come out.

    python -m tests.fuzz --seconds 120 --seed 1 --doors rows,decisions
    python -m tests.fuzz --doors files --count 100000 --seed 7
    python -m tests.fuzz --replay rows:0123456789abcdef

The time is divided among the doors. Half of each door's share goes to random cases, which are the same in every
run with the same seed, and half to cases that atheris makes from the coverage of the package, if it is installed
(`pip install -e ".[fuzz]"`); --count plays random cases only. Every finding is told with the command that plays
it again, and kept as a file in --keep.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from benchmarks import machine, records
from tests.fuzz import doors, guided
from tests.fuzz.harness import Cases, Finding, Report, outcome_of, parse_case, play_random, scratch_folder


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    warnings.simplefilter("ignore")
    if given.replay is not None:
        return _replay(given.replay)
    names = doors.NAMES if given.doors is None else given.doors.split(",")
    if unknown := set(names) - set(doors.NAMES):
        print(f"no door {', '.join(sorted(unknown))}; give some of {','.join(doors.NAMES)}", file=sys.stderr)
        return 2
    reports = {name: _knock(name, given, len(names)) for name in names}
    if given.record is not None:
        _record(reports, given.record, arguments)
    return _tell_all(reports, given.keep)


def _record(reports: dict[str, Report], path: Path, arguments: list[str] | None) -> None:
    """A line for docs/reliability.md, which tells what was tried at these doors."""
    n_findings = sum(len(report.findings) for report in reports.values())
    counted = ", ".join(f"{name} {report.cases:,}" for name, report in reports.items())
    told = {"tried": "odd input at every door", "counted": counted, "found": f"{n_findings or 'no'} faults"}
    about = records.about(machine.describe(None, ("numpy", "numba")), records.typed("tests.fuzz", arguments))
    records.update(path, [{**told, **about}], ["tried"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--doors", help=f"some of {','.join(doors.NAMES)}; all if not given")
    parser.add_argument("--seconds", type=float, default=120.0, help="for all doors together (120)")
    parser.add_argument("--count", type=int, help="play so many random cases of each door, however long")
    parser.add_argument("--seed", type=int, default=1, help="of the cases (1)")
    parser.add_argument(
        "--start", type=int, default=0, help="number of the first random case of each door (0)"
    )
    parser.add_argument("--random", action="store_true", help="random cases only, even if atheris is there")
    records.add_option(parser, "reliability")
    parser.add_argument("--keep", type=Path, help="folder for a file of each finding")
    parser.add_argument("--replay", metavar="CASE", help="play one case: DOOR:HEX, or the file of a finding")
    return parser


def _knock(name: str, given: argparse.Namespace, n_doors: int) -> Report:
    """Play one door's share."""
    is_guided = given.count is None and not given.random and guided.is_there()
    seconds = None if given.count is not None else given.seconds / n_doors / (2 if is_guided else 1)
    door = doors.door(name)
    door.prepare()
    cases = Cases(name, given.seed, given.start, given.count, seconds)
    report = play_random(door, cases, lambda so_far: print(f"{name}: {_line(so_far)}", flush=True))
    if is_guided:
        report.add(guided.play(name, given.seed, seconds or 0.0))
        print(f"{name}, guided: {_line(report)}", flush=True)
    return report


def _line(report: Report) -> str:
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(report.outcomes.items()))
    return f"{report.cases} cases in {report.seconds:.0f} s: {counts}"


def _tell_all(reports: dict[str, Report], keep: Path | None) -> int:
    findings = [finding for report in reports.values() for finding in report.findings]
    kinds = {finding.kind: finding for finding in reversed(findings)}
    for finding in kinds.values():
        print(f"\n{finding.what}\n  python -m tests.fuzz --replay {finding.case}")
    for finding in findings if keep is not None else ():
        _keep(finding, keep)
    print()
    for name, report in reports.items():
        print(f"{name:12} {_line(report)}")
    print(
        f"{sum(report.cases for report in reports.values())} cases, {len(findings)} findings of {len(kinds)} kinds"
    )
    return 1 if findings else 0


def _keep(finding: Finding, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / finding.name).write_text(f"{finding.case}\n\n{finding.what}\n")


def _replay(text: str) -> int:
    name, data = parse_case(text)
    door = doors.door(name)
    door.prepare()
    with scratch_folder() as folder:
        outcome, what = outcome_of(door, data, Path(folder))
    print(f"{name}: {outcome}\n{what}")
    return 1 if what else 0


if __name__ == "__main__":
    sys.exit(main())
