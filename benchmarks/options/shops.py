"""Simulated shops: visitors and items have columns, who clicks what hangs on both, the best item is known.

The rule and the items are drawn by the shop's number, visitors and luck by the seed. Half of the items are
replaced half-way. Every item has a taste of its own beside its columns, which its id alone tells.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.options.stream import Numbers, Stream, columns, drawn

Matrix = NDArray[np.float64]
Truth = Callable[[Matrix, Matrix, np.random.Generator], Matrix]


def bilinear(x: Matrix, a: Matrix, rule: np.random.Generator) -> Matrix:
    """Every column of the visitor with every column of the item."""
    pairs = rule.normal(size=(x.shape[1], a.shape[1])) / math.sqrt(x.shape[1] * a.shape[1])
    own = rule.normal(size=a.shape[1]) / (2 * math.sqrt(a.shape[1]))
    return np.asarray(x @ pairs @ a.T + a @ own)


def thresholds(x: Matrix, a: Matrix, rule: np.random.Generator) -> Matrix:
    """Three columns of both count by their sides of a threshold only."""
    cut = rule.normal(0.0, 0.3, size=(2, 3))
    return np.asarray(np.sign(x[:, :3] - cut[0]) @ np.sign(a[:, :3] - cut[1]).T / math.sqrt(3))


def triples(x: Matrix, a: Matrix, rule: np.random.Generator) -> Matrix:
    """Two columns of the visitor together decide about one of the item."""
    pairs = x[:, [0, 2]] * x[:, [1, 3]]
    return np.asarray(pairs @ a[:, :2].T + 0.3 * a @ rule.normal(size=a.shape[1]) / math.sqrt(a.shape[1]))


def nearness(x: Matrix, a: Matrix, rule: np.random.Generator) -> Matrix:  # noqa: ARG001
    """Visitor and item have places in two of their columns: the nearer, the better."""
    squares = (x[:, :2] ** 2).sum(1)[:, None] - 2 * x[:, :2] @ a[:, :2].T + (a[:, :2] ** 2).sum(1)
    return np.asarray(1 - squares / 2)


@dataclass(frozen=True)
class Shop:
    """How large, how wide, and who clicks."""

    number: int
    items: int
    rounds: int
    truth: Truth = bilinear
    widths: tuple[int, int] = (10, 10)
    base: float = -2.6
    """Log odds of a click by somebody who has no taste for the item."""
    strength: float = 1.2


def open_shop(shop: Shop, seed: int) -> Stream:
    """Its visits."""
    rule, draw = np.random.default_rng(10_000 + shop.number), np.random.default_rng(seed)
    a = rule.normal(size=(shop.items + shop.items // 2, shop.widths[1]))
    x = draw.normal(size=(shop.rounds, shop.widths[0]))
    odds = shop.base + shop.strength * shop.truth(x, a, rule) + 0.3 * rule.normal(size=len(a))
    offered = turned_over(shop.items, shop.rounds)
    means = np.take_along_axis(1 / (1 + np.exp(-odds)), offered, axis=1)
    rewards = drawn(means, draw.random(shop.rounds))
    return Stream(columns(x, "x"), columns(a, "a"), offered, rewards, means.astype(np.float32))


def turned_over(n_items: int, rounds: int) -> Numbers:
    """Half-way the first half of the items is replaced by new ones."""
    offered = np.tile(np.arange(n_items), (rounds, 1))
    new = n_items // 2
    offered[rounds // 2 :, :new] = n_items + np.arange(new)
    return offered


def exclusive(seed: int, rounds: int = 5_000) -> Stream:
    """Either the visitor likes the one or the item has the other, not both: of four bits a side, two count."""
    rule, draw = np.random.default_rng(77), np.random.default_rng(seed)
    a = rule.integers(0, 2, size=(24, 4))
    x = draw.integers(0, 2, size=(rounds, 4))
    likes = (x[:, [0]] ^ x[:, [1]]) ^ (a[:, 0] ^ a[:, 1])
    offered = turned_over(16, rounds)
    means = np.take_along_axis(np.where(likes == 1, 0.35, 0.04) * rule.uniform(0.7, 1.0, 24), offered, axis=1)
    contexts = [{f"x{i}": f"v{bit}" for i, bit in enumerate(row)} for row in x.tolist()]
    items = [{f"a{i}": f"v{bit}" for i, bit in enumerate(row)} for row in a.tolist()]
    return Stream(contexts, items, offered, drawn(means, draw.random(rounds)), means.astype(np.float32))


def prices(seed: int, rounds: int = 5_000, columns_of_customer: int = 6) -> Stream:
    """Ten prices: the one shown is earned if the customer's value, which six columns tell roughly, is not below."""
    rule, draw = np.random.default_rng(78), np.random.default_rng(seed)
    x = draw.normal(size=(rounds, columns_of_customer))
    value = x @ rule.normal(size=columns_of_customer) * 0.6 + draw.normal(0.0, 0.3, rounds)
    worth, price = 1 / (1 + np.exp(-value)), np.linspace(0.1, 0.95, 10)
    earned = np.where(worth[:, None] >= price, price, 0.0).astype(np.float32)
    offered = np.tile(np.arange(len(price)), (rounds, 1))
    return Stream(columns(x, "x"), [{"price": float(p)} for p in price], offered, earned, earned)
