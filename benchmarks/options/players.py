"""Who shows options: OptionBoost with its defaults, Vowpal Wabbit, LinUCB on joint features, and chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.options.stream import Numbers, Row, Stream
from benchmarks.options.wabbit import Settings, first, neighbours, standardised, wabbit

OURS, PEER, LINEAR, GUESSING = "OptionBoost", "Vowpal Wabbit", "LinUCB", "guessing"
WIDEST = 300
"""Joint features of LinUCB; where there would be more, it has the columns alone."""


def option_boost(stream: Stream, settings: Settings, seed: int) -> Numbers:  # noqa: ARG001
    """With its defaults."""
    from banditboost import OptionBoost

    model = OptionBoost(seed=seed)
    shown = np.empty(len(stream.contexts), np.int64)
    for t, (x, numbers) in enumerate(zip(stream.contexts, stream.offered.tolist(), strict=True)):
        decision = model.decide(x, options={f"i{n}": stream.items[n] for n in numbers})
        shown[t] = numbers.index(int(decision.label[1:]))
        model.learn(decision, reward=float(stream.rewards[t, shown[t]]))
    return shown


def guess(stream: Stream, settings: Settings, seed: int) -> Numbers:  # noqa: ARG001
    """Everything is equally likely. Labels of made sets are drawn with the bare seed."""
    rounds, options = stream.offered.shape
    return np.random.default_rng((seed, 1)).integers(options, size=rounds)


def linucb(stream: Stream, settings: Settings, seed: int) -> Numbers:  # noqa: ARG001
    """Ridge regression (penalty 1) of rewards on columns of both sides and their products; shows the option
    with the largest answer plus `width` deviations.
    """
    u, v = dense(stream.contexts), dense(stream.items)
    n, m = u.shape[1], v.shape[1]
    joint = n * m <= WIDEST
    if not joint:
        u, v, n, m = u[:, 1:], v, n - 1, m
    size = n * m if joint else n + m
    inverse, total = np.eye(size), np.zeros(size)
    shown = np.empty(len(u), np.int64)
    for t, numbers in enumerate(stream.offered):
        options = v[numbers]
        weights = inverse @ total
        if joint:
            answers = options @ (u[t] @ weights.reshape(n, m))
            half = np.tensordot(u[t], inverse.reshape(n, m, size), 1)
            folded = np.tensordot(half.reshape(m, n, m), u[t], ((1,), (0,)))
            squares = np.einsum("ki,ij,kj->k", options, folded, options)
        else:
            rows = np.hstack([np.tile(u[t], (len(options), 1)), options])
            answers, squares = rows @ weights, np.einsum("ki,ij,kj->k", rows, inverse, rows)
        place = int(np.argmax(answers + settings["width"] * np.sqrt(np.maximum(squares, 0))))
        row = np.outer(u[t], options[place]).ravel() if joint else np.concatenate([u[t], options[place]])
        product = inverse @ row
        inverse -= np.outer(product, product) / (1 + row @ product)
        total += float(stream.rewards[t, place]) * row
        shown[t] = place
    return shown


def dense(rows: Sequence[Row]) -> NDArray[np.float64]:
    """A constant, standardised numbers, and a column for each value of a text."""
    places: dict[str, int] = {}
    cells = standardised(rows, lambda name, value: (name, value))
    matrix = np.zeros((len(rows), 1 + len(_names(cells, places))))
    matrix[:, 0] = 1.0
    for t, row in enumerate(cells):
        for name, value in row:
            matrix[t, 1 + places[_name(name, value)]] = 1.0 if isinstance(value, str) else value
    return matrix


def _names(cells: Sequence[Sequence[tuple[str, float | str]]], places: dict[str, int]) -> dict[str, int]:
    for row in cells:
        for name, value in row:
            places.setdefault(_name(name, value), len(places))
    return places


def _name(name: str, value: float | str) -> str:
    return f"{name}={value}" if isinstance(value, str) else name


def no_others(best: Settings) -> Sequence[Settings]:  # noqa: ARG001
    return ()


@dataclass(frozen=True)
class Player:
    """Who plays, and the settings that it is tuned over, on a seed of its own."""

    name: str
    play: Callable[[Stream, Settings, int], Numbers]
    first: Sequence[Settings] = ({},)
    neighbours: Callable[[Settings], Sequence[Settings]] = no_others
    """The best of the first -> what else is tried."""


def players() -> list[Player]:
    """Ours and chance have nothing to tune."""
    widths = [{"width": width} for width in (0.1, 0.3, 1.0)]
    return [
        Player(OURS, option_boost),
        Player(GUESSING, guess),
        Player(PEER, wabbit, first(), neighbours),
        Player(LINEAR, linucb, widths),
    ]
