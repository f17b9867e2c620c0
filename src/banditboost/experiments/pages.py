"""Pieces of a page that is one file and asks for nothing else: reports of experiments, and of logs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from matplotlib.figure import Figure

from banditboost.experiments import figures
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.text import html, visible


def document(title: str, parts: Iterable[str]) -> str:
    """The whole HTML text."""
    style = files("banditboost.experiments").joinpath("report.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>banditboost: {html(title)}</title>\n"
        f"<style>\n{style}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def tiles(told: Iterable[tuple[str, str]]) -> str:
    """Large numbers, each with what it is below it."""
    boxes = (f"<div><dt>{html(label)}</dt><dd>{html(value)}</dd></div>" for value, label in told)
    return f'<dl class="tiles">{"".join(boxes)}</dl>'


def section(sheet: Sheet) -> str:
    """A table under its title; on a phone its rows are cards."""
    head = "".join(f'<th scope="col">{html(name)}</th>' for name in sheet.header)
    body = "\n".join(_row(sheet.header, row) for row in sheet.rows)
    return (
        f'<section id="{html(sheet.name)}"><h2>{html(sheet.title)}</h2>'
        f'<p class="note">{html(sheet.note)}</p>'
        f'<table class="cards"><thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></section>'
    )


def _row(header: Sequence[str], row: Sequence[Entry]) -> str:
    first, *others = row
    cells = "".join(_cell(name, entry) for name, entry in zip(header[1:], others, strict=True))
    return f'<tr><th scope="row">{_text(first)}</th>{cells}</tr>'


def _cell(name: str, entry: Entry) -> str:
    mark = f' class="{entry.mark}"' if entry.mark else ""
    return f'<td data-label="{html(name)}"{mark}><span>{_text(entry)}</span></td>'


def _text(entry: Entry) -> str:
    detail = f"<small>{html(entry.detail)}</small>" if entry.detail else ""
    return f"<b>{html(entry.main)}</b>{detail}"


def picture(figure: Figure, text: str, caption: str) -> str:
    """A figure as part of the page, with a text for whoever does not see it."""
    data = base64.b64encode(figures.svg_text(figure).encode()).decode()
    drawn = f'<img alt="{html(text)}" src="data:image/svg+xml;base64,{data}">'
    return f"<figure>{drawn}<figcaption>{html(caption)}</figcaption></figure>"


def facts(told: Mapping[str, Any]) -> str:
    """Names and values, side by side."""
    items = (
        f"<div><dt>{html(name)}</dt><dd>{html(visible(value))}</dd></div>" for name, value in told.items()
    )
    return f'<dl class="facts">{"".join(items)}</dl>'
