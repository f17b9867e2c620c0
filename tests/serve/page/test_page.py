"""The page in a real browser, with a service that is asked all the time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from banditboost.serve.health import Health, Part
from banditboost.serve.http.app import create_app
from banditboost.serve.http.auth import hash_of
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Key, ModelSettings, ServiceSettings
from tests.browser import CONTRAST, needs_browser
from tests.chromium import Page, browsing
from tests.serve.http.memory import MemoryService
from tests.serve.page.playing import NEWS, site
from tests.serve.serving import serving

pytestmark = needs_browser
HOSTILE = "<img src=x onerror=hacked=1>\u202e"
LABELS = ["<script>hacked=1</script>", "\u202edesrever\u202c", "red\u0000\u001b[31m", "x" * 200]
MODELS = {
    "news": NEWS,
    HOSTILE: ModelSettings(labels=LABELS, seed=1, control=0.5),
    "shop": ModelSettings(learner="OptionBoost", seed=1),
    "new": ModelSettings(labels=["a", "b"], seed=1),
}
WIDTHS = (320, 390, 800, 1400)


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browsing() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("store")
    with site(folder, ServiceSettings(models=MODELS), {"news": (200, 150)}, past=3_000, pause=0.02) as told:
        with httpx.Client(base_url=f"{told}/v1/models/{quote(HOSTILE)}") as client:
            for number in range(12):
                features = {"<b>bold</b>\u202e": "</script><script>hacked=1</script>", "n": number}
                decided = client.post("/decisions", json={"features": features, "ranking": 4}).json()
                client.post(f"/decisions/{decided['id']}/verdict", json={"correct": number % 2 == 0})
        yield told


@pytest.fixture(autouse=True)
def nothing_foreign_and_no_complaints(page: Page) -> Iterator[None]:
    page.requests.clear()
    page.complaints.clear()
    page.look(1400)
    yield
    page.run("1")
    assert [
        one for one in page.requests if not one.startswith(("http://127.0.0.1:", "about:", "data:"))
    ] == []
    assert page.complaints == []


def opened(page: Page, address: str, model: str) -> None:
    """The page of a model, with all its pictures."""
    page.open(f"{address}/#/{quote(model, safe='')}")
    page.until("!!document.querySelector('.tiles > div')")


def decisions(page: Page) -> int:
    tiles = "[...document.querySelectorAll('.tiles > div')]"
    found = page.run(
        f"{tiles}.find(e => e.textContent.startsWith('Decisions')).querySelector('dd').textContent"
    )
    return int(found.replace(",", ""))


def test_it_moves_and_can_be_paused(page: Page, address: str) -> None:
    opened(page, address, "news")
    page.run("document.querySelector('[value=\"10 minutes\"]').click()")
    before, drawn = decisions(page), page.run("document.querySelector('.plot').innerHTML")
    tile = "[...document.querySelectorAll('.tiles dd')].some(e => Number(e.textContent.replace(',', '')) > "
    page.until(f"{tile}{before + 20})")
    assert page.run("document.querySelector('.plot').innerHTML") != drawn
    page.run("document.getElementById('pause').click()")
    asked = "performance.getEntriesByType('resource').filter(e => e.name.includes('statistics')).length"
    page.run("new Promise(done => setTimeout(done, 500))")
    now = page.run(asked)
    page.run("new Promise(done => setTimeout(done, 2500))")
    assert page.run(asked) == now
    page.run("document.getElementById('pause').click()")
    page.until(f"{asked} > {now}")


def test_there_is_something_to_see_of_a_model_of_one_minute(page: Page, tmp_path: Path) -> None:
    """Lines, not a dot in the middle; each time on an axis once. Somebody who chooses an hour sees it."""
    texts = "[...document.querySelectorAll('.plot')].map(e => [...e.querySelectorAll('text')].map(t => t.textContent))"
    chosen = "document.querySelector('[name=span]:checked')?.value"
    with site(tmp_path, ServiceSettings(models={"news": NEWS}), {"news": (60, None)}, past=60.0) as address:
        opened(page, address, "news")
        assert page.run(chosen) == "10 minutes"
        page.until("!!document.querySelector('.plot .line.model')")
        page.run("document.querySelector('[value=hour]').click()")
        page.until(f"{chosen} === 'hour' && !!document.querySelector('.plot text')")
        page.run("new Promise(done => setTimeout(done, 2500))")
        assert page.run(chosen) == "hour"
        for shown in page.run(texts):
            assert len(set(shown)) == len(shown) > 2, shown
        page.open("about:blank")
    with site(
        tmp_path / "old", ServiceSettings(models={"news": NEWS}), {"news": (60, None)}, past=3e3
    ) as old:
        opened(page, old, "news")
        assert page.run(chosen) == "hour"
        page.open("about:blank")


def test_what_is_not_all_does_not_read_like_it(page: Page, address: str) -> None:
    opened(page, address, "new")
    told = page.run(
        "import('/page/wording.js').then(m => [[1, 1], [0.99976, 1], [0.0004, 1], [0, 1], [0.5, 0], [0.997, 0]]"
        ".map(([share, digits]) => m.percent(share, digits)))"
    )
    assert told == ["100.0 %", "> 99.9 %", "< 0.1 %", "0.0 %", "50 %", "> 99 %"]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("model", [*MODELS, ""])
def test_nothing_sticks_out_and_all_can_be_read(page: Page, address: str, model: str, dark: bool) -> None:
    page.look(1400, dark=dark)
    page.open(f"{address}/#/{quote(model, safe='')}")
    page.until("!!document.querySelector('.tiles > div, .empty') && !!document.querySelector('#names li')")
    if model:
        page.until("!!document.querySelector('.tiles > div')")
    page.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    page.run(f"globalThis.contrast ??= (() => {{ {CONTRAST}; return contrast; }})(); 1")
    assert page.run("getComputedStyle(document.body).backgroundColor !== 'rgb(244, 245, 248)'") is dark
    for width in WIDTHS:
        page.look(width, dark=dark)
        page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        assert page.run("document.documentElement.scrollWidth") <= width
        assert page.run(STICKS_OUT) == []
        assert page.run(FAINT) == []


STICKS_OUT = """(() => {
  const scrolls = e => e && e !== document.body
    && (getComputedStyle(e).overflowX !== "visible" || scrolls(e.parentElement));
  return [...document.querySelectorAll("body *")]
    .filter(e => e.getClientRects().length && !e.closest(".skip, .unseen, .tip"))
    .filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement))
    .map(e => e.outerHTML.slice(0, 120));
})()"""
FAINT = """(() => {
  const isRead = e => [...e.childNodes].some(c => c.nodeType === 3 && c.data.trim())
    && e.getClientRects().length && !e.closest(".skip, .unseen, .tip, svg, option, noscript");
  return [...document.querySelectorAll("body *")].filter(isRead)
    .filter(e => contrast(e) < 4.5).map(e => `${contrast(e).toFixed(2)} ${e.outerHTML.slice(0, 120)}`);
})()"""


def test_hostile_names_are_only_text(page: Page, address: str) -> None:
    opened(page, address, HOSTILE)
    page.run("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert page.run("typeof hacked") == "undefined"
    assert (
        page.run("document.querySelectorAll('#model script, #model img, #models img, #model b b').length")
        == 0
    )
    text = page.run("document.body.innerText")
    for shown in (
        "<script>hacked=1</script>",
        "\\u202edesrever\\u202c",
        "red\\u0000\\u001b[31m",
        "<img src=x onerror",
    ):
        assert shown in text
    hidden = [letter for letter in text if not letter.isprintable() and letter not in "\n\t"]
    assert hidden == []
    assert page.run("document.title").startswith("<img src=x onerror=hacked=1>\\u202e")


def test_all_can_be_done_by_keyboard(page: Page, address: str) -> None:
    page.open(f"{address}/#/new")
    page.until("!!document.querySelector('.tiles > div')")
    page.press("Tab")
    assert page.run("document.activeElement.className") == "skip"
    page.press("Enter")
    page.until("document.activeElement.id === 'main'")
    page.run("document.getElementById('search').focus()")
    page.write("EWS")
    page.until("document.querySelectorAll('#names a').length === 1")
    page.press("Tab")
    assert page.run("document.activeElement.textContent") == "news"
    page.press("Enter")
    page.until("document.querySelector('h1')?.textContent === 'news'")
    page.run("document.querySelector('[name=span]:checked').focus()")
    page.press("ArrowRight")
    page.until("document.querySelector('[name=span]:checked').value === 'day'")
    page.press("Tab")
    assert page.run("document.activeElement.getAttribute('aria-label')").startswith("Mean reward. So far 0.")
    page.press("End")
    said = page.until("document.querySelector('figure .unseen').textContent")
    assert ", model 0." in said
    assert "decisions" in said
    assert page.run("!!document.querySelector('.tip.shown')")
    page.press("Escape")
    assert not page.run("!!document.querySelector('.tip.shown')")
    page.press("Tab")
    page.press("Enter")
    rows = page.until("document.querySelectorAll('figure tbody tr').length")
    assert rows == page.run("document.querySelectorAll('figure .dot.now').length")


def test_who_cannot_see_it_is_told_what_everything_is(page: Page, address: str) -> None:
    opened(page, address, "news")
    tree = page.call("Accessibility.getFullAXTree")["nodes"]
    for node in tree:
        role = node.get("role", {}).get("value")
        if role in (
            "button",
            "link",
            "textbox",
            "searchbox",
            "radio",
            "spinbutton",
            "meter",
            "img",
            "figure",
            "dialog",
        ):
            named = node.get("name", {}).get("value", "") or role == "figure"
            assert named or node.get("ignored"), node
    assert page.run("document.documentElement.lang") == "en"
    levels = page.run(
        "[...document.querySelectorAll('h1,h2,h3')].filter(e => e.getClientRects().length).map(e => e.tagName)"
    )
    assert levels[0] == "H1"
    assert levels.count("H1") == 1


def test_a_decision_is_tried_and_its_verdict_told(page: Page, address: str) -> None:
    opened(page, address, "new")
    page.run(
        "document.getElementById('features').value = '{'; document.querySelector('form button.main').click()"
    )
    said = "document.querySelector('.said').textContent"
    assert "Features are no JSON" in page.until(said)
    page.run("document.getElementById('features').focus()")
    page.run("document.getElementById('features').value = ''")
    page.write('{"hour": 21}')
    page.run("[...document.querySelectorAll('button')].find(e => e.textContent === 'Decide').click()")
    page.until(f"{said}.startsWith('Decided')")
    assert page.run("document.querySelectorAll('.answer .places li').length") == 2
    page.run("[...document.querySelectorAll('button')].find(e => e.textContent === 'Right').click()")
    page.until(f"{said} === 'The verdict: learned.'")
    page.run("[...document.querySelectorAll('button')].find(e => e.textContent === 'Wrong').click()")
    page.until(f"{said} === 'The verdict: duplicate.'")
    page.until("document.querySelector('.decision')?.textContent.includes('1.00 learned')")


def test_options_come_with_the_try(page: Page, address: str) -> None:
    opened(page, address, "shop")
    page.run("document.getElementById('features').value = '{\"hour\": 3}'")
    page.run('document.getElementById(\'options\').value = \'{"a": {"price": 1}, "b": {"price": 2}}\'')
    page.run("[...document.querySelectorAll('button')].find(e => e.textContent === 'Decide').click()")
    page.until("document.querySelector('.said').textContent.startsWith('Decided')")
    assert page.run("document.querySelectorAll('.answer .places li').length") == 2


def test_a_key_is_asked_for_and_stays_in_the_tab(page: Page, tmp_path: Path) -> None:
    keys = [Key(hash=hash_of("secret"), roles=["read"])]
    with site(tmp_path, ServiceSettings(models={"new": MODELS["new"]}, keys=keys), {}) as address:
        page.open(f"{address}/#/new")
        page.until("document.getElementById('keys')?.open")
        assert all("401" in complaint for complaint in page.complaints)
        page.complaints.clear()
        page.run("document.getElementById('secret').focus()")
        page.write("secret")
        page.press("Enter")
        page.until("!!document.querySelector('.tiles > div')")
        assert page.run("Object.values(sessionStorage).includes('secret')")
        assert page.run("localStorage.length + document.cookie.length") == 0
        assert "secret" not in json.dumps(page.requests)
        page.complaints.clear()


class ManyModels(MemoryService):
    """A service of ten thousand customers."""

    def __init__(self) -> None:
        super().__init__()
        self.models = {f"customer-{i:05d}": ModelSettings(labels=["a"]) for i in range(10_000)}
        self.told = Health()

    def health(self) -> Health:
        return self.told


def test_ten_thousand_models_are_searched_and_shown_in_pages(page: Page) -> None:
    with serving(create_app(ManyModels())) as address:
        page.open(address)
        page.until("document.querySelectorAll('#names a').length === 100")
        page.run("document.getElementById('more').click()")
        page.until("document.querySelectorAll('#names a').length === 200")
        page.run("document.getElementById('search').focus()")
        page.write("09987")
        page.until("document.querySelectorAll('#names a').length === 1")
        page.until("document.getElementById('found').textContent === '1 model'")
        assert page.run("document.querySelector('#names a').textContent") == "customer-09987"


def test_what_is_wrong_is_said(page: Page) -> None:
    service = ManyModels()
    with serving(create_app(service)) as address:
        service.told = Health(ready=False, parts={"store": Part(False, "full: make room")})
        service.refusal = ServiceError(503, "store-full", "the disk is full; make room", retry_after=5.0)
        page.open(f"{address}/#/customer-00001")
        page.until("document.getElementById('trouble')?.textContent === 'the disk is full; make room'")
        chip: Any = page.until("document.querySelector('#health.bad')?.textContent")
        assert chip == "not ready \u2013 store: full: make room"
        page.run("1")
        assert all("503" in complaint for complaint in page.complaints)
        page.complaints.clear()
