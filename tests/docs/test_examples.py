"""Every block of Python in docs/ runs and says what stands there."""

from __future__ import annotations

import ast
import doctest
import inspect
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from banditboost.serve.http.app import create_app
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.docs.pages import PAGES, ROOT, blocks, name
from tests.serve.serving import serving

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LONG = {"experiments.md", "guide-exploration.md", "guide-reproducing.md", "interop.md", "tutorial.md"}
SERVICE = "http://127.0.0.1:8730"
"""Where pages find the service; the tests start one elsewhere."""
NEIGHBOURS = ("azure", "coba", "pandas", "polars", "river", "sklearn", "vowpalwabbit")
README = ROOT / "README.md"
MOST_CHARACTERS = 100
WIDER = {
    *("baselines.md", "checks.md", "data.md", "experiments.md", "format.md", "interop.md"),
    "guide-weak-learner.md",
}  # not narrowed yet
# Their classes need a module: tests/checks/test_pages.py, tests/docs/test_own_booster.py.
ELSEWHERE = {"checks.md", "guide-booster.md", "guide-weak-learner.md"}
WITH_EXAMPLES = [
    page
    for page in PAGES
    if ">>> " in page.read_text(encoding="utf-8")
    and page.name not in ELSEWHERE
    and page.parent.name != "serve"  # tests/docs/test_service_pages.py
]


def need_neighbours(text: str) -> None:
    """Packages that the examples import, or name to us."""
    for package in NEIGHBOURS:
        if re.search(rf"^>>> (from|import) {package}\b", text, re.MULTILINE) or f'"{package}"' in text:
            pytest.importorskip(package, reason=f"{package} is not installed, and the page shows it")


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_of_a_kind_that_is_checked(page: Path) -> None:
    for language, text in blocks(page):
        assert language in ("pycon", "python", "sh", "text", "toml", "yaml"), (
            f"a block of {language or 'nothing'}"
        )
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
    text = page.read_text(encoding="utf-8")
    need_neighbours(text)
    monkeypatch.chdir(tmp_path)
    with service_for(text, tmp_path) as address:
        tried = tmp_path / page.name
        tried.write_text(text.replace(SERVICE, address), encoding="utf-8")
        results = doctest.testfile(str(tried), module_relative=False, encoding="utf-8")
    assert results.attempted > 0
    assert results.failed == 0


@contextmanager
def service_for(text: str, folder: Path) -> Iterator[str]:
    """The address of a service of its own, if the examples call one."""
    if SERVICE not in text:
        yield SERVICE
        return
    service = SoloService(ServiceSettings(), SQLiteStore(folder / "service"))
    with serving(create_app(service)) as address:
        yield address


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
