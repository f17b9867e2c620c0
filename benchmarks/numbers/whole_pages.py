"""Pages that are made of a record from the first line to the last."""

from __future__ import annotations

from pathlib import Path

from benchmarks import reproduction_page
from benchmarks.bakeoff import page as bakeoff_page
from benchmarks.change import page as change_page
from benchmarks.clicks import page as clicks_page
from benchmarks.coverage import page as coverage_page
from benchmarks.numbers import sources
from benchmarks.obd import page as obd_page
from benchmarks.peers import report
from benchmarks.records import FOLDER
from benchmarks.reproduction import CAUSES_NAME, read_causes
from benchmarks.rewards import page as rewards_page
from benchmarks.serve import page as serve_page


def texts() -> dict[Path, str]:
    reproduced = reproduction_page.files(sources.reproduced(), read_causes(FOLDER / CAUSES_NAME))
    return {
        FOLDER / bakeoff_page.PAGE_NAME: bakeoff_page.page(sources.lines("bakeoff")),
        FOLDER / change_page.PAGE_NAME: change_page.page(sources.lines("change")),
        FOLDER / clicks_page.PAGE_NAME: clicks_page.page(sources.lines("clicks")),
        FOLDER / coverage_page.PAGE_NAME: coverage_page.page(sources.lines("coverage")),
        FOLDER / obd_page.PAGE_NAME: obd_page.page(sources.lines("obd")),
        FOLDER / rewards_page.PAGE_NAME: rewards_page.page(sources.lines("rewards")),
        FOLDER / serve_page.PAGE_NAME: serve_page.page(sources.lines(serve_page.NAME)),
        FOLDER / report.PAGE_NAME: report.page(sources.peer_records()),
        **{FOLDER / name: text for name, text in reproduced.items()},
    }
