"""The pages of the documentation, and what is in them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(language, text) for _, language, text in _FENCE.findall(page.read_text(encoding="utf-8"))]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))
