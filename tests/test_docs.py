"""The documents tell the truth about the code: every place they name exists."""

import ast
import re
from pathlib import Path

import pytest

import banditboost
from banditboost import memo

ROOT = Path(__file__).parents[1]
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
    assert name in names_in(ROOT / "src/banditboost" / file)


def test_every_line_of_algorithm_1_is_on_the_map():
    table = (ROOT / "docs/algorithm.md").read_text().split("## Equations")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == [str(line) for line in range(1, 18)]


@pytest.mark.parametrize(
    "page",
    [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
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


# Where a memo holds what, and what its policies are called: stored decisions rely on it.
SLOTS = {
    **{"ROUND": 0, "SHOWN": 1, "GREEDY": 2, "CHOSEN_EXPERT": 3, "PROBABILITY": 4},
    **{"RATE": 5, "ALLOWED": 6, "POLICY": 7, "LEARNERS": 8, "VOTES": 9},
    **{"POLICY_UNIFORM": 0, "POLICY_INVERSE_GAPS": 1, "POLICY_BY_VOTES": 2},
    **{"UNIFORM_SHARE": 0.2, "MOST_PROBABILITIES": 32, "LEAST_PROBABILITY": 1e-30},
}


def assigned_in(path):
    """The names that a source file assigns to outside of functions and classes."""
    targets = [
        target
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign)
        for target in node.targets
    ]
    return {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}


def test_stored_decisions_find_everything_where_it_was():
    assert {name: getattr(memo, name) for name in assigned_in(Path(memo.__file__))} == SLOTS


def test_the_memo_is_defined_once():
    """Decisions and compiled code read the same names: nobody else writes them down, with or without a
    leading underscore.
    """
    readers = [
        path for path in (ROOT / "src/banditboost").rglob("*.py") if re.search(r"\bmemo\b", path.read_text())
    ]
    others = [path for path in readers if path != Path(memo.__file__)]
    assert [
        path for path in others if {name.removeprefix("_") for name in assigned_in(path)} & set(SLOTS)
    ] == []
