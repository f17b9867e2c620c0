"""Sizes of the paper's data sets: as they are, and as the appendix printed them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class DataSummary:
    """A row of the data summary table (the appendix's "Data Set Summary"), correct, and as it was printed."""

    rows: int
    features: int
    """How many features the paper played ("Dimension")."""
    n_labels: int
    raw_features: int
    """All feature columns of the source; not in the printed table."""
    printed: tuple[int, int, int]
    """Size, Dimension and k as printed.

    Car, Nursery, Mice and Movement have entries that are wrong or belong to another row.
    """

    @property
    def misprints(self) -> tuple[str, ...]:
        """The columns whose printed number is wrong."""
        right = self.rows, self.features, self.n_labels
        return tuple(
            name
            for name, ours, theirs in zip(("Size", "Dimension", "k"), right, self.printed, strict=True)
            if ours != theirs
        )


SUMMARY: Final[Mapping[str, DataSummary]] = {
    "balance": DataSummary(625, 4, 3, raw_features=4, printed=(625, 4, 3)),
    "car": DataSummary(1_728, 6, 4, raw_features=6, printed=(1_728, 82, 4)),
    "nursery": DataSummary(12_960, 8, 5, raw_features=8, printed=(12_960, 4, 8)),
    "movement": DataSummary(165_633, 12, 5, raw_features=18, printed=(165_631, 12, 4)),
    "mice": DataSummary(1_080, 77, 8, raw_features=77, printed=(1_080, 82, 8)),
    "isolet": DataSummary(7_797, 50, 26, raw_features=617, printed=(7_797, 50, 26)),
}
"""In the order of Table 1."""
