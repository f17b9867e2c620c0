"""Files that pages name are there, and the places of a memo are told as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from banditboost import memo
from tests.docs.pages import DOCS, PAGES, ROOT, name

PACKAGE = ROOT / "src/banditboost"
FILE = re.compile(r"`([\w.]+/[\w./-]+\.py)\b")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=name)
def test_files_that_pages_name_exist(page: Path) -> None:
    named = FILE.findall(page.read_text(encoding="utf-8"))
    assert [file for file in named if not any((folder / file).exists() for folder in (ROOT, PACKAGE))] == []


def test_the_places_of_a_memo_are_told_as_they_are() -> None:
    text = (DOCS / "notation.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| (\d) \| `(\w+)`", text, re.MULTILINE)
    assert [int(place) for place, _ in told] == list(range(memo.VOTES + 1))
    assert [getattr(memo, place_name) for _, place_name in told] == [int(place) for place, _ in told]
