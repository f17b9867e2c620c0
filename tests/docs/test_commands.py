"""Every command in docs/ and the README could be typed: command, options, extra and target are there."""

from __future__ import annotations

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from banditboost.cli.app import app
from tests.docs.pages import PAGES, ROOT, blocks, name

UsageError: Any = typer.BadParameter.__base__  # Click's, or that of the copy that Typer carries
SOURCES = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
INLINE = re.compile(r"`((?:banditboost|python -m|python docs|make) [^`\n]+)`")
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def commands(text: str) -> list[list[str]]:
    """The words of each command in lines of shell."""
    words: list[list[str]] = [[]]
    for line in text.replace("\\\n", " ").splitlines():
        for word in shlex.split(re.sub(r" >> \S+$", "", line), comments=True):
            if word == "&&":
                words.append([])
            else:
                words[-1].append(word)
        words.append([])
    return [command for command in words if command]


def shell(page: Path) -> list[list[str]]:
    text = page.read_text(encoding="utf-8")
    return commands(
        "\n".join([*(block.text for block in blocks(page) if block.language == "sh"), *INLINE.findall(text)])
    )


def check_banditboost(words: list[str]) -> None:
    """Parsed by the program itself, not carried out. A command that is only named may lack its arguments."""
    command: Any = typer.main.get_command(app)
    context = None
    while getattr(command, "commands", None):
        context = command.make_context("banditboost", [], parent=context, resilient_parsing=True)
        context.resilient_parsing = False
        if command.invoke_without_command and (not words or words[0].startswith("-")):
            break
        assert words, "a command"
        command, words = command.commands[words[0]], words[1:]
    if words:
        command.make_context("banditboost", list(words), parent=context)


def check_python(words: list[str]) -> None:
    if words[0] == "-m":
        assert words[1] == "venv" or importlib.util.find_spec(words[1]), words
    else:
        assert (ROOT / words[0]).exists(), words


def check_pip(words: list[str]) -> None:
    assert words[0] == "install"
    for extras in re.findall(r"\[([\w,]+)\]", " ".join(words)):
        assert set(extras.split(",")) <= EXTRAS, extras


def check_make(words: list[str]) -> None:
    assert set(words) <= TARGETS, words


def check_elsewhere(words: list[str]) -> None:
    """Programs of others, whose options are theirs."""
    assert words


CHECKS = {
    "banditboost": check_banditboost,
    "python": check_python,
    "python3": check_python,
    "pip": check_pip,
    "make": check_make,
    **dict.fromkeys(
        (
            "cp",
            "curl",
            "dask",
            "docker",
            "mkdir",
            "mv",
            "pg_dump",
            "pg_restore",
            "rm",
            "sqlite3",
            "sudo",
            "systemctl",
        ),
        check_elsewhere,
    ),
    ".": check_elsewhere,
}


@pytest.mark.parametrize("page", [page for page in SOURCES if shell(page)], ids=name)
def test_every_command_can_be_typed(page: Path) -> None:
    for program, *words in shell(page):
        CHECKS[program](words)


@pytest.mark.parametrize(
    "command",
    [
        "banditboost walk car",
        "banditboost run car --speed 3",
        "pip install .[moon]",
        "make tea",
        "python -m benchmarks.nothing",
        "unknown x",
    ],
)
def test_a_wrong_command_is_found(command: str) -> None:
    program, *words = commands(command)[0]
    with pytest.raises((AssertionError, KeyError, UsageError)):
        CHECKS[program](words)
