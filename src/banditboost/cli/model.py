"""`banditboost model show`: what is in a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from banditboost.cli import options, output

File = Annotated[Path, typer.Argument(help="A file that --save or model.save wrote.", metavar="FILE")]
_SHOWN = 12


def show(file: File, as_json: options.Json = False) -> None:
    """Show what is in a saved model: its class, parameters, labels, features, rounds, and who wrote it. The model is not loaded.

    \b
    Examples:
      banditboost model show clicks.bb
      banditboost model show clicks.bb --json
    """
    from banditboost.io import describe

    facts = describe(file)
    if as_json:
        output.print_json(facts)
        return
    output.print_facts(str(file), {name.replace("_", " "): _text(value) for name, value in facts.items()})


def _text(value: Any) -> str:
    """Short enough for a terminal: the first of many."""
    if isinstance(value, dict):
        parts = [name if item is None else f"{name}: {_text(item)}" for name, item in value.items()]
        return _cut(parts)
    if isinstance(value, (list, tuple)):
        return _cut([str(item) for item in value])
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _cut(parts: list[str]) -> str:
    more = f", and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return ", ".join(parts[:_SHOWN]) + more
