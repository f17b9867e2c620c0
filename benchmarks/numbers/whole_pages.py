"""Pages that are made of a record from the first line to the last."""

from __future__ import annotations

from pathlib import Path

from benchmarks.clicks import page as clicks_page
from benchmarks.numbers import sources
from benchmarks.peers import report
from benchmarks.records import FOLDER


def texts() -> dict[Path, str]:
    return {
        FOLDER / clicks_page.PAGE_NAME: clicks_page.page(sources.lines("clicks")),
        FOLDER / report.PAGE_NAME: report.page(sources.peer_records()),
    }
