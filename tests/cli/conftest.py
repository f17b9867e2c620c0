"""A command typed in an empty directory."""

from __future__ import annotations

import json
import random

import pytest
from typer.testing import CliRunner

from banditboost.cli.app import app


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty directory to be in, with no data sets but the built-in ones."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BANDITBOOST_DATA", raising=False)
    return tmp_path


@pytest.fixture
def bb(home):  # noqa: ARG001  (the directory to be in)
    """Type a command; what came of it."""

    def type_command(*words):
        return CliRunner().invoke(app, [str(word) for word in words], prog_name="banditboost")

    return type_command


@pytest.fixture
def answer(bb):
    """Type a command with --json; its object."""

    def type_command(*words):
        result = bb(*words, "--json")
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    return type_command


@pytest.fixture
def pets(home):
    """A file of one's own: 300 rows, two features, three labels."""
    draw = random.Random(1)
    rows = [(round(draw.uniform(1, 9), 1), draw.choice(["red", "blue"])) for _ in range(300)]
    lines = [
        f"{weight},{colour},{'cat' if colour == 'red' else 'dog' if weight < 5 else 'fish'}"
        for weight, colour in rows
    ]
    path = home / "pets.csv"
    path.write_text("weight,colour,pet\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path
