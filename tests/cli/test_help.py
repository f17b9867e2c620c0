"""Every command says how it is used, and docs/cli.md says the same."""

import importlib.util
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"


@pytest.fixture(scope="module")
def generator():
    spec = importlib.util.spec_from_file_location("generate", PAGE.with_name("generate.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_help_says(generator):
    assert PAGE.read_text(encoding="utf-8") == generator.page(), "run `make docs`"


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "compare",
        "tune",
        "reproduce",
        "warm",
        "data list",
        "data check",
        "model show",
        "audit",
        "serve",
        "serve key",
    ],
)
def test_every_command_has_an_example_and_json(bb, command):
    result = bb(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"\n    banditboost {command}" in result.stdout
    assert "--json" in result.stdout
    assert ("--seed" in result.stdout) == (command != "serve key")  # a key that can be drawn again is none
