"""The same bags of words in every form that a row may have, and what GapBoost makes of each.

    python -m benchmarks.sameness [STREAM ...] [--seeds 5] [--rounds 10000] [--record]

Streams are topic models of `benchmarks.peers`, which a seed draws. Every form holds the same words in the same
rows, and the model has its defaults. "text" is a column that was declared for words, "long text" one that was not:
its texts are new names, too. "file" is read from JSON lines. --record keeps the accuracies in docs/results/sameness.jsonl.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from banditboost import GapBoost, Schema, datasets, play
from banditboost.experiments.statistics import mean_interval
from benchmarks import machine, records
from benchmarks.peers.bags import Bags
from benchmarks.peers.topics import TOPICS
from benchmarks.tables import render

STREAMS = ("topics", "noise")
"""A thousand words and five labels; ten thousand words, most of which tell nothing, and twenty labels."""
SEED, SEEDS, ROUNDS = 4, 5, 10_000
COLUMN = "words"
PACKAGES = ("numpy", "numba", "scipy")
Form = tuple[Any, Schema | None]
"""Rows as `play` takes them, and the schema of the model, if it is declared."""


def _file(bags: Bags) -> Form:
    labels = [bags.labels[label] for label in bags.y.tolist()]
    rows = ({COLUMN: words, "label": label} for words, label in zip(bags.lists(), labels, strict=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        table = datasets.read(path, "label")
    X, _ = table.stream()
    return X, table.schema()


FORMS: dict[str, Callable[[Bags], Form]] = {
    "{word: 1}": lambda bags: (bags.dicts(), None),
    "{word: True}": lambda bags: ([dict.fromkeys(words, True) for words in bags.lists()], None),
    "list": lambda bags: ([{COLUMN: words} for words in bags.lists()], None),
    "text": lambda bags: ([{COLUMN: text} for text in bags.texts()], Schema(words=[COLUMN])),
    "long text": lambda bags: ([{COLUMN: text} for text in bags.texts()], None),
    "CSR matrix": lambda bags: (bags.matrix, None),
    "file": _file,
}


def accuracy(bags: Bags, form: Form, seed: int) -> float:
    """Over the whole stream."""
    X, schema = form
    return float(play(GapBoost(bags.labels, schema=schema, seed=seed), X, bags.y).accuracy)


def measure(name: str, seeds: Sequence[int], n_rounds: int) -> list[records.Record]:
    """A line for each form of a stream: an accuracy for each seed."""
    found: dict[str, list[float]] = {form: [] for form in FORMS}
    for seed in seeds:
        bags, _ = TOPICS[name](seed)
        cut = bags.taken(np.arange(min(n_rounds, bags.rounds)))
        for form, made in FORMS.items():
            found[form].append(round(accuracy(cut, made(cut), seed), 5))
    told = {"stream": name, "words": len(bags.words), "labels": len(bags.labels), "rounds": cut.rounds}
    return [
        {**told, "form": form, "seeds": list(seeds), "accuracies": values} for form, values in found.items()
    ]


def report(lines: Sequence[Mapping[str, Any]]) -> str:
    """Mean accuracies, and how far each form is from the list on the same seeds."""
    streams = list(dict.fromkeys(line["stream"] for line in lines))
    by_place = {(line["stream"], line["form"]): line["accuracies"] for line in lines}
    heads = [head for stream in streams for head in (stream, "minus the list")]
    forms = list(dict.fromkeys(line["form"] for line in lines))
    rows = [[f"`{form}`" if "{" in form else form, *_cells(by_place, streams, form)] for form in forms]
    return render(["the words of a row as", *heads], rows)


def _cells(
    by_place: Mapping[tuple[str, str], Sequence[float]], streams: Sequence[str], form: str
) -> list[str]:
    cells = []
    for stream in streams:
        mine, theirs = by_place[stream, form], by_place[stream, "list"]
        mean, half = mean_interval([a - b for a, b in zip(mine, theirs, strict=True)])
        spread = f" ± {half:.3f}" if half == half else ""
        cells += [f"{np.mean(mine):.3f}", "" if form == "list" else f"{mean:+.3f}{spread}"]
    return cells


def furthest(lines: Sequence[Mapping[str, Any]]) -> float:
    """The largest difference between the mean accuracies of two forms of one stream."""
    means: dict[str, list[float]] = {}
    for line in lines:
        means.setdefault(line["stream"], []).append(float(np.mean(line["accuracies"])))
    return max(max(values) - min(values) for values in means.values())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.sameness", description="One bag of words, all forms."
    )
    parser.add_argument("streams", nargs="*", metavar="STREAM", help=f"default: {', '.join(STREAMS)}")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="(default: %(default)s)")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    records.add_option(parser, "sameness")
    options = parser.parse_args(arguments)
    described = machine.describe(machine.pin(options.core), PACKAGES)
    about = records.about(described, records.typed("benchmarks.sameness", arguments))
    seeds = range(SEED, SEED + options.seeds)
    found = [line for name in options.streams or STREAMS for line in measure(name, seeds, options.rounds)]
    print(report(found))
    print(f"furthest apart: {furthest(found):.3f}")
    if options.record is not None:
        records.update(options.record, [{**line, **about} for line in found], ["stream", "form"])


if __name__ == "__main__":
    main()
