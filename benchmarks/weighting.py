"""What importance weighting would change where GapBoost and OptionBoost learn from a log.

    python -m benchmarks.weighting [--only STREAM ...] [--record]

A policy shows one label of each row and logs with which probability. A model learns the log as it stands, or
with each row weighted by 1 / (k p): as often as that says, the rest by chance, so that every label of k counts
as if it had been shown as often as all others. Then its favourite labels are judged on rows that it has not
seen, by what they earn. Three policies: *even* shows all labels alike; *skewed* shows some labels often and
others seldom, whatever the row; *by row* shows in 80 % of the rows a label that a rule in the row's features
tells, and all alike else.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from banditboost import GapBoost, OptionBoost, datasets
from banditboost.types import Array
from benchmarks import machine, records
from benchmarks.tables import render

NAME = "weighting"
SEEDS = 10
_MOST_ROWS, _JUDGED = 4_000, 1_000
_CONTEXTS, _CHOICES = 12, 6


class World(NamedTuple):
    """Rows, and what each label earns in them on average."""

    rows: list[dict[str, Any]]
    labels: list[str]
    rates: Array


def _labelled(name: str, rng: np.random.Generator) -> World:
    """A labelled set: the right label earns 1, all others nothing."""
    table = datasets.load(name)
    order = rng.permutation(table.n_rows)[: _MOST_ROWS + _JUDGED]
    rows = [
        {
            str(feature): cell if values is None else values[int(cell)]
            for feature, values, cell in zip(table.features, table.values, table.X[i].tolist(), strict=True)
            if cell == cell
        }
        for i in order
    ]
    return World(rows, [str(label) for label in table.labels], np.eye(len(table.labels))[table.y[order]])


def _clicks(rng: np.random.Generator) -> World:
    """Visitors of twelve kinds, two of whose features say nothing; six banners with rates up to 30 %."""
    n = _MOST_ROWS + _JUDGED
    kinds = rng.integers(_CONTEXTS, size=n)
    rates = rng.beta(0.7, 5.0, (_CONTEXTS, _CHOICES))
    noise = rng.random((n, 2))
    rows = [
        {"place": f"p{kind % 4}", "device": f"d{kind // 4}", "age": first, "hour": second}
        for kind, (first, second) in zip(kinds.tolist(), noise.tolist(), strict=True)
    ]
    return World(rows, [f"banner {i}" for i in range(_CHOICES)], rates[kinds])


def world(name: str, rng: np.random.Generator) -> World:
    """The stream of this name."""
    return _clicks(rng) if name == "clicks" else _labelled(name, rng)


def _even(rows: list[dict[str, Any]], k: int) -> Array:
    return np.full((len(rows), k), 1.0 / k)


def _skewed(rows: list[dict[str, Any]], k: int) -> Array:
    shares = 0.5 ** np.arange(k) + 0.02
    return np.tile(shares / shares.sum(), (len(rows), 1))


def _by_row(rows: list[dict[str, Any]], k: int) -> Array:
    """By the texts of a row, or by whether its first number is large."""
    shares = np.full((len(rows), k), 0.2 / k)
    for told, row in zip(shares, rows, strict=True):
        first = next(iter(row.values()), 0.0)
        known = str(first) if isinstance(first, str) else str(round(4.0 * float(first)))
        told[zlib.crc32(known.encode()) % k] += 0.8
    return shares


POLICIES: dict[str, Callable[[list[dict[str, Any]], int], Array]] = {
    "even": _even,
    "skewed": _skewed,
    "by row": _by_row,
}


def copies(p: Array, k: int, rng: np.random.Generator) -> Array:
    """The places of rows, each as often as 1 / (k p) says."""
    weights = 1.0 / (k * p)
    return np.repeat(np.arange(len(p)), np.floor(weights + rng.random(len(p))).astype(np.int64))


class _OfLabels:
    """GapBoost, which learns labels."""

    def __init__(self, labels: list[str], seed: int) -> None:
        self._model = GapBoost(labels, seed=seed)

    def learn(self, rows: list[Any], shown: list[str], rewards: Array) -> None:
        self._model.learn_logged_many(rows, shown, rewards)

    def shares(self, row: Any) -> dict[Any, float]:
        return self._model.distribution(row)


class _OfOptions:
    """OptionBoost, whose options are the labels, each with a feature that names it."""

    def __init__(self, labels: list[str], seed: int) -> None:
        self._model, self._options = OptionBoost(seed=seed), {label: {"name": label} for label in labels}

    def learn(self, rows: list[Any], shown: list[str], rewards: Array) -> None:
        for row, label, reward in zip(rows, shown, rewards.tolist(), strict=True):
            self._model.learn_logged(row, label, reward, options=self._options)

    def shares(self, row: Any) -> dict[Any, float]:
        return self._model.distribution(row, options=self._options)


MODELS = {"GapBoost": _OfLabels, "OptionBoost": _OfOptions}
STREAMS = {
    "GapBoost": ("balance", "car", "nursery", "mice", "clicks"),
    "OptionBoost": ("balance", "car", "clicks"),
}


def earned(model: _OfLabels | _OfOptions, told: World, judged: Sequence[int]) -> float:
    """What the model's favourite labels earn on average."""
    places = {label: place for place, label in enumerate(told.labels)}
    total = 0.0
    for i in judged:
        shares = model.shares(told.rows[i])
        total += float(told.rates[i, places[max(shares, key=lambda label: shares[label])]])
    return total / len(judged)


def measure(kind: str, stream: str, policy: str, seeds: int) -> dict[str, Any]:
    """What favourites earn, learned as it stands and weighted, for each seed."""
    plain, weighted = [], []
    for seed in range(1, seeds + 1):
        rng = np.random.default_rng([seed, zlib.crc32(stream.encode())])
        told = world(stream, rng)
        n = min(_MOST_ROWS, len(told.rows) - min(_JUDGED, len(told.rows) // 4))
        k, at, judged = len(told.labels), np.arange(n), range(n, min(n + _JUDGED, len(told.rows)))
        shares = POLICIES[policy](told.rows[:n], k)
        shown = (rng.random(n)[:, None] > shares.cumsum(axis=1)).sum(axis=1).clip(0, k - 1)
        rewards = (rng.random(n) < told.rates[at, shown]).astype(float)
        for places, found in ((at, plain), (copies(shares[at, shown], k, rng), weighted)):
            model = MODELS[kind](told.labels, seed)
            chosen = [told.labels[place] for place in shown[places].tolist()]
            model.learn([told.rows[i] for i in places.tolist()], chosen, rewards[places])
            found.append(round(earned(model, told, judged), 5))
    return {"model": kind, "stream": stream, "policy": policy, "plain": plain, "weighted": weighted}


def report(lines: Sequence[records.Record]) -> str:
    """A table for the page and the terminal."""
    head = ["model, stream", *(f"{policy}: as it stands, weighted" for policy in POLICIES)]
    cells = {(line["model"], line["stream"], line["policy"]): _told(line) for line in lines}
    rows = [
        [f"{kind}, {stream}", *(cells.get((kind, stream, policy), "") for policy in POLICIES)]
        for kind, streams in STREAMS.items()
        for stream in streams
    ]
    return render(head, rows)


def _gain(line: records.Record) -> tuple[float, float]:
    """By how much favourites earn more if rows are weighted, and its standard error; logs are the same."""
    gain = np.array(line["weighted"]) - np.array(line["plain"])
    return float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain)))


def _told(line: records.Record) -> str:
    """Both means, and the difference."""
    gain, error = _gain(line)
    return f"{np.mean(line['plain']):.3f}, {np.mean(line['weighted']):.3f} ({gain:+.3f} ± {error:.3f})"


def verdict(lines: Sequence[records.Record]) -> str:
    """In how many logs that are not even weighting is worse, and better, by more than two standard errors."""
    gains = [_gain(line) for line in lines if line["policy"] != "even"]
    worse = sum(gain < -2.0 * error for gain, error in gains)
    better = sum(gain > 2.0 * error for gain, error in gains)
    return f"worse in {worse} of {len(gains)}, better in {better}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.weighting", description="What importance weighting would change."
    )
    parser.add_argument("--only", nargs="*", default=None, help="streams; all if not given")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="of each (default: %(default)s)")
    records.add_option(parser, NAME)
    options = parser.parse_args(arguments)
    about = records.about(
        machine.describe(None, ("numpy",)), records.typed("benchmarks.weighting", arguments)
    )
    lines = []
    for kind, streams in STREAMS.items():
        for stream in (stream for stream in streams if options.only is None or stream in options.only):
            for policy in POLICIES:
                lines.append({**measure(kind, stream, policy, options.seeds), **about})
                print(kind, stream, policy, _told(lines[-1]), flush=True)
                if options.record is not None:
                    records.update(options.record, lines[-1:], ["model", "stream", "policy"])


if __name__ == "__main__":
    main()
