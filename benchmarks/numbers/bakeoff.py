"""What pages say about the bake-off."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.bakeoff import score
from benchmarks.bakeoff.players import GAPBOOST
from benchmarks.numbers.sources import lines


def standing() -> str:
    """On sets that GapBoost had never played, against whichever algorithm is best on each of them."""
    found = score.fresh(score.results(lines("bakeoff")))
    wins, losses = score.count(found, GAPBOOST, score.BEST, score.THEIRS)
    return f"wins {wins} and loses {losses} of {len(found)} sets"


VALUES: dict[str, Callable[[], str]] = {"bakeoff.standing": standing}
