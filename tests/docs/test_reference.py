"""The reference is complete, and every class in it has an example that ends in a number."""

from __future__ import annotations

import ast
import doctest
import inspect
import pydoc
import re
from pathlib import Path

import pytest

import banditboost
from banditboost import baselines, datasets, extending
from tests.docs.pages import DOCS, ROOT

PACKAGE = ROOT / "src/banditboost"
NEIGHBOURS = ("coba", "river", "sklearn")


def classes_in(path: Path) -> list[str]:
    """The public classes of a module, by their full names."""
    module = ".".join(["banditboost", *path.relative_to(PACKAGE).with_suffix("").parts])
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return [
        f"{module}.{node.name}"
        for node in nodes
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def names_in_reference() -> list[str]:
    """What the API pages name; of a module, its public classes."""
    found = []
    for page in sorted((DOCS / "api").glob("*.md")):
        for told in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            module = PACKAGE.parent / Path(*told.split(".")).with_suffix(".py")
            found += classes_in(module) if module.exists() else [told]
    return found


def find(path: str) -> object:
    if ".interop." in path:
        for package in NEIGHBOURS:
            if package in path:
                pytest.importorskip(package, reason=f"{package} is not installed")
    thing = pydoc.locate(path)
    assert thing is not None, f"{path} does not exist"
    return thing


def public_names() -> list[str]:
    """What users are meant to import."""
    names = [
        f"banditboost.{name}"
        for name in banditboost.__all__
        if name != "__version__" and not inspect.ismodule(getattr(banditboost, name))
    ]
    names += [f"banditboost.baselines.{name}" for name in baselines.__all__] + [
        f"banditboost.datasets.{name}" for name in datasets.__all__
    ]
    modules = [PACKAGE / "theory.py", PACKAGE / "errors.py", *sorted((PACKAGE / "interop").glob("*.py"))]
    return names + [name for module in modules for name in classes_in(module)]


def last_answer(docstring: str) -> str:
    examples = doctest.DocTestParser().get_examples(docstring)
    return examples[-1].want.strip() if examples else "nothing"


@pytest.mark.parametrize("name", public_names())
def test_the_reference_has_it(name: str) -> None:
    assert name in names_in_reference(), "add it to a page in docs/api"


@pytest.mark.parametrize("name", names_in_reference())
def test_a_class_has_an_example_that_ends_in_a_number(name: str) -> None:
    thing = find(name)
    assert thing.__doc__
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        assert re.fullmatch(r"-?\d+(\.\d+)?", last_answer(inspect.cleandoc(thing.__doc__))), last_answer(
            thing.__doc__
        )


def test_all_that_an_own_booster_is_made_of_is_on_its_page() -> None:
    text = (DOCS / "api/extending.md").read_text(encoding="utf-8")
    assert [name for name in extending.__all__ if not re.search(rf"\b{name}\b", text)] == []


INNER = (
    "chains",
    "group_of",
    "has_groups",
    "plays_compiled",
    "compiled_round",
    "learned",
    "counted",
    "labels_are_fixed",
    "learners_vote",
)


def test_what_users_never_call_is_not_there(site: Path) -> None:
    for page in ("boosters", "baselines", "decisions", "learners"):
        headings = re.findall(r'<h\d id="([\w.]+)"', (site / f"api/{page}.html").read_text(encoding="utf-8"))
        assert headings
        assert [heading for heading in headings if heading.rpartition(".")[2] in INNER] == []


def test_decide_and_learn_come_first(site: Path) -> None:
    text = (site / "api/boosters.html").read_text(encoding="utf-8")
    methods = re.findall(r'<h\d id="banditboost\.models\.bandit\.BanditModel\.(\w+)"', text)
    assert methods[:2] == ["decide", "learn"]
    assert {"branch", "distribution", "add_label", "save", "summary"} <= set(methods)
