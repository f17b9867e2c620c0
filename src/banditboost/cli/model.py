"""`banditboost model show`: what is in a saved model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.text import visible

File = Annotated[Path, typer.Argument(help="A file that --save or model.save wrote.", metavar="FILE")]
_SHOWN = 12
_MOST_BITS = 64  # of a number with commas between its thousands


def show(
    file: File,
    seed: options.IdleSeed = options.FIRST_SEED,  # noqa: ARG001 (all commands take one)
    as_json: options.Json = False,
) -> None:
    """Show what is in a saved model: its class, parameters, labels, features, rounds, and who wrote it.

    The model is not loaded.

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
    output.print_facts(str(file), _lines(facts))


def _lines(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """A line for each fact, and for each parameter."""
    for name, value in facts.items():
        if name == "parameters" and isinstance(value, Mapping):
            yield from _lines(value)
        elif name == "branch":
            yield name, _text(value) if value else "none: the model itself"
        elif name == "weak_learner" and isinstance(value, Mapping) and "class" in value:
            yield "weak learner", _text(value["class"])
            yield from _lines({part: item for part, item in value.items() if part != "class"})
        elif name in ("memory", "file_size", "max_memory") and isinstance(value, (int, float)):
            yield name.replace("_", " "), f"{value / 2**20:.1f} MiB"
        elif name == "schema" and isinstance(value, Mapping):
            features = [
                feature if values is None else f"{visible(feature)} ({_text(values)})"
                for feature, values in value.items()
            ]
            yield "features", _listed(features)
        else:
            yield name.replace("_", " "), _text(value)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return _listed([f"{visible(name)} {visible(item)}" for name, item in value.items()])
    if isinstance(value, (list, tuple)):
        return _listed(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _MOST_BITS:
        return f"{value:,}"
    return visible(value)


def _listed(items: Sequence[Any]) -> str:
    """The first of many."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(map(visible, items[:_SHOWN])) + more
