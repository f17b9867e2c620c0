"""The records that pages are filled from, each read once."""

from __future__ import annotations

from functools import cache

from benchmarks import records
from benchmarks.clicks import page as clicks_page
from benchmarks.peers import standing
from benchmarks.peers.streams import Entry, entries
from benchmarks.peers.summary import Table, summarise
from benchmarks.reproduction import RECORDS_NAME

PEERS = (records.FOLDER / "peers.jsonl.gz", records.FOLDER / "peers_wide.jsonl.gz")
"""The second one has what was played later: wide rows, and raw columns for contextualbandits."""


@cache
def lines(name: str) -> list[records.Record]:
    """Of a benchmark's own file."""
    return records.read(records.path_of(name))


@cache
def clicks() -> dict[str, list[records.Record]]:
    return clicks_page.by_player(lines("clicks"))


@cache
def peer_records() -> list[records.Record]:
    """Of two runs with the same id the first counts, as while they are played."""
    found: dict[str, records.Record] = {}
    for path in PEERS:
        for record in records.read(path):
            found.setdefault(record["id"], record)
    return list(found.values())


@cache
def reproduced() -> list[records.Record]:
    """Of the paper's tables, in both modes."""
    return records.read(records.FOLDER / RECORDS_NAME)


@cache
def peers() -> tuple[Table, list[Entry]]:
    table = summarise(peer_records())
    return table, [entry for entry in entries().values() if table.get(entry.name)]


@cache
def gaps() -> list[standing.Gap]:
    return standing.gaps(*peers())
