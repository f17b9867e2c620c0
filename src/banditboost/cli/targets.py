"""Files to be written at the end of a command: each must have a place before the work begins."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from banditboost import validation
from banditboost.errors import ParameterError

_PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm")


def check_target(option: str, path: Path | None) -> None:
    """Refuse a file that could not be written."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise typer.BadParameter(f"{option} {path}: there is no directory {path.parent}; make it first")
    if path.is_dir():
        raise typer.BadParameter(f"{option} {path} is a directory; give the name of a file in it")
    try:
        validation.check_target(option, path)
    except ParameterError as error:
        raise typer.BadParameter(str(error)) from None
    if not os.access(folder, os.W_OK):
        raise typer.BadParameter(
            f"{option} {path}: the directory {folder} cannot be written to; give another one"
        )


def check_picture(option: str, path: Path | None) -> None:
    """Refuse a file that could not be written, or has an ending that no picture has."""
    _check_ending(option, path, _PICTURES)


def check_page(option: str, path: Path | None) -> None:
    """Refuse a file that could not be written, or that a browser would not take for a page."""
    _check_ending(option, path, _PAGES)


def _check_ending(option: str, path: Path | None, endings: tuple[str, ...]) -> None:
    check_target(option, path)
    if path is not None and path.suffix not in endings:
        raise typer.BadParameter(f"{option} {path}: give a name that ends in {', '.join(endings)}")
