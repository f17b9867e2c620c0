"""`banditboost data check`: all columns of a file at once, and the command line that plays it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.data_choice import typed
from banditboost.text import counted

if TYPE_CHECKING:
    from banditboost.datasets import TableCheck

File = Annotated[
    str,
    typer.Argument(
        help="A file, a folder, or a pattern of files in quotes: CSV, Parquet, Arrow, JSON lines.",
        metavar="FILE",
    ),
]
Label = Annotated[
    str | None,
    typer.Option(help="Column of right labels; the likeliest one if not given.", metavar="COLUMN"),
]
Encoding = Annotated[
    str | None, typer.Option(help="Of text files, such as cp1252; found if not given.", metavar="NAME")
]
Decimal = Annotated[
    str | None, typer.Option(help="Decimal mark of a file, . or , and found if not given.", metavar="MARK")
]
_USES = {None: "", "label": "label", "reward": "reward", "ignore": "left out"}


def check_data(
    file: File,
    label: Label = None,
    encoding: Encoding = None,
    separator: options.Separator = None,
    decimal: Decimal = None,
    seed: options.IdleSeed = options.FIRST_SEED,  # noqa: ARG001 (all commands take one)
    as_json: options.Json = False,
) -> None:
    """Look at all columns of a file at once, and say how to play it.

    A table tells what each column is (numbers, amounts, names, dates, text, an id, constant, empty), how many
    values it has, and how many are missing. Then come remarks, each with its remedy, and at the end a command
    that plays the file. Nothing is changed. The exit code is 1 if the file cannot be played as it is.

    \b
    Examples:
      banditboost data check visits.csv
      banditboost data check 'visits/*.csv.gz' --label clicked
    """
    with output.waiting("reading the file"):
        from banditboost import datasets

        found = datasets.check(file, label, encoding=encoding, separator=separator, decimal=decimal)
    words = typed("run", file, found.label, _said(found)) if found.is_ready else None
    if as_json:
        _print_json(found, words)
    else:
        _print(found, words)
    if words is None:
        raise typer.Exit(1)


def _said(found: TableCheck) -> dict[str, Any]:
    """The options of `run`, with the range of rewards if it is not 0 to 1."""
    said, bounds = dict(found.options), found.reward_range
    if bounds is None or (bounds[0] >= 0 and bounds[1] <= 1):
        return said
    return {**said, "reward_range": ":".join(f"{end:.17g}" for end in bounds)}


def _print_json(found: TableCheck, words: list[str] | None) -> None:
    output.print_json(
        {
            "data": found.name,
            "rows": found.n_rows,
            "columns": [asdict(column) for column in found.columns],
            "remarks": [options.in_options(remark) for remark in found.remarks],
            "label": found.label,
            "reward_range": found.reward_range,
            "options": dict(found.options),
            "command": words and output.shell(words),
            "arguments": words,
        }
    )


def _print(found: TableCheck, words: list[str] | None) -> None:
    from banditboost.experiments.sheets import Entry, Sheet

    rows = tuple(
        (
            Entry(column.name),
            Entry(column.kind),
            Entry(column.n_values),
            Entry(f"{column.missing:,}" if column.missing else ""),
            Entry(_USES.get(column.choice, f"--{column.choice}")),
            Entry(", ".join(column.examples)),
        )
        for column in found.columns
    )
    title = f"{found.name}: {counted(found.n_rows, 'row')}, {counted(len(rows), 'column')}"
    header = ("Column", "What it is", "Values", "Missing", "Taken as", "Examples")
    output.print_sheet(Sheet("check", title, "", header, rows, ()))
    for remark in found.remarks:
        output.print_line(f"- {options.in_options(remark)}")
    output.print_line("")
    output.print_line(
        "There is no command that plays it as it is: see the remarks."
        if words is None
        else output.shell(words)
    )
