"""report.html: one file with everything in it, that a browser shows without complaint on a phone and on a
desk.
"""

from html.parser import HTMLParser

import pytest

from banditboost.experiments import agreement, report, searches, tables
from tests.browser import look, needs_browser
from tests.experiments import made_up

# Looks at the report, and writes down what it finds.
LOOK = """
frame.onload = () => {
  const page = frame.contentDocument, inside = frame.contentWindow;
  const overhangs = e => e.getBoundingClientRect().right > inside.innerWidth + 1 && !e.closest("thead");
  const wide = [...page.querySelectorAll("body *")].filter(overhangs);
  tell({
    width: inside.innerWidth, scroll: page.documentElement.scrollWidth, wide: wide.map(e => e.tagName),
    requests: inside.performance.getEntriesByType("resource").map(e => e.name),
    pictures: [...page.images].map(e => e.complete && e.naturalWidth > 0),
    stacked: inside.getComputedStyle(page.querySelector("#table1 td")).display,
  });
};
frame.src = "report.html";
"""


class Links(HTMLParser):
    """Every address in a page, and whether the tags are closed in order."""

    VOID = frozenset({"meta", "link", "img", "br"})

    def __init__(self):
        super().__init__()
        self.loaded, self.anchors, self.open = [], [], []

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "srcset", "data"):
                (self.anchors if tag == "a" else self.loaded).append(value)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def text():
    modes = ("text", "ours")
    runs, grid = made_up.paper(seeds=(4, 5), modes=modes), made_up.grid(seeds=(4, 5), modes=modes)
    sheets = [tables.table1(runs), tables.table2(runs), searches.table4(grid)]
    sheets += [agreement.within(runs), agreement.orders(runs)]
    return report.page(report.Report("banditboost reproduce all --out <here>", sheets, runs, grid))


def test_it_is_whole_and_asks_for_nothing(text):
    links = Links()
    links.feed(text)
    assert links.open == []
    assert links.loaded
    assert all(address.startswith("data:") for address in links.loaded)
    assert links.anchors == [report.PAPER]
    assert "@import" not in text
    assert "url(" not in text
    assert "<script" not in text


def test_everything_that_was_asked_for_is_in_it(text):
    assert "$ banditboost reproduce all --out &lt;here&gt;" in text
    assert "a processor with &lt;angle&gt; brackets" in text
    for version in ("0.1.0", "2.1.0", "0.61.0", "3.11.9"):
        assert version in text
    assert text.count("<img ") == 24
    assert text.count("<figcaption>text</figcaption>") == text.count("<figcaption>ours</figcaption>") == 12
    assert text.count("<b>printed</b>") == 12
    assert "n_learners 15, edge 0.1, grace_period 5 to 20" in text
    assert "exploration 0.0001, 0.001, 0.01, 0.1, 0.3" in text
    assert "ours: 2,500 rounds, seeds 4 to 5" in text
    assert "2026-11-16 12:00 UTC" in text


def test_tiles_count_what_is_off():
    sheets = [tables.table1([made_up.record(last=0.9), made_up.record("balance", last=0.98)])]
    text = report.page(report.Report("banditboost reproduce table1", sheets, [made_up.record()]))
    assert "<dt>ours: cells within 0.02 of the paper</dt><dd>1 of 2</dd>" in text
    assert "<dt>ours: cells above / below</dt><dd>0 / 1</dd>" in text
    assert "text: cells" not in text


def test_tiles_count_each_mode():
    records = [made_up.record(last=0.9), made_up.record(last=0.98, mode="text")]
    text = report.page(report.Report("banditboost reproduce table1", [tables.table1(records)], records))
    assert "<dt>text: cells within 0.02 of the paper</dt><dd>1 of 1</dd>" in text
    assert "<dt>ours: cells within 0.02 of the paper</dt><dd>0 of 1</dd>" in text


def test_a_run_that_several_tables_show_is_counted_once():
    runs = made_up.paper(datasets=("car",), seeds=(4,))
    text = report.page(
        report.Report("x", [tables.table1(runs)], runs, others=[*runs, made_up.record(seed=9)])
    )
    assert "<dt>runs</dt><dd>6</dd>" in text


def test_without_a_grid_there_is_no_section_for_it():
    runs = made_up.paper(datasets=("car",), seeds=(4,))
    text = report.page(report.Report("banditboost reproduce table1", [tables.table1(runs)], runs))
    assert 'id="exploration"' not in text
    assert "dotted line" not in text


@needs_browser
@pytest.mark.parametrize(("width", "display"), [(390, "grid"), (1280, "table-cell")], ids=["phone", "desk"])
def test_a_browser_shows_it(text, width, display, tmp_path):
    (tmp_path / "report.html").write_text(text, encoding="utf-8")
    found, log = look(tmp_path, width, LOOK)
    assert found["width"] == width
    assert found["scroll"] <= width
    assert found["wide"] == []
    assert found["requests"] == []
    assert found["pictures"] == [True] * 24
    assert found["stacked"] == display
    assert "CONSOLE" not in log, log


def test_a_record_without_parameters_and_with_odd_facts_has_a_page():
    odd = {**made_up.record(), "machine": {"cores": 10**5000, "nested": {1: {"a": ...}, "b": slice(1)}}}
    task = {name: part for name, part in odd["task"].items() if name != "parameters"}
    page = report.page(report.Report("x", [], [made_up.record(), {**odd, "id": "other", "task": task}]))
    assert "a value of type int" in page
    assert page.count("<dt>cores</dt>") == 2
