"""The charts that pages begin with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks import charts
from benchmarks.bakeoff import page as bakeoff_page
from benchmarks.change import page as change_page
from benchmarks.clicks import page as clicks_page
from benchmarks.numbers import sources, speed
from benchmarks.obd import page as obd_page
from benchmarks.peers import report, standing
from benchmarks.records import FOLDER

Chart = tuple[Callable[[Any], Figure], Callable[[], Any]]
"""What draws, and what is drawn."""
CHARTS: dict[Path, Chart] = {
    FOLDER / bakeoff_page.CHART_NAME: (
        bakeoff_page.draw,
        lambda: bakeoff_page.chart_numbers(sources.lines("bakeoff")),
    ),
    FOLDER / change_page.CHART_NAME: (
        change_page.draw,
        lambda: change_page.chart_numbers(sources.lines("change")),
    ),
    FOLDER / clicks_page.CHART_NAME: (clicks_page.draw, lambda: clicks_page.curves(sources.lines("clicks"))),
    FOLDER / obd_page.CHART_NAME: (obd_page.draw, lambda: obd_page.chart_numbers(sources.lines("obd"))),
    FOLDER / report.CHART_NAME: (standing.draw, lambda: report.chart_numbers(sources.peer_records())),
    FOLDER / "speed.svg": (speed.draw, speed.chart_numbers),
}


def write() -> list[Path]:
    return [charts.save(draw, numbers(), path) for path, (draw, numbers) in CHARTS.items()]


def outdated() -> list[Path]:
    return [path for path, (_, numbers) in CHARTS.items() if not charts.shows(path, numbers())]
