"""Arguments and options that commands share."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from banditboost.schedules import SCHEDULES

FIRST_SEED = 4
"""The first of the paper's seeds, and the seed where none is given."""
QUOTE = '"'
_NEEDS_QUOTES = re.compile(r'[,"\r\n]')


class Variant(StrEnum):
    """How a built-in data set is prepared."""

    paper = "paper"
    text = "text"
    raw = "raw"


class EngineName(StrEnum):
    """Where tasks run."""

    local = "local"
    dask = "dask"
    ray = "ray"


def names(text: str | None) -> tuple[str, ...]:
    """What was typed as a,b,c; a name with a comma or a quote in it stands in quotes, as in a CSV file.

    >>> names('a, "b,c"')
    ('a', 'b,c')
    """
    cells = next(csv.reader([text], skipinitialspace=True), []) if text else []
    return tuple(name for name in map(str.strip, cells) if name)


def typed_names(names: Iterable[str]) -> str:
    """What has to be typed for these names.

    >>> typed_names(["a", "b,c"])
    'a,"b,c"'
    """
    return ",".join(
        f'"{name.replace(QUOTE, QUOTE * 2)}"' if _NEEDS_QUOTES.search(name) else name for name in names
    )


def in_options(message: str) -> str:
    """Remedies in the words of the command line: ignore=['a'] in Python is --ignore a here.

    >>> in_options("say decimal=',' or leave it out with ignore=['a']")
    "say --decimal ',' or leave it out with --ignore 'a'"
    """
    message = re.sub(
        r"\b(ignore|nominal|numeric|dates|words|rewards)=\[(['\"])(.+?)\2\]", r"--\1 \2\3\2", message
    )
    message = re.sub(r"\blabel=(['\"])(.+?)\1", r"--label \1\2\1", message)
    message = re.sub(r"\brewards=\((\S+), (\S+)\)", r"--reward-range \1:\2", message)
    return re.sub(r"\b(encoding|separator|decimal)='([^']+)'", r"--\1 '\2'", message)


def _exploration(text: str) -> float | str:
    """A rate, or the name of a schedule."""
    if text in SCHEDULES:
        return text
    try:
        rate = float(text)
    except ValueError:
        rate = -1.0
    if not 0.0 <= rate < 1.0:
        raise typer.BadParameter(
            f"{text!r} is neither a number from 0 to 1 nor one of {', '.join(SCHEDULES)}"
        )
    return rate


Data = Annotated[
    str,
    typer.Argument(
        help="balance, car, nursery, movement, mice, isolet; or a file, a folder, or a pattern of files in "
        "quotes: CSV, Parquet, Arrow, JSON lines.",
        metavar="DATA",
    ),
]
Label = Annotated[
    str | None, typer.Option(help="Column of right labels; needed for a file.", metavar="COLUMN")
]
Rewards = Annotated[
    str | None,
    typer.Option(
        help="In place of --label: a column for each label with what it would earn. 'price_*' are all "
        "columns that begin so; their labels are what the star stands for.",
        metavar="A,B,...",
    ),
]
RewardRange = Annotated[
    str | None,
    typer.Option(
        help="The least and the largest reward there can be, such as 0:30; 0:1 if not given.",
        metavar="LOW:HIGH",
    ),
]
Numeric = Annotated[
    str | None,
    typer.Option(help="Columns of a file to take as numbers, whatever they look like.", metavar="A,B,..."),
]
Nominal = Annotated[
    str | None,
    typer.Option(help="Columns of a file to take as names, whatever they look like.", metavar="A,B,..."),
]
Dates = Annotated[
    str | None,
    typer.Option(help="Columns of a file that are dates or times, written as text.", metavar="A,B,..."),
]
Words = Annotated[
    str | None,
    typer.Option(
        help="Columns of a file that are texts, of which each word counts; only GapBoost reads words.",
        metavar="A,B,...",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Of text files, such as cp1252 or utf-16; UTF-8 if not given.", metavar="NAME"),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="Between the cells of a CSV file, or tab; found in the header if not given.", metavar="CHARACTER"
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal mark of a file, . or , with which amounts such as '$1,234.50' and '1.234,50 €' are "
        "numbers.",
        metavar="MARK",
    ),
]
Ignore = Annotated[str | None, typer.Option(help="Columns of a file to leave out.", metavar="A,B,...")]
VariantOf = Annotated[
    Variant,
    typer.Option(help="Built-in sets: as the authors played them, as the paper's text has them, or plain."),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        help="Play the rows so many times; built-in sets as often as the paper, a file once.",
        min=1,
        metavar="N",
    ),
]
Rounds = Annotated[int | None, typer.Option(help="Stop the stream after so many rounds.", min=1, metavar="N")]
Shuffle = Annotated[
    bool | None,
    typer.Option(
        "--shuffle/--in-order",
        help="Shuffle a file, or play it as it is (the default); built-in sets are always shuffled.",
    ),
]
DataDirectory = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help="Directory with the files of movement, mice and isolet; else $BANDITBOOST_DATA, "
        "else a download.",
        metavar="DIR",
    ),
]
Learner = Annotated[
    str,
    typer.Option(
        help="AdaBandit, OptBandit, BinBandit, MixBandit, GapBoost, AdaFull, OptFull, MixFull or a baseline.",
        metavar="NAME",
    ),
]
NLearners = Annotated[
    int | None,
    typer.Option("--n-learners", help="Trees (BinBandit, GapBoost: for each label).", min=1, metavar="N"),
]
Exploration = Annotated[
    Any,
    typer.Option(
        help=f"Share of rounds in which another label is tried, or a schedule: {', '.join(SCHEDULES)}.",
        metavar="RATE",
        parser=_exploration,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Any other parameter, such as edge=0.1 or grace_period=5:20 (a range); may be given again.",
        metavar="NAME=VALUE",
    ),
]
Seed = Annotated[int, typer.Option(help="Of the stream's order and of the model.", min=0, metavar="N")]
IdleSeed = Annotated[
    int, typer.Option("--seed", help="Every command takes one; this one draws nothing.", min=0, metavar="N")
]
FirstSeed = Annotated[int, typer.Option(help="The first seed; the others follow it.", min=0, metavar="N")]
Jobs = Annotated[
    int | None, typer.Option(help="Processes at a time; all cores if not given.", min=1, metavar="N")
]
Engine = Annotated[
    EngineName, typer.Option(help="Where tasks run: on this machine, or on an existing Dask or Ray cluster.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(help="Address of the Dask scheduler, such as tcp://host:8786.", metavar="ADDRESS"),
]
Address = Annotated[
    str | None,
    typer.Option(help="Address of the Ray cluster, such as ray://host:10001 or auto.", metavar="ADDRESS"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
