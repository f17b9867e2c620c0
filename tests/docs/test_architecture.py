"""The house on one page is the house: its floors are those of `make check`, its picture names real files."""

from __future__ import annotations

import re
import tomllib

from tests.docs.pages import DOCS, ROOT

PACKAGE = ROOT / "src/banditboost"
PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")


def floors_on_the_page() -> list[list[str]]:
    table = PAGE.split("## What may import what")[1].split("\n## ")[0]
    return [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines() if row.startswith("| `")]


def test_the_floors_are_those_of_the_contract() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract["layers"] for contract in told["contracts"] if contract["id"] == "layers")
    assert floors_on_the_page() == [re.findall(r"\w+", layer) for layer in layers]


def test_every_part_of_the_package_has_a_floor() -> None:
    parts = {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    floors = {part for floor in floors_on_the_page() for part in floor}
    assert parts - floors == {"__init__", "__main__", "_version"}
    assert len(floors - parts) <= 1  # `warming` need not be there


def test_the_picture_names_files_that_exist() -> None:
    source = (
        (DOCS / "draw.py").read_text(encoding="utf-8").split("def draw_house")[1].split("def _draw_way")[0]
    )
    named = set(re.findall(r'"(?:\w+\\n)?([\w/]+\.py)', source))
    assert len(named) >= 8
    assert [file for file in named if not (PACKAGE / file).exists()] == []


def test_the_way_of_a_request_names_files_that_exist() -> None:
    section = PAGE.split("## A request arrives")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w/]+\.py|http/\w+|serve/\w+)`", section))
    folders = [PACKAGE, *(PACKAGE / f"serve{below}" for below in ("", "/http", "/shared", "/store"))]
    assert len(named) > 20
    assert [file for file in named if not any((folder / file).exists() for folder in folders)] == []


def test_steps_name_functions_that_exist() -> None:
    for file, names in (
        ("boosting/round.py", ("def decide", "def learn")),
        ("models/model.py", ("def _choose", "def _hear", "def _renew")),
        ("rows/checking.py", ("def open_memo",)),
    ):
        text = (PACKAGE / file).read_text(encoding="utf-8")
        assert all(name in text for name in names), file
