"""Tables, JSON and progress.

Results go to stdout, everything else to stderr, and progress only to a terminal. Whatever is printed is made
harmless here: names come from users' data, and a terminal obeys control characters.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskProgressColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from banditboost.compiled.announcing import HOW_LONG
from banditboost.text import visible, visible_lines

if TYPE_CHECKING:
    from banditboost.experiments.sheets import Sheet

LOADING = f"reading the data, loading kernels (the first time they are compiled: {HOW_LONG})"
_WIDTH_OF_A_FILE = 160
_MOST_BITS = 1024  # of a whole number in JSON; Python refuses to write thousands of digits
_MARKS = {"above": "blue", "below": "dark_orange3"}


def console() -> Console:
    """The console of stdout: as wide as the terminal, or wide enough if there is none."""
    return Console(width=None if sys.stdout.isatty() else _WIDTH_OF_A_FILE, highlight=False)


def say(text: str) -> None:
    """A remark for whoever sits at the terminal; nobody else sees it."""
    if text and sys.stderr.isatty():
        Console(stderr=True, highlight=False).print(Text(visible_lines(text)))


def warn(text: str) -> None:
    """A line that must be seen, also in a log."""
    print(visible(text), file=sys.stderr)


def fail(text: str, code: int) -> int:
    """Tell in one line what went wrong and how to mend it."""
    warn(f"error: {' '.join(text.split())}")
    return code


def print_json(values: Mapping[str, Any]) -> None:
    """One JSON object in ASCII: exact whatever the terminal can print, and without control characters."""
    print(json.dumps(_plain(values), allow_nan=False))


def _plain(value: Any) -> Any:
    """What JSON knows: null for NaN, and text for labels of other kinds, such as bytes."""
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else visible(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if type(value).__module__ == "numpy":
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if value.bit_length() <= _MOST_BITS else hex(value)
    return value if value is None or isinstance(value, str) else visible(value)


def print_sheet(sheet: Sheet) -> None:
    """A table of results between its title and its note, which may be wider than the table."""
    table = Table(header_style="bold", show_lines=_has_details(sheet))
    for name in sheet.header:
        table.add_column(Text(visible(name)))
    for row in sheet.rows:
        table.add_row(
            *(
                Text.assemble(
                    (visible(entry.main), _MARKS.get(entry.mark, "")),
                    ("\n" + visible(entry.detail) if entry.detail else "", "dim"),
                )
                for entry in row
            )
        )
    screen = console()
    screen.print(Text(visible(sheet.title), "bold"))
    screen.print(table)
    screen.print(Text(visible(sheet.note), "dim"))


def _has_details(sheet: Sheet) -> bool:
    return any(entry.detail for row in sheet.rows for entry in row[1:])


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """Names and values, one a line."""
    shown = [(visible(name), visible(value)) for name, value in facts]
    width = max(len(name) for name, _ in shown)
    screen = console()
    screen.print(Text(visible(title), "bold"), soft_wrap=True)
    for name, value in shown:
        screen.print(Text.assemble((f"{name:<{width}}", "dim"), "  ", value), soft_wrap=True)


class Description(ProgressColumn):  # type: ignore[misc]
    """What a bar counts, as it is called."""

    def render(self, task: Task) -> Text:
        return Text(visible(task.description))


def progress(*extra: str | ProgressColumn) -> Progress:
    """A bar with the time left, on stderr, if that is a terminal."""
    columns = (Description(), BarColumn(), *extra, TimeRemainingColumn(compact=True))
    return Progress(
        *columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), speed_estimate_period=600
    )


SHARE: ProgressColumn = TaskProgressColumn()


def waiting(text: str) -> AbstractContextManager[Any]:
    """Something to look at while nothing can be counted."""
    return Console(stderr=True).status(text) if sys.stderr.isatty() else nullcontext()
