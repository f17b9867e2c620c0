"""All streams. Those for choosing were looked at while OptionBoost was made; the others were not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from benchmarks.options.given import by_name, described
from benchmarks.options.shops import (
    Shop,
    exclusive,
    nearness,
    open_shop,
    prices,
    thresholds,
    triples,
)
from benchmarks.options.stream import CHOOSING, REPORTING, Task
from benchmarks.peers.streams import entries, unavailable

SHOPS = {
    "shop, 10 items": Shop(1, 10, 5_000),
    "shop, 100 items": Shop(2, 100, 6_000),
    "shop, 1,000 items": Shop(3, 1_000, 3_000),
    "shop, 10 items, 1 % clicks": Shop(4, 10, 15_000, base=-5.0),
    "shop, 100 items, 3 % clicks": Shop(5, 100, 8_000, base=-4.2),
    "wide shop, 30 x 30, 3 % clicks": Shop(7, 20, 8_000, widths=(30, 30), base=-4.2),
    "thresholds": Shop(8, 30, 5_000, thresholds, (8, 8)),
    "triples": Shop(9, 20, 5_000, triples, (6, 6)),
    "nearness": Shop(10, 50, 5_000, nearness, (6, 6)),
    "wide shop, 30 x 30": Shop(6, 20, 5_000, widths=(30, 30)),
}
TUNED_AS = {"shop, 1,000 items": "shop, 100 items"}
SLOW = (
    "shop, 10 items",
    "shop, 100 items",
    "shop, 10 items, 1 % clicks",
    "shop, 100 items, 3 % clicks",
    "wide shop, 30 x 30, 3 % clicks",
    "shop, 1,000 items",
)
"""Played last."""
PAPER = ("balance", "car", "nursery", "movement", "mice", "isolet")
OTHERS = (
    "preferences", "lookup", "gaussians", "largest", "sectors", "prototypes",
    "waveform", "led", "segments", "letter", "satimage", "penbased",
)  # fmt: skip
QUICK = 800
"""Rounds that tell enough where nothing is left to luck."""
LOOKED_AT = ("balance", "car", "gaussians")


def playable(task: Task) -> bool:
    """Whether the files and packages of a set are here."""
    name = task.name.partition(",")[0]
    return name not in (*PAPER, *OTHERS) or unavailable(entries()[name]) is None


def tasks() -> list[Task]:
    """In an order in which what is finished is useful whenever it is stopped."""
    shops = [
        Task(name, REPORTING, partial(open_shop, shop), TUNED_AS.get(name, ""))
        for name, shop in SHOPS.items()
    ]
    own = [Task("exclusive", REPORTING, exclusive), Task("prices", CHOOSING, prices)]
    named, told = _given((*PAPER, *OTHERS), "names"), _given((*PAPER, *OTHERS), "described")
    given = [task for both in zip(named, told, strict=True) for task in both]
    slow = [task for task in shops if task.name in SLOW]
    return [*own, *(task for task in shops if task.name not in SLOW), *given, *slow]


def _given(names: Sequence[str], kind: str) -> list[Task]:
    maker = by_name if kind == "names" else described
    return [
        Task(
            f"{name}, {kind}",
            CHOOSING if name in LOOKED_AT else REPORTING,
            partial(maker, name),
            tuning_rounds=QUICK,
        )
        for name in names
    ]
