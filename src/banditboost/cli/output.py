"""Tables, JSON and progress.

Results go to stdout, everything else to stderr, and progress only to a terminal. Whatever is printed is made
harmless here: names come from users' data, and a terminal obeys control characters.
"""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
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
    from banditboost.experiments.sheets import Entry, Sheet

LOADING = f"reading the data, loading kernels (compiled the first time: {HOW_LONG})"
_WIDTH_OF_A_FILE = 160
_MOST_BITS = 1024  # of a whole number in JSON; Python refuses to write thousands of digits
_NUMBER = 16  # characters: what is as short as a number with its interval is not broken
_BORDER = 3  # characters: a line, and a blank on each side
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


def shell(words: Iterable[str]) -> str:
    r"""A command line for a shell, as it can be pasted: no name in it can do harm, or be lost.

    Characters that nobody could see are written as bash, zsh and ksh read them.

    >>> print(shell(["run", "my file.csv", "a\x1bb"]))
    run 'my file.csv' $'a\x1bb'
    """
    return " ".join(shlex.quote(word) if visible(word) == word else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    letters = (
        f"\\{letter}" if letter in "\\'" else letter if visible(letter) == letter else _bytes(letter)
        for letter in word
    )
    return f"$'{''.join(letters)}'"


def _bytes(letter: str) -> str:
    half = "surrogateescape" if "\udc80" <= letter <= "\udcff" else "surrogatepass"  # a byte of a file's name
    return "".join(f"\\x{byte:02x}" for byte in letter.encode("utf-8", half))


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
    """A table of results between its title and its note, which may be wider than the table.

    If it does not fit the screen, its columns are shown in several tables, each with the names in front: no
    name is cut.
    """
    screen = console()
    screen.print(Text(visible(sheet.title), "bold"))
    for columns in _parts(sheet, screen.width):
        screen.print(_table(sheet, columns, screen.width))
    screen.print(Text(visible(sheet.note), "dim"))


def _table(sheet: Sheet, columns: list[int], width: int) -> Table:
    table = Table(header_style="bold", show_lines=_has_details(sheet))
    for column in columns:
        table.add_column(
            Text(visible(sheet.header[column])), min_width=_need(sheet, column, width), overflow="fold"
        )
    for row in sheet.rows:
        table.add_row(*(_cell(row[column]) for column in columns))
    return table


def _cell(entry: Entry) -> Text:
    detail = "\n" + visible(entry.detail) if entry.detail else ""
    return Text.assemble((visible(entry.main), _MARKS.get(entry.mark, "")), (detail, "dim"))


def _parts(sheet: Sheet, width: int) -> list[list[int]]:
    """Columns that fit the screen side by side; those of names are part of each."""
    needs = [_need(sheet, column, width) + _BORDER for column in range(len(sheet.header))]
    names = list(range(sheet.names))
    room = width - 1 - sum(needs[: sheet.names])
    parts, left = [names.copy()], room
    for column, need in enumerate(needs[sheet.names :], sheet.names):
        if need > left and len(parts[-1]) > len(names):
            parts.append(names.copy())
            left = room
        parts[-1].append(column)
        left -= need
    return parts


def _need(sheet: Sheet, column: int, width: int) -> int:
    """Characters that a column needs: names and numbers stay whole, longer texts may be broken at blanks."""
    texts = [text for row in sheet.rows for text in (row[column].main, row[column].detail)]
    pieces = [
        piece
        for text in texts
        for piece in ([visible(text)] if column == 0 or len(text) <= _NUMBER else visible(text).split())
    ]
    longest: int = max(cell_len(piece) for piece in (*pieces, *visible(sheet.header[column]).split(), ""))
    return min(longest, width // 2)


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


def print_line(text: str, style: str = "") -> None:
    """A line that is not broken, however narrow the screen is."""
    console().print(Text(visible(text), style), soft_wrap=True)


def waiting(text: str) -> AbstractContextManager[Any]:
    """Something to look at while nothing can be counted."""
    return Console(stderr=True).status(text) if sys.stderr.isatty() else nullcontext()
