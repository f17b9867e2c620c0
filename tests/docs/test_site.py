"""The site is built without a warning, every link leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.docs.pages import DOCS, PAGES, ROOT

CONFIGURATION = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


class Reader(HTMLParser):
    """Ids, links, and what a page loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told = {name: value for name, value in attributes if value is not None}
        self.ids |= {told[name] for name in ("id", "name") if name in told}
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        if tag in ("script", "img", "iframe") and "src" in told:
            self.loads.append(told["src"])
        if tag == "link" and told.get("rel") in ("stylesheet", "icon", "preload"):
            self.loads.append(told["href"])


def pages_in(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_in(part)


def test_every_page_has_its_place_in_the_navigation() -> None:
    placed = list(pages_in(CONFIGURATION["nav"]))
    assert sorted(placed) == sorted(str(page.relative_to(DOCS)) for page in PAGES), (
        "one line for each page in `nav` of zensical.toml"
    )


def test_every_page_is_built(site: Path) -> None:
    for page in PAGES:
        assert (site / page.relative_to(DOCS).with_suffix(".html")).exists(), page


def test_links_lead_somewhere(site: Path) -> None:
    pages = {path.resolve(): Reader(path) for path in site.rglob("*.html") if path.name != "404.html"}
    followed = 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].ids, f"{path.name}: {link}"
            followed += 1
    assert followed > 1000


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert not [load for load in Reader(path).loads if urlsplit(load).netloc], path.name


def test_examples_in_docstrings_are_code(site: Path) -> None:
    text = (site / "api/decisions.html").read_text(encoding="utf-8")
    assert "language-pycon" in text
    assert "max_rounds, max_seconds" not in text  # one line for each argument
    assert "&gt;&gt;&gt; from banditboost" not in text.replace('<span class="gp">&gt;&gt;&gt; </span>', "")
