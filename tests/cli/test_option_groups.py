"""Options that belong together reach a command as one object."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from banditboost.cli.compare import compare
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.run import run
from banditboost.cli.tune import tune

Size = Annotated[int, typer.Option(help="How large.", min=1)]
Name = Annotated[str, typer.Argument(help="What it is called.")]
DATA_OPTIONS = (
    "data",
    "label",
    "repeat",
    "rounds",
    "shuffle",
    "numeric",
    "nominal",
    "dates",
    "words",
    "ignore",
    "encoding",
    "separator",
    "decimal",
    "variant",
    "directory",
)


@dataclass(frozen=True)
class Thing:
    name: Name
    size: Size = 3


def test_fields_are_options_and_come_as_one_object() -> None:
    seen: list[tuple[Thing, bool]] = []
    app = typer.Typer()

    @app.command()
    @takes_groups
    def show(thing: Thing, loud: bool = False) -> None:
        """Show a thing."""
        seen.append((thing, loud))

    assert CliRunner().invoke(app, ["cup"]).exit_code == 0
    assert CliRunner().invoke(app, ["--size", "7", "--loud", "cup"]).exit_code == 0
    assert seen == [(Thing("cup"), False), (Thing("cup", 7), True)]
    assert CliRunner().invoke(app, ["cup", "--size", "0"]).exit_code == 2
    assert CliRunner().invoke(app, []).exit_code == 2
    help_text = CliRunner().invoke(app, ["--help"]).stdout
    assert "Show a thing." in help_text
    assert "How large." in help_text


def test_the_commands_that_play_data_have_the_same_options_for_it() -> None:
    for command in (run, compare, tune):
        assert tuple(inspect.signature(command).parameters)[: len(DATA_OPTIONS)] == DATA_OPTIONS
