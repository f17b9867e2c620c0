"""Seeded rows that trees can learn from: clouds around random centres."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Window = tuple[NDArray[np.float64], NDArray[np.int64]]


@dataclass(frozen=True)
class Clouds:
    """`n_active` of `n_labels` labels occur, spread evenly over all of them."""

    n_labels: int
    n_features: int
    n_active: int = 20
    centres_per_label: int = 1
    spread: float = 0.1
    zeros: float = 0.0
    """Share of the numbers that are 0."""
    seed: int = 1

    def windows(self, sizes: Iterable[int]) -> Iterator[Window]:
        """Windows of one stream, of so many rows each, made when they are asked for."""
        random = np.random.Generator(np.random.PCG64(self.seed))
        active = np.linspace(0, self.n_labels - 1, min(self.n_active, self.n_labels)).astype(np.int64)
        centres = random.random((len(active) * self.centres_per_label, self.n_features))
        for size in sizes:
            nearest = random.integers(len(centres), size=size)
            rows = centres[nearest] + self.spread * random.standard_normal((size, self.n_features))
            if self.zeros:
                rows[random.random(rows.shape) < self.zeros] = 0.0
            yield rows, active[nearest % len(active)]
