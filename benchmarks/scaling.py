"""Time and memory of a round against the number of labels, learners and features, and against the length of
the stream.

    python -m benchmarks.scaling [--parts labels,labels-told,labels-gap,learners,features,wide,wide-gap,length]
                                 [--rounds 20000] [--length 5000000] [--json] [--record]

Synthetic seeded rows, 20 labels active. Each model first plays --warm-up rounds; the next --rounds are timed.
With --seconds a point stops when these are spent: it then tells of younger trees than the others, and should
not be compared with them.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from math import inf
from typing import Any

import banditboost
from banditboost import Schema, play
from benchmarks import machine, records
from benchmarks.departures import PROGRAM_WEIGHT
from benchmarks.rate import timed
from benchmarks.synthetic import Clouds, Window
from benchmarks.tables import number, render, share

_MEBIBYTE = 1 << 20
_STEP = 500
_COLUMNS = ("rounds timed", "us a round", "rounds/s", "model MiB", "process MiB", "accuracy")
LABELS = (3, 10, 26, 100, 1_000, 10_000)
LEARNERS = (1, 5, 20, 50, 100, 200)
FEATURES = (4, 10, 30, 100, 300, 1_000)
WIDE = (784, 1_000, 4_000)


@dataclass(frozen=True)
class Size:
    """What a model is measured at."""

    n_labels: int = 26
    n_learners: int = 20
    n_features: int = 10
    booster: str = "AdaBandit"
    zeros: float = 0.0
    options: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Point:
    """One measurement: `at` is the swept number."""

    at: int
    rounds: int
    microseconds: float
    """CPU time of a round through `play`."""
    model_bytes: int
    process_bytes: int
    accuracy: float


def sweep(sizes: dict[int, Size], options: argparse.Namespace) -> list[Point]:
    return [_point(at, size, options) for at, size in sizes.items()]


def by_length(options: argparse.Namespace) -> list[Point]:
    """One model over a long stream; a point for each window."""
    size = Size(n_labels=10, n_learners=10)
    clouds = Clouds(
        size.n_labels, size.n_features, centres_per_label=5, spread=0.2
    )  # hard enough for trees to grow and grow
    play(_model(size, options), *next(clouds.windows([100])))  # compiles
    model, windows = (
        _model(size, options),
        clouds.windows([options.window] * max(1, options.length // options.window)),
    )
    return [_timed((1 + i) * options.window, model, [window], inf) for i, window in enumerate(windows)]


def _point(at: int, size: Size, options: argparse.Namespace) -> Point:
    print(f"  {at}", file=sys.stderr, flush=True)
    model = _model(size, options)
    windows = Clouds(size.n_labels, size.n_features, zeros=size.zeros).windows(
        [options.warm_up, *[_STEP] * max(1, options.rounds // _STEP)]
    )
    play(model, *next(windows))
    return _timed(at, model, windows, options.seconds)


def _timed(at: int, model: Any, windows: Iterable[Window], limit: float) -> Point:
    """Play windows until they end or `limit` CPU seconds are spent. Rows are made outside the clock."""
    rounds, seconds, right = 0, 0.0, 0.0
    for window in windows:
        spent, accuracy = timed(partial(_play, model, window))
        rounds, seconds, right = rounds + len(window[1]), seconds + spent, right + accuracy * len(window[1])
        if seconds > limit:
            break
    return Point(
        at, rounds, 1e6 * seconds / rounds, int(model.memory_usage), machine.memory(), right / rounds
    )


def _play(model: Any, window: Window) -> float:
    return float(play(model, *window).accuracy)


def _model(size: Size, options: argparse.Namespace) -> Any:
    names = [f"f{i}" for i in range(size.n_features)]
    return getattr(banditboost, size.booster)(
        list(range(size.n_labels)),
        n_learners=size.n_learners,
        schema=Schema.of(names, ["numeric"] * len(names)),
        max_memory=options.max_memory * _MEBIBYTE,
        seed=7,
        **dict(size.options),
    )


def _told(n_labels: int) -> Size:
    """AdaFull with the weights of the paper's program: those of its appendix grow with k, and trees try to
    split ever more often.
    """
    return Size(
        n_labels,
        booster="AdaFull",
        options=(("importance_scale", PROGRAM_WEIGHT / (n_labels * (n_labels - 1))),),
    )


def _wide(n_features: int, booster: str) -> Size:
    """Ten labels and rows half of which are zeros, as pictures have them."""
    n_learners = 10 if booster == "GapBoost" else 20
    return Size(10, n_learners, n_features, booster, zeros=0.5)


PARTS: dict[str, Callable[[argparse.Namespace], list[Point]]] = {
    "labels": partial(sweep, {k: Size(n_labels=k) for k in LABELS}),
    "labels-told": partial(sweep, {k: _told(k) for k in LABELS}),
    "labels-gap": partial(sweep, {k: Size(k, n_learners=10, booster="GapBoost") for k in LABELS}),
    "learners": partial(sweep, {n: Size(n_learners=n) for n in LEARNERS}),
    "features": partial(sweep, {d: Size(n_features=d) for d in FEATURES}),
    "wide": partial(sweep, {d: _wide(d, "AdaBandit") for d in WIDE}),
    "wide-gap": partial(sweep, {d: _wide(d, "GapBoost") for d in WIDE}),
    "length": by_length,
}


def table(part: str, points: Sequence[Point]) -> str:
    swept = "rounds so far" if part == "length" else part
    return f"{render([swept, *_COLUMNS], [_row(point) for point in points])}\n\n{verdict(part, points)}"


def _row(point: Point) -> list[str]:
    rates = [number(point.microseconds), number(1e6 / point.microseconds)]
    memory = [number(size / _MEBIBYTE) for size in (point.model_bytes, point.process_bytes)]
    return [f"{point.at:,}", f"{point.rounds:,}", *rates, *memory, share(point.accuracy)]


def verdict(part: str, points: Sequence[Point]) -> str:
    """The one line that the project asks of each part."""
    cost = {point.at: point.microseconds for point in points}
    first, last = points[0], points[-1]
    if part.startswith("labels"):
        wanted = (
            "" if part == "labels-gap" else " (at most 2 wanted)"
        )  # GapBoost asks every label that was ever shown
        return f"k = 10,000 costs {cost[10_000] / cost[26]:.2f} times k = 26{wanted}"
    if part == "length":
        return f"rate at the end {first.microseconds / last.microseconds:.2f} of the rate at {first.at:,} rounds (at least 0.5 wanted)"
    steps = [f"{b.at / a.at:.1f}x -> {b.microseconds / a.microseconds:.1f}x" for a, b in pairwise(points)]
    return f"{part} against cost, step by step (linear at worst wanted): {', '.join(steps)}"


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scaling", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--parts",
        type=_parts,
        default=tuple(PARTS),
        help=f"comma-separated, from {','.join(PARTS)} (default: all)",
    )
    parser.add_argument(
        "--warm-up", type=int, default=5_000, help="rounds before the clock starts (default: %(default)s)"
    )
    parser.add_argument(
        "--rounds", type=int, default=20_000, help="rounds timed for each point (default: %(default)s)"
    )
    parser.add_argument(
        "--seconds", type=float, default=inf, help="CPU seconds a point may take (default: no limit)"
    )
    parser.add_argument(
        "--length", type=int, default=5_000_000, help="rounds of the long stream (default: %(default)s)"
    )
    parser.add_argument(
        "--window",
        type=int,
        default=100_000,
        help="rounds of a window of the long stream (default: %(default)s)",
    )
    parser.add_argument(
        "--max-memory", type=int, default=256, help="the models' ceiling in MiB (default: %(default)s)"
    )
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    records.add_option(parser, "scaling")
    return parser.parse_args(arguments)


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(text.split(","))
    for part in parts:
        if part not in PARTS:
            raise argparse.ArgumentTypeError(f"unknown part {part!r}: choose from {', '.join(PARTS)}")
    return parts


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    about = machine.describe(machine.pin(options.core))
    if not options.json:
        print("\n".join(f"{key}: {value}" for key, value in about.items()))
    results: dict[str, list[Point]] = {}
    for part in options.parts:
        print(f"{part} ...", file=sys.stderr, flush=True)
        results[part] = PARTS[part](options)
        if not options.json:
            print(f"\n{table(part, results[part])}", flush=True)
    if options.record:
        told = records.about(about, records.typed("benchmarks.scaling", arguments))
        lines = [
            {"part": part, **asdict(point), **told} for part, points in results.items() for point in points
        ]
        records.update(options.record, lines, ["part", "at"])
    if options.json:
        print(
            json.dumps(
                {"machine": about, **{part: [asdict(p) for p in points] for part, points in results.items()}},
                indent=2,
            )
        )


if __name__ == "__main__":
    main()
