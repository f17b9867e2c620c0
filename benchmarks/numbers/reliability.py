"""How often it was tried whether a model withstands something: docs/reliability.md."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.numbers.sources import lines
from benchmarks.tables import render


def tried() -> str:
    """A line for each kind of trial."""
    rows = [
        [line["tried"], line["counted"], line["found"], f"`{line['command']}`"]
        for line in lines("reliability")
    ]
    return render(["tried", "how often", "found", "command"], rows)


VALUES: dict[str, Callable[[], str]] = {"reliability.table": tried}
