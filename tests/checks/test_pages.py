"""The pages on checks and on threads tell what is true: their examples run, and every rule is on the page as
its check states it.
"""

from __future__ import annotations

import doctest
import inspect
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from banditboost import checks
from tests.boosting.kernels import INTERPRETED

DOCS = Path(__file__).parents[2] / "docs"


def run_page(page: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """Run the examples of a page; a module with what they have defined."""
    module = types.ModuleType("page")  # pickle looks for the page's classes there
    monkeypatch.setitem(sys.modules, "page", module)
    examples = doctest.DocTestParser().get_doctest(
        (DOCS / page).read_text(encoding="utf-8"), {}, page, page, 0
    )
    examples.globs = vars(module)
    result = doctest.DocTestRunner().run(examples, clear_globs=False)
    assert result.attempted >= 5
    assert result.failed == 0
    return module


@pytest.mark.parametrize("page", ["checks.md", "threads.md"])
@pytest.mark.skipif(INTERPRETED, reason="plays a thousand rounds")
def test_every_example_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, monkeypatch)


@pytest.mark.skipif(INTERPRETED, reason="plays thousands of rounds")
def test_the_guides_weak_learner_keeps_every_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    module = run_page("guide-weak-learner.md", monkeypatch)
    for check in checks.weak_learner_checks():
        check(module.NearestMean)


@pytest.mark.parametrize(
    "check", [*checks.booster_checks(), *checks.weak_learner_checks()], ids=lambda check: check.__name__
)
def test_every_rule_is_on_the_page(check: Any) -> None:
    rule = " ".join((inspect.getdoc(check) or "").split())
    assert f"| `{check.__name__}` | {rule} |" in (DOCS / "checks.md").read_text(encoding="utf-8")
