"""What is known of the columns of a table that tell what each label earns."""

from __future__ import annotations

from dataclasses import dataclass

from banditboost.datasets.errors import DatasetError


@dataclass(frozen=True)
class RewardColumns:
    """Which columns tell rewards, whose they are, and how small and large they get.

    >>> lowest, highest = (0, "price_film", "row 2"), (5, "price_news", "row 1")
    >>> found = RewardColumns(("price_film", "price_news"), ("film", "news"), lowest, highest)
    >>> found.check_range(0, 10)
    """

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    lowest: tuple[float, str, str]
    """The least reward, its column, and where it is."""
    highest: tuple[float, str, str]

    def check_range(self, low: float, high: float) -> None:
        """Refuse rewards that are not in a range."""
        for end in (self.lowest, self.highest):
            reward, column, where = end
            if not low <= reward <= high:
                raise DatasetError(
                    f"column {column!r} has the reward {reward!r} in {where}, and rewards go from {low:g} to "
                    f"{high:g}: say rewards=({self.lowest[0]!r}, {self.highest[0]!r}) or wider, or mend that "
                    "row"
                )
