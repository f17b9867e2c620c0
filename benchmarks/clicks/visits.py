"""Simulated visitors, whose clicks follow rates that are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BANNERS = ("sale", "new", "loyalty", "app", "newsletter")
DEVICES = ("phone", "tablet", "desktop")
RATE, BEST_RATE = 0.02, 0.06
NOON = 12
VISITS = 30_000
BEST = {
    ("phone", "morning"): "app",
    ("phone", "evening"): "sale",
    ("tablet", "morning"): "newsletter",
    ("tablet", "evening"): "sale",
    ("desktop", "morning"): "new",
    ("desktop", "evening"): "loyalty",
}
"""Device and half of the day -> the banner that is clicked most."""
Row = dict[str, Any]


def half_of_day(hour: int) -> str:
    return "morning" if hour < NOON else "evening"


@dataclass(frozen=True)
class Visits:
    """A run of visitors. Who would click is settled beforehand, so that everybody meets the same luck."""

    devices: NDArray[np.int64]
    hours: NDArray[np.int64]
    luck: NDArray[np.float64]
    """A visitor clicks what has a higher rate than this."""

    def __len__(self) -> int:
        return len(self.hours)

    def rows(self) -> Iterator[Row]:
        for device, hour in zip(self.devices.tolist(), self.hours.tolist(), strict=True):
            yield {"device": DEVICES[device], "hour": hour}


def draw(seed: int, n_visits: int = VISITS) -> Visits:
    random = np.random.Generator(np.random.PCG64(seed))
    return Visits(
        random.integers(len(DEVICES), size=n_visits),
        random.integers(24, size=n_visits),
        random.random(n_visits),
    )


def click_rate(row: Row, banner: str) -> float:
    """The probability that such a visitor clicks this banner."""
    return BEST_RATE if BEST[row["device"], half_of_day(row["hour"])] == banner else RATE
