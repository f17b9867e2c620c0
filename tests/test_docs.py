"""The documents tell the truth about the code: every place they name exists."""

import ast
import re
from pathlib import Path

import pytest

import banditboost
from banditboost import decision
from banditboost import memo as layout

ROOT = Path(__file__).parents[1]
PLACE = re.compile(r"`([\w/]+\.py):([\w.]+)`")


def names_in(path):
    """Functions, classes and Class.method of a source file."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names.update(f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef))
    return names


@pytest.mark.parametrize(("file", "name"), sorted(set(PLACE.findall((ROOT / "docs/algorithm.md").read_text()))))
def test_each_place_on_the_map_exists(file, name):
    assert name in names_in(ROOT / "src/banditboost" / file)


def test_every_line_of_algorithm_1_is_on_the_map():
    table = (ROOT / "docs/algorithm.md").read_text().split("## Equations")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == [str(line) for line in range(1, 18)]


@pytest.mark.parametrize("page", [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_public_name_is_there_and_documented():
    for name in banditboost.__all__:
        thing = getattr(banditboost, name)
        assert name == "__version__" or thing.__doc__, name
    assert set(banditboost.__all__) <= set(dir(banditboost))


def test_an_unknown_public_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        banditboost.Nothing  # noqa: B018


@pytest.mark.parametrize(
    "name", ["ROUND", "SHOWN", "GREEDY", "PROBABILITY", "RATE", "POLICY", "VOTES", "UNIFORM", "INVERSE_GAPS", "MOST_KEPT"]
)
def test_decision_and_kernels_agree_on_the_memo(name):
    assert getattr(decision, f"_{name}") == getattr(layout, name)
    assert decision._EXPERT == layout.CHOSEN_EXPERT
