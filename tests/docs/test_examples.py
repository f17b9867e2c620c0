"""Every block of Python in docs/ runs and says what stands there."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import PAGES, ROOT, blocks, name

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LONG = {"experiments.md", "guide-exploration.md", "guide-reproducing.md", "interop.md", "tutorial.md"}
NEIGHBOURS = ("coba", "pandas", "polars", "river", "sklearn", "vowpalwabbit")
README = ROOT / "README.md"
MOST_CHARACTERS = 100
WIDER = {
    *("baselines.md", "checks.md", "data.md", "experiments.md", "format.md", "interop.md"),
    "guide-weak-learner.md",
}  # not narrowed yet
# Their classes need a module: tests/checks/test_pages.py, tests/docs/test_own_booster.py.
ELSEWHERE = {"checks.md", "guide-booster.md", "guide-weak-learner.md"}
WITH_EXAMPLES = [
    page for page in PAGES if ">>> " in page.read_text(encoding="utf-8") and page.name not in ELSEWHERE
]


def need_neighbours(text: str) -> None:
    """Packages that the examples import, or name to us."""
    for package in NEIGHBOURS:
        if re.search(rf"^>>> (from|import) {package}\b", text, re.MULTILINE) or f'"{package}"' in text:
            pytest.importorskip(package, reason=f"{package} is not installed, and the page shows it")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    for language, text in blocks(page):
        assert language in ("pycon", "python", "sh", "text"), f"a block of {language or 'nothing'}"
        assert (">>> " in text) == (language == "pycon"), text


@pytest.mark.parametrize("page", [page for page in [*PAGES, README] if page.name not in WIDER], ids=name)
def test_lines_to_type_fit_on_the_page(page: Path) -> None:
    """What a program answers may be longer."""
    typed = [
        line
        for language, text in blocks(page)
        for line in text.splitlines()
        if language in ("sh", "python") or line.startswith((">>> ", "... "))
    ]
    assert [line for line in typed if len(line) > MOST_CHARACTERS] == []


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name)
def test_the_examples_say_what_happens(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if INTERPRETED and page.name in LONG:
        pytest.skip("plays thousands of rounds")
    need_neighbours(page.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert tried > 0
    assert failed == 0


def names_imported(page: Path) -> dict[str, object]:
    """What a page's examples import, without running the rest."""
    names: dict[str, object] = {}
    for example in doctest.DocTestParser().get_examples(page.read_text(encoding="utf-8")):
        if example.source.startswith(("from banditboost", "import banditboost")):
            exec(example.source, names)
    return names


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(block.language == "python" for block in blocks(page))], ids=name
)
def test_calls_that_cannot_be_run_fit_what_they_call(page: Path) -> None:
    """Of clusters that are not there."""
    names = names_imported(page)
    calls = [
        node
        for block in blocks(page)
        if block.language == "python"
        for node in ast.walk(ast.parse(block.text))
        if isinstance(node, ast.Call)
    ]
    assert calls
    for call in calls:
        keywords = {keyword.arg: None for keyword in call.keywords if keyword.arg}
        called: Any = names[ast.unparse(call.func)]
        inspect.signature(called).bind(*call.args, **keywords)


def test_long_pages_exist() -> None:
    assert {page.name for page in WITH_EXAMPLES} >= LONG
