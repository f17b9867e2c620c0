"""A table to be shown, and how it is written: Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from banditboost import text


@dataclass(frozen=True)
class Entry:
    """One place of a sheet: what to read first, what to read below it, and whether to mark it."""

    main: str
    detail: str = ""
    mark: str = ""
    """'above' or 'below' if ours is off the paper's by more than the tolerance."""


@dataclass(frozen=True)
class Sheet:
    """A table to be shown. `numbers` has its content for machines: one row for each mean."""

    name: str
    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[Entry, ...], ...]
    numbers: tuple[dict[str, Any], ...]
    names: int = 1
    """How many columns at the beginning say what a row is: a narrow terminal repeats them."""


def markdown(sheet: Sheet) -> str:
    """A Markdown table under its title."""
    lines = [_markdown_row(sheet.header), "|" + "---|" * len(sheet.header)]
    lines += ["| " + " | ".join(map(_markdown_cell, row)) + " |" for row in sheet.rows]
    heading = f"### {text.markdown(sheet.title)}\n\n{text.markdown(sheet.note)}"
    return "\n".join([heading, "", *lines, ""])


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(text.markdown, cells)) + " |"


def _markdown_cell(entry: Entry) -> str:
    """What is marked is bold."""
    written = text.markdown(_plain(entry))
    return f"**{written}**" if entry.mark else written


def latex(sheet: Sheet) -> str:
    r"""A LaTeX table with the rules of booktabs; title and note are its caption.

    >>> rows = ((Entry("car"), Entry("5 %", "of all")),)
    >>> print(latex(Sheet("sizes", "Sizes", "In rows.", ("Data", "Share"), rows, ())))
    % needs \usepackage{booktabs}
    \begin{table}
    \centering
    \caption{Sizes. In rows.}
    \label{tab:sizes}
    \begin{tabular}{ll}
    \toprule
    Data & Share \\
    \midrule
    car & 5 \% (of all) \\
    \bottomrule
    \end{tabular}
    \end{table}
    <BLANKLINE>
    """
    rows = [" & ".join(map(_latex_cell, row)) + r" \\" for row in sheet.rows]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{text.latex(f'{sheet.title}. {sheet.note}')}}}",
            rf"\label{{tab:{sheet.name}}}",
            rf"\begin{{tabular}}{{{'l' * len(sheet.header)}}}",
            r"\toprule",
            _latex_row(sheet.header),
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def csv_text(sheet: Sheet) -> str:
    """The numbers of a sheet as CSV, one mean for each line."""
    if not sheet.numbers:
        return ""
    out, names = io.StringIO(), list(sheet.numbers[0])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(text.csv_cell, names))
    writer.writerows([text.csv_cell(row[name]) for name in names] for row in sheet.numbers)
    return out.getvalue()


FORMS: Mapping[str, Callable[[Sheet], str]] = {".csv": csv_text, ".md": markdown, ".tex": latex}
"""How a sheet is written, by the ending of the file."""


def _plain(entry: Entry) -> str:
    return f"{entry.main} ({entry.detail})" if entry.detail else entry.main


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(text.latex, cells)) + r" \\"


def _latex_cell(entry: Entry) -> str:
    """What is marked is bold."""
    written = text.latex(_plain(entry))
    return rf"\textbf{{{written}}}" if entry.mark else written
