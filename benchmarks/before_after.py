"""Is it as fast as before? Two checkouts of the package play the same rounds in turns, on one core.

    python -m benchmarks.before_after --before PATH [--after PATH] [--datasets car] [--sittings 5] [--record]

Each checkout has a process of its own, whose PYTHONPATH begins with the checkout's src. The two play slice
after slice, and who goes first changes with every slice: a machine that is slow for a while is slow for both.
The columns are those of `benchmarks.rounds`: `play`, array rows and dict rows. In a slice the beginning of a
stream is played by fresh models, again and again for a tenth of a second. Where code and arrays happen to lie
in memory changes the speed of a process by some percent, for as long as it lives; so there are several
sittings, each with new processes.
Printed is the speed after, divided by the speed before: in a sitting the quotient of the median CPU seconds,
and of all sittings the median. A checkout compared with itself shows what is noise.

Whether the C library gives the memory of a model that is done with back to the system, and has to ask for it
again, is a matter of chance (450 page faults in a play of 8 ms, or none): here it keeps all of it.

The order in which kernels are compiled changes how fast they are (a `play` of GapBoost by a third). So each
checkout has a cache of its own, empty at first, and a sitting that does not count fills both in the same
order.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from banditboost import datasets
from benchmarks import machine, ours, records
from benchmarks.cases import cases, known
from benchmarks.rate import Contender
from benchmarks.tables import render

ROOT = Path(__file__).parents[1]
BOOSTERS = ("AdaBandit", "OptBandit", "GapBoost")
WAYS: dict[str, Callable[..., Contender]] = {
    "play": ours.played,
    "array rows": ours.by_array,
    "dict rows": ours.by_dict,
}
COLUMNS = tuple(f"{booster} {way}" for booster in BOOSTERS for way in WAYS)
Times = dict[tuple[str, str], tuple[float, float]]
"""Stream and column -> CPU seconds before and after."""
ALLOWED = 0.03
SLICE_SECONDS = 0.1
SEED = 4
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}


class Checkout:
    """A process that plays with the package of one checkout, and answers with CPU seconds."""

    def __init__(self, root: Path, cache: Path, rounds: int) -> None:
        source = root.resolve() / "src"
        if not (source / "banditboost").is_dir():
            raise SystemExit(f"{root} holds no src/banditboost: give the root of a checkout")
        path = os.pathsep.join([str(source), str(ROOT)])
        command = [sys.executable, "-m", "benchmarks.before_after", "--serve", "--rounds", str(rounds)]
        environment = {**os.environ, **KEEP_MEMORY, "PYTHONPATH": path, "NUMBA_CACHE_DIR": str(cache)}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        used = Path(self.ask("where"))
        if source not in used.parents:
            raise SystemExit(f"{root} was asked for, but {used} is what Python imports there")

    def ask(self, *question: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit("a process that plays has ended; what it said stands above")
        return json.loads(answer)

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def serve(rounds: int) -> None:
    """Answer questions, line by line: where the package is, or how long a slice takes."""
    import banditboost

    contenders: dict[tuple[str, str], Contender] = {}
    for line in sys.stdin:
        question = json.loads(line)
        if question == ["where"]:
            answer: Any = banditboost.__file__
        else:
            stream, column = question
            if (stream, column) not in contenders:
                contenders = {(stream, column): contender(stream, column, rounds)}
            answer = seconds_a_play(contenders[stream, column])
        print(json.dumps(answer), flush=True)


def seconds_a_play(play: Contender) -> float:
    """CPU seconds, over as many plays as fill a slice."""
    spent = [play(0).seconds]
    while sum(spent) < SLICE_SECONDS:
        spent.append(play(0).seconds)
    return statistics.fmean(spent)


def contender(stream: str, column: str, rounds: int) -> Contender:
    """A column on the beginning of a stream; kernels are compiled here."""
    booster, way = column.split(" ", 1)
    whole = next(iter(cases((stream,), SEED)))
    case = whole.cut(min(rounds, whole.rounds))
    learners = None if booster == "GapBoost" else case.setting("AdaBandit").n_learners
    return WAYS[way](case, booster, learners)


def compare(before: Checkout, after: Checkout, stream: str, column: str, slices: int) -> tuple[float, float]:
    """Median CPU seconds of a slice in one sitting, before and after. The first slice is left out."""
    spent: tuple[list[float], list[float]] = ([], [])
    sides = list(enumerate((before, after)))
    for turn in range(slices + 1):
        for side, checkout in sides if turn % 2 else reversed(sides):
            seconds = checkout.ask(stream, column)
            if turn:
                spent[side].append(seconds)
    return statistics.median(spent[0]), statistics.median(spent[1])


def sit(options: argparse.Namespace, caches: Path, slices: int) -> Times:
    """One sitting: new processes, every stream and column."""
    with (
        Checkout(options.before, caches / "before", options.rounds) as before,
        Checkout(options.after, caches / "after", options.rounds) as after,
    ):
        return {
            (case.name, column): compare(before, after, case.name, column, slices)
            for case in cases(options.datasets, SEED)
            for column in options.columns
        }


def taken_together(sittings: Sequence[Times]) -> list[records.Record]:
    """A line for each stream and column."""
    lines = []
    for stream, column in sittings[0]:
        times = [sitting[stream, column] for sitting in sittings]
        quotients = sorted(before / after for before, after in times)
        before, after = (statistics.median(side) for side in zip(*times, strict=True))
        line = {"stream": stream, "column": column, "before": before, "after": after}
        spread = [round(quotient, 4) for quotient in (quotients[0], quotients[-1])]
        lines.append({**line, "quotient": round(statistics.median(quotients), 4), "spread": spread})
    return lines


def table(lines: Sequence[records.Record]) -> str:
    """Speed after, divided by speed before: streams in rows, columns as in `benchmarks.rounds`."""
    found = {(line["stream"], line["column"]): line["quotient"] for line in lines}
    columns = list(dict.fromkeys(line["column"] for line in lines))
    rows = [
        [s, *(_cell(found.get((s, column))) for column in columns)]
        for s in dict.fromkeys(line["stream"] for line in lines)
    ]
    return render(["stream", *columns], rows)


def _cell(quotient: float | None) -> str:
    return "-" if quotient is None else f"{quotient:.3f}" + (" SLOWER" if quotient < 1 - ALLOWED else "")


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.before_after", description="Is it as fast as before?"
    )
    parser.add_argument("--before", type=Path, help="a checkout of the commit to compare with")
    parser.add_argument("--after", type=Path, default=ROOT, help="the other checkout (default: this one)")
    parser.add_argument(
        "--datasets",
        type=_names,
        default=tuple(datasets.names()),
        help="comma-separated (default: all that can be had)",
    )
    parser.add_argument(
        "--columns", type=_columns, default=COLUMNS, help=f"comma-separated, from {', '.join(COLUMNS)}"
    )
    parser.add_argument(
        "--sittings", type=int, default=5, help="how often new processes are started (default: %(default)s)"
    )
    parser.add_argument(
        "--slices", type=int, default=7, help="how often each plays in a sitting (default: %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=4_000, help="of a slice, at most (default: %(default)s)"
    )
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    records.add_option(parser, "before_after")
    options = parser.parse_args(arguments)
    if options.before is None and not options.serve:
        parser.error(
            "--before is missing: give a checkout, made for example by `git worktree add PATH COMMIT`"
        )
    return options


def _names(text: str) -> tuple[str, ...]:
    return tuple(known(name) for name in text.split(","))


def _columns(text: str) -> tuple[str, ...]:
    for column in text.split(","):
        if column not in COLUMNS:
            raise argparse.ArgumentTypeError(f"unknown column {column!r}: choose from {', '.join(COLUMNS)}")
    return tuple(text.split(","))


def _commit(root: Path) -> str:
    told = subprocess.run(
        ["git", "-C", str(root), "rev-parse", "--short", "HEAD"], check=False, capture_output=True, text=True
    )
    return told.stdout.strip() or "unknown"


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    if options.serve:
        serve(options.rounds)
        return
    about = machine.describe(machine.pin(options.core))
    told = {
        "commits": [_commit(options.before), _commit(options.after)],
        "sittings": options.sittings,
        "slices": options.slices,
    }
    told |= records.about(about, records.typed("benchmarks.before_after", arguments))
    with tempfile.TemporaryDirectory() as caches:
        print("compiling ...", file=sys.stderr, flush=True)
        sit(options, Path(caches), 1)
        sittings = []
        for sitting in range(options.sittings):
            print(f"sitting {sitting + 1} of {options.sittings} ...", file=sys.stderr, flush=True)
            sittings.append(sit(options, Path(caches), options.slices))
    lines = [{**line, **told} for line in taken_together(sittings)]
    print(table(lines))
    if options.record:
        records.update(options.record, lines, ["stream", "column"])


if __name__ == "__main__":
    main()
