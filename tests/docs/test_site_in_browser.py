"""The site as a browser shows it, on a phone and on a desk.

Nothing sticks out, all can be read, menu and search work.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.browser import CONTRAST, look, needs_browser
from tests.docs.pages import DOCS, PAGES

ADDRESSES = [str(page.relative_to(DOCS).with_suffix(".html")) for page in PAGES]
PHONE, DESK, LAPTOP = 390, 1280, 1366
FIRST_PAGES = ["index.html", "performance.html", "faq.html", "results/peers.html", "results/clicks.html"]

# `visit` shows a page in the frame.
TOOLS = (
    CONTRAST
    + """
const visit = address => new Promise(done => {
  frame.onload = () => done(frame.contentDocument);
  frame.src = address;
});
const pause = () => new Promise(done => setTimeout(done, 50));
const until = async answer => {
  for (let i = 0; i < 200 && !answer(); i++) await pause();
  return Boolean(answer());
};
"""
)

EVERY_PAGE = """
(async () => {
  const pages = {};
  for (const address of ADDRESSES) {
    const page = await visit(address), inside = frame.contentWindow;
    await until(() => [...page.images].every(e => e.complete));
    const style = e => inside.getComputedStyle(e);
    const scrolls = e => e !== page.body && (style(e).overflowX !== "visible" || scrolls(e.parentElement));
    const isOver = e => e.getBoundingClientRect().right > inside.innerWidth + 1;
    const sticksOut = e => isOver(e) && !scrolls(e.parentElement);
    const isRead = e => e.textContent.trim() && e.getClientRects().length && !e.matches(".headerlink");
    const words = ".md-typeset :is(h1, h2, h3, p, li, td, th, a, code)";
    const texts = [...page.querySelectorAll(words)].filter(isRead);
    const told = elements => elements.map(e => e.outerHTML.slice(0, 80));
    pages[address] = {
      width: inside.innerWidth, scroll: page.documentElement.scrollWidth,
      title: page.title, scheme: page.body.dataset.mdColorScheme,
      wide: told([...page.querySelectorAll(".md-content *")].filter(sticksOut)),
      faint: told(texts.filter(e => contrast(e) < 4.5)),
      broken: told([...page.images].filter(e => !e.naturalWidth)),
      glaring: told([...page.images].filter(e => DARK && style(e).filter === "none")),
    };
  }
  tell(pages);
})();
"""

# A table that is wider than its column scrolls in a frame that a script puts around it.
TABLES = """
(async () => {
  const found = {};
  for (const address of ADDRESSES) {
    const page = await visit(address), inside = frame.contentWindow;
    const tables = () => [...page.querySelectorAll(".md-typeset table")];
    const around = e => e.closest(".md-typeset__scrollwrap");
    await until(() => tables().every(around));
    const isWide = e => around(e).scrollWidth > around(e).clientWidth + 1;
    found[address] = tables().filter(isWide).map(e => e.innerText.slice(0, 80));
  }
  tell(found);
})();
"""

MENU = """
(async () => {
  const page = await visit("index.html"), inside = frame.contentWindow;
  const menu = page.querySelector(".md-sidebar--primary");
  const shown = () => {
    const box = menu.getBoundingClientRect();
    const isVisible = inside.getComputedStyle(menu).visibility === "visible";
    return box.right > 0 && box.left < inside.innerWidth && isVisible;
  };
  const before = shown();
  page.querySelector("label.md-header__button[for=__drawer]").click();
  const opened = await until(shown);
  const links = [...menu.querySelectorAll("a[href]")].map(e => e.getAttribute("href"));
  menu.querySelector("a[href$='faq.html']").click();
  const followed = await until(() => inside.document.title.startsWith("Questions"));
  tell({before, opened, links, followed});
})();
"""

SEARCH = """
(async () => {
  const page = await visit("index.html");
  page.querySelector(".md-search__button").click();
  const within = (e, wanted) => e.shadowRoot?.querySelector(wanted);
  const inDialog = wanted => [...page.querySelectorAll("*")].map(e => within(e, wanted)).find(e => e);
  await until(() => inDialog("input"));
  inDialog("input").value = "checksum";
  inDialog("input").dispatchEvent(new Event("input", {bubbles: true}));
  tell(await until(() => inDialog("a[href*='format.html']")));
})();
"""

pytestmark = needs_browser


@pytest.mark.parametrize(
    ("width", "dark"), [(PHONE, False), (DESK, True)], ids=["phone by day", "desk by night"]
)
def test_every_page_looks_right(site: Path, width: int, dark: bool) -> None:
    script = TOOLS + EVERY_PAGE.replace("ADDRESSES", json.dumps(ADDRESSES)).replace("DARK", json.dumps(dark))
    pages, log = look(site, width, script, dark=dark)
    assert list(pages) == ADDRESSES
    for address, page in pages.items():
        assert (page["width"], page["scroll"] <= width) == (width, True), address
        assert page["title"].endswith("banditboost"), address
        assert page["scheme"] == ("slate" if dark else "default"), address
        for fault in ("wide", "faint", "broken", "glaring"):
            assert page[fault] == [], f"{address}: {fault}"
    assert "CONSOLE" not in log, log


def test_the_menu_of_a_phone_opens_and_leads_everywhere(site: Path) -> None:
    seen, log = look(site, PHONE, TOOLS + MENU)
    assert not seen["before"]
    assert seen["opened"]
    assert {link.removeprefix("./").split("#")[0] for link in seen["links"]} >= set(ADDRESSES) - {
        "index.html"
    }
    assert seen["followed"]
    assert "CONSOLE" not in log, log


def test_the_search_finds_a_word(site: Path) -> None:
    assert look(site, DESK, TOOLS + SEARCH)[0] is True


def test_tables_of_the_first_pages_fit_beside_the_menus(site: Path) -> None:
    script = TOOLS + TABLES.replace("ADDRESSES", json.dumps(FIRST_PAGES))
    assert look(site, LAPTOP, script)[0] == {address: [] for address in FIRST_PAGES}
    assert any(look(site, PHONE, script)[0].values()), (
        "on a phone some tables are too wide: the script finds them"
    )
