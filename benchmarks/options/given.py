"""Labelled sets whose labels are given as options: by their name alone, or described by numbers."""

from __future__ import annotations

import numpy as np

from benchmarks.options.stream import Row, Stream, columns
from benchmarks.peers.bags import Bags
from benchmarks.peers.streams import entries

MOST_ROUNDS, MOST_DESCRIBED = 2_500, 5


def by_name(name: str, seed: int) -> Stream:
    """One-hot: an option's only feature is its name. Right labels earn 1."""
    contexts, y, labels, _ = _rounds(name, seed)
    return _stream(contexts, y, [{"label": label} for label in labels])


def described(name: str, seed: int) -> Stream:
    """An option is described by the means of five columns over rows of its label, in units of the deviation:
    of those in which the labels' means differ most. Other rows tell these means than are played.
    """
    contexts, y, labels, (others, y_others) = _rounds(name, seed)
    scale = np.nanstd(others, axis=0)
    use = np.nanmean(others, axis=0)
    means = np.array(
        [
            np.nanmean(others[y_others == k], axis=0) if (y_others == k).any() else use
            for k in range(len(labels))
        ]
    )
    z = np.nan_to_num((means - use) / np.where(scale > 0, scale, 1.0))
    best = np.sort(np.argsort(-z.var(axis=0), kind="stable")[:MOST_DESCRIBED])
    return _stream(contexts, y, columns(z[:, best], "m"))


def _rounds(
    name: str, seed: int
) -> tuple[list[Row], np.ndarray, tuple[str, ...], tuple[np.ndarray, np.ndarray]]:
    stream = entries()[name].draw(seed).stream
    assert not isinstance(stream, Bags)
    n = min(MOST_ROUNDS, 2 * len(stream.y) // 3)
    rows = [row for (row, _), _ in zip(stream.records(), range(n), strict=False)]
    return rows, stream.y[:n], stream.labels, (stream.X[n : 2 * n], stream.y[n : 2 * n])


def _stream(contexts: list[Row], y: np.ndarray, items: list[Row]) -> Stream:
    offered = np.tile(np.arange(len(items)), (len(y), 1))
    right = (offered == y[:, None]).astype(np.float32)
    return Stream(contexts, items, offered, right, right)
