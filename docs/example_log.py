"""The log of guide-logs.md, and what the page finds in it: its examples, run."""

from __future__ import annotations

import doctest
from contextlib import chdir
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "guide-logs.md"
_LAST = "## 5."


def run_examples(folder: str) -> dict[str, Any]:
    """Run the page up to the decision in a folder, in which its log is left; returns its names."""
    text = PAGE.read_text(encoding="utf-8").partition(_LAST)[0]
    names: dict[str, Any] = {}
    test = doctest.DocTestParser().get_doctest(text, names, PAGE.name, str(PAGE), 0)
    with chdir(folder):
        failed, _ = doctest.DocTestRunner().run(test, clear_globs=False)
    if failed:
        raise SystemExit(f"{PAGE.name} does not say what happens: mend it before it is drawn")
    return test.globs
