"""What pages say about how often the boosters are right, and about clicks."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.clicks import page as clicks_page
from benchmarks.clicks.visits import BEST_RATE, RATE
from benchmarks.numbers.sources import clicks, gaps
from benchmarks.peers import standing
from benchmarks.peers.streams import FRESH


def fresh() -> str:
    return "{} of {}".format(*standing.ahead(gaps(), FRESH))


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def clicks_sentence() -> str:
    """Seeds and visits, for the lines below the table."""
    runs = next(iter(clicks().values()))
    return f"{clicks_page.n_visits(clicks()):,} visits, mean of {len(runs)} seeds"


VALUES: dict[str, Callable[[], str]] = {
    "peers.fresh": fresh,
    "peers.standings": lambda: standing.standings(gaps()),
    "clicks.table": lambda: clicks_page.short_table(clicks()),
    "clicks.how": clicks_sentence,
    "clicks.gapboost": lambda: clicks_page.best_last_rate(clicks(), ["GapBoost"]),
    "clicks.wabbit": lambda: clicks_page.best_last_rate(clicks(), clicks_page.wabbits(clicks())),
    "clicks.adabandit": lambda: clicks_page.best_last_rate(clicks(), ["AdaBandit"]),
    "clicks.guessing": lambda: f"{clicks_page.GUESS_RATE:.3f}",
    "clicks.best": lambda: f"{BEST_RATE:.3f}",
    "clicks.low": lambda: _percent(RATE),
    "clicks.high": lambda: _percent(BEST_RATE),
}
