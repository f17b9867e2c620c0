"""A table to be shown, and how it is written: Markdown, LaTeX, CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any


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


def markdown(sheet: Sheet) -> str:
    """A Markdown table under its title."""
    lines = ["| " + " | ".join(sheet.header) + " |", "|" + "---|" * len(sheet.header)]
    for row in sheet.rows:
        lines.append("| " + " | ".join(_plain(entry).replace("|", "\\|") for entry in row) + " |")
    return f"### {sheet.title}\n\n{sheet.note}\n\n" + "\n".join(lines) + "\n"


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
    rows = [[_plain(entry) for entry in row] for row in sheet.rows]
    return "\n".join(
        [
            r"% needs \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(f'{sheet.title}. {sheet.note}')}}}",
            rf"\label{{tab:{sheet.name}}}",
            rf"\begin{{tabular}}{{{'l' * len(sheet.header)}}}",
            r"\toprule",
            _latex_row(sheet.header),
            r"\midrule",
            *map(_latex_row, rows),
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
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(sheet.numbers[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(sheet.numbers)
    return out.getvalue()


FORMS: Mapping[str, Callable[[Sheet], str]] = {".csv": csv_text, ".md": markdown, ".tex": latex}
"""How a sheet is written, by the ending of the file."""


def _plain(entry: Entry) -> str:
    return f"{entry.main} ({entry.detail})" if entry.detail else entry.main


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(_escaped, cells)) + r" \\"


_SPECIAL = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "−": "$-$",
    "ρ": r"$\rho$",
}


def _escaped(text: str) -> str:
    """Text that LaTeX sets as it is written here."""
    return "".join(_SPECIAL.get(letter, letter) for letter in text)
