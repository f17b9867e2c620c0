"""The documents tell the truth about the code: every place they name exists."""

import ast
import re
from pathlib import Path

import pytest

import banditboost
from banditboost import memo

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/banditboost"
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
FILE = re.compile(r"`([\w.]+/[\w./-]+\.py)\b")
PLACE = re.compile(r"`([\w/]+\.py):([\w.]+)`")


def names_in(path):
    """Functions, classes and Class.method of a source file."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names.update(
                f"{node.name}.{item.name}" for item in node.body if isinstance(item, ast.FunctionDef)
            )
    return names


@pytest.mark.parametrize(
    ("file", "name"), sorted(set(PLACE.findall((ROOT / "docs/algorithm.md").read_text())))
)
def test_each_place_on_the_map_exists(file, name):
    assert name in names_in(PACKAGE / file)


def test_every_line_of_algorithm_1_is_on_the_map():
    table = (ROOT / "docs/algorithm.md").read_text().split("The whole of each booster")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == [str(line) for line in range(1, 18)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
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


def test_the_places_of_a_memo_are_told_as_they_are():
    told = re.findall(r"^\| (\d) \| `(\w+)`", (ROOT / "docs/notation.md").read_text(), re.MULTILINE)
    assert [int(place) for place, _ in told] == list(range(memo.VOTES + 1))
    assert [getattr(memo, name) for _, name in told] == [int(place) for place, _ in told]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_pages_name_exist(page):
    for named in FILE.findall(page.read_text()):
        assert any((folder / named).exists() for folder in (ROOT, PACKAGE, PACKAGE / "boosting")), named
