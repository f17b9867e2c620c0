"""See the package."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benchmarks.serve
from benchmarks import machine, records
from benchmarks.serve import models, overload, page, replay, soak, speed, staleness
from benchmarks.tables import number, render

PACKAGES = ("uvicorn", "granian", "starlette", "msgspec", "uvloop", "httptools", "numpy", "numba")
Part = Callable[[argparse.Namespace], dict[str, Any]]
SPEED: dict[str, Part] = {
    "full": lambda given: speed.highest("full", given.seconds),
    "normal": lambda given: speed.highest("normal", given.seconds),
    "batches": lambda given: speed.batches(given.seconds),
}
PARTS: dict[str, Part] = SPEED | {
    "servers": lambda given: speed.servers(given.seconds),
    "replay": lambda given: replay.measure(given.rounds),
    "models": lambda given: models.measure(given.folder, given.models),
    "overload": lambda given: overload.measure(given.seconds),
    "soak": lambda given: soak.measure(given.folder, given.minutes),
    "staleness": lambda given: staleness.measure(given.folder),
}


def _told(found: dict[str, dict[str, Any]]) -> str:
    rows = [
        [part, name, number(value) if isinstance(value, int | float) else str(value)]
        for part, numbers in found.items()
        for name, value in _flat(numbers).items()
    ]
    return render(["part", "number", "value"], rows)


def _flat(numbers: dict[str, Any]) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in numbers.items():
        inner = _flat(value) if isinstance(value, dict) else {"": value}
        flat |= {f"{name} {last}".rstrip(): one for last, one in inner.items()}
    return flat


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.serve",
        description=benchmarks.serve.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(SPEED), metavar="PART")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement of speed")
    parser.add_argument("--rounds", type=int, default=100_000, help="of the log that is replayed")
    parser.add_argument("--models", type=int, default=10_000, help="in one service")
    parser.add_argument("--minutes", type=float, default=10.0, help="of the soak, all together")
    parser.add_argument(
        "--folder", type=Path, default=Path("results/serve"), help="what is kept of parts that go on"
    )
    records.add_option(parser, "serve")
    options = parser.parse_args()
    machine.pin(1)
    for part in options.part:
        found = PARTS[part](options)
        print(_told({part: found}), flush=True)
        if options.record:
            told = records.about(machine.describe(None, PACKAGES), records.typed("benchmarks.serve", None))
            records.update(options.record, [{"part": part, **found, **told}], ["part"])
            print(page.write(records.read(options.record), options.record.parent))


if __name__ == "__main__":
    main()
