"""`python -m benchmarks.causes PATCH ...`: plays the paper's cells in a clone of the package with each patch.

Records go to docs/results/causes.jsonl, one line for each cell; seeds that are there are not played again. A
patch is the name of a file in benchmarks/causes, several joined by +, or "unchanged". Without patches a table
of what was played is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from banditboost.experiments.protocol import ALGORITHMS, MODES, PRINTED, STREAMS
from benchmarks import machine, records
from benchmarks.causes import found
from benchmarks.causes.found import Cell
from benchmarks.causes.patches import BASE, FOLDER, UNCHANGED, Patch

RECORDS = records.path_of("causes")
CAUSES = records.FOLDER / "causes.toml"
_DIGITS = 6


KEY = (*Cell._fields, "commit")


def seeds_of(data: str, count: int, fresh: bool) -> list[int]:
    """The first seeds of the paper's, or of those after them; half as many on the two long streams."""
    usual = STREAMS[data].seeds
    many = count if len(usual) == len(STREAMS["balance"].seeds) else (count + 1) // 2
    return list(range(found.FIRST_FRESH, found.FIRST_FRESH + many) if fresh else usual[:many])


def known(path: Path) -> dict[Cell, records.Record]:
    """The lines that were played with the commit of the patches."""
    lines = [line for line in records.read(path) if line["commit"] == BASE]
    return {Cell(*(line[name] for name in Cell._fields)): line for line in lines}


def play(patch: Patch, wanted: Iterable[tuple[Cell, list[int]]], work: Path, path: Path) -> None:
    """Play the seeds that are missing, and write every cell down when it is done."""
    waiting = [(cell, seeds) for cell, all_seeds in wanted if (seeds := missing(cell, all_seeds, path))]
    if not waiting:
        return
    with started(patch.clone(work)) as process:
        for cell, seeds in waiting:
            scores = [answer(process, [*cell[:3], seed]) for seed in seeds]
            add(cell, seeds, scores, path)
            print(described(known(path)[cell]), file=sys.stderr, flush=True)


def missing(cell: Cell, seeds: Iterable[int], path: Path) -> list[int]:
    line = known(path).get(cell)
    return [seed for seed in seeds if line is None or seed not in line["seeds"]]


def started(clone: Path) -> subprocess.Popen[str]:
    """A player with the package of that clone, and a cache of compiled code of its own."""
    environment = {**os.environ, "PYTHONPATH": str(clone / "src"), "NUMBA_CACHE_DIR": str(clone / "cache")}
    return subprocess.Popen(
        [sys.executable, str(FOLDER / "player.py")],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def answer(process: subprocess.Popen[str], task: list[Any]) -> list[float]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"the player has failed at {task}")
    found: list[float] = json.loads(line)
    return found


def add(cell: Cell, seeds: Sequence[int], scores: Sequence[Sequence[float]], path: Path) -> None:
    """Join new seeds to those that the cell's line has."""
    line = known(path).get(cell, {"seeds": [], "last": [], "total": []})
    played = dict(zip(line["seeds"], zip(line["last"], line["total"], strict=True), strict=True))
    played.update(
        {seed: (round(a, _DIGITS), round(b, _DIGITS)) for seed, (a, b) in zip(seeds, scores, strict=True)}
    )
    last, total = zip(*(played[seed] for seed in sorted(played)), strict=True)
    joined = {**cell._asdict(), "commit": BASE, "seeds": sorted(played), "last": last, "total": total}
    about = records.about(machine.describe(None), f"python -m benchmarks.causes {cell.patch}")
    records.update(path, [{**joined, **about}], KEY)


def described(line: records.Record) -> str:
    """A cell with its means, beside print."""
    printed = PRINTED[line["data"]][line["algorithm"]]
    last, total = fmean(line["last"]), fmean(line["total"])
    return (
        f"{line['mode']:4} {line['data']:8} {line['algorithm']:9} {line['patch']:30} {len(line['seeds']):2} seeds"
        f"  {last:.3f} ({last - printed.last:+.3f})  {total:.3f} ({total - printed.total:+.3f})"
    )


def table(path: Path) -> Iterator[str]:
    """Everything that was played, cell by cell."""
    modes, datasets = list(MODES), list(STREAMS)

    def place(cell: Cell) -> tuple[int, int, int, bool, str]:
        where = modes.index(cell.mode), datasets.index(cell.data), ALGORITHMS.index(cell.algorithm)
        return *where, cell.patch != UNCHANGED, cell.patch

    lines = known(path)
    for cell in sorted(lines, key=place):
        yield described(lines[cell])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.causes", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "patches", nargs="*", help="names of files in benchmarks/causes, joined by + if several"
    )
    parser.add_argument("--data", nargs="+", choices=STREAMS, default=list(STREAMS), metavar="NAME")
    parser.add_argument(
        "--algorithms", nargs="+", choices=ALGORITHMS, metavar="NAME", help="default: all it concerns"
    )
    parser.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=10, help="how many; half of it on the two long streams")
    parser.add_argument("--fresh", action="store_true", help="seeds that the tables do not use")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "banditboost-causes")
    parser.add_argument("--records", type=Path, default=RECORDS)
    parser.add_argument("--found", action="store_true", help=f"write {CAUSES.name} from what was played")
    options = parser.parse_args(arguments)
    for name in options.patches:
        patch = Patch(name)
        algorithms = options.algorithms or patch.algorithms or ALGORITHMS
        cells = [Cell(*cell, name) for cell in product(options.data, algorithms, options.modes)]
        wanted = [(cell, seeds_of(cell.data, options.seeds, options.fresh)) for cell in cells]
        play(patch, wanted, options.work, options.records)
    if options.found:
        CAUSES.write_text(found.toml(found.causes(known(options.records))), encoding="utf-8")
    elif not options.patches:
        print("\n".join(table(options.records)))


if __name__ == "__main__":
    main()
