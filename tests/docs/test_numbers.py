"""Numbers on pages come from records, and are those of the records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import charts
from benchmarks.numbers import charts_of_pages, marks
from benchmarks.numbers.__main__ import main, marked_pages, outdated
from benchmarks.numbers.values import VALUES
from tests.docs.pages import DOCS, ROOT

FILLED = [ROOT / "README.md", *(DOCS / page for page in ("index.md", "performance.md", "faq.md"))]
# Not measured: what examples, settings and names say.
GIVEN = {
    "README.md": {"2019"},
    "index.md": {"2019"},
    "performance.md": {"26"},
    "faq.md": {"0", "1", "(3)", "(4)", "95"},
}
ONE_LINE = re.compile(r"^ {0,3}<!-- numbers: [\w.-]+ -->.*<!-- /numbers -->", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """Without what comes from records, and without examples, commands and addresses."""
    text = FENCE.sub("", marks.without(text))
    text = re.sub(r"`[^`]*`", "", text)
    return re.sub(r"\]\([^)]*\)|<!--.*?-->", "]", text)


def unmarked(text: str) -> set[str]:
    return set(re.findall(r"\(\d\)|(?<![\w.-])\d[\d,.]*\d|(?<![\w.-])\d", prose(text)))


def test_pages_and_charts_say_what_the_records_say() -> None:
    assert [str(path.relative_to(ROOT)) for path in outdated()] == [], "run `make numbers`"


def test_every_value_is_on_a_page() -> None:
    asked = {name for page in marked_pages() for name in marks.names(page.read_text(encoding="utf-8"))}
    assert set(VALUES) == asked


@pytest.mark.parametrize("page", FILLED, ids=lambda page: page.name)
def test_no_measured_number_is_typed_by_hand(page: Path) -> None:
    assert unmarked(page.read_text(encoding="utf-8")) == GIVEN[page.name]


def test_a_number_typed_by_hand_is_found() -> None:
    text = "It makes 219,000 rounds, <!-- numbers: a -->5 of 6<!-- /numbers --> "
    text += "or 0.5 by `f(7)` of [it](b8.md).\n```sh\n9\n```\n"
    assert unmarked(text) == {"219,000", "0.5"}


@pytest.mark.parametrize("page", list(marked_pages()), ids=lambda page: page.name)
def test_no_line_begins_with_a_number(page: Path) -> None:
    """A comment at the beginning of a line ends the paragraph for Python-Markdown, which makes the site."""
    assert ONE_LINE.findall(page.read_text(encoding="utf-8")) == []


def test_values_are_put_between_their_marks() -> None:
    values = {"a.few": lambda: "3 of 4", "a.table": lambda: "| x |\n| - |"}
    text = "on <!-- numbers: a.few -->old<!-- /numbers --> streams\n\n"
    text += "<!-- numbers: a.table -->\n<!-- /numbers -->\n"
    filled = marks.fill(text, values)
    assert "on <!-- numbers: a.few -->3 of 4<!-- /numbers --> streams" in filled
    assert "<!-- numbers: a.table -->\n| x |\n| - |\n<!-- /numbers -->" in filled
    assert marks.fill(filled, values) == filled
    assert marks.names(text) == ["a.few", "a.table"]


def test_an_unknown_value_is_refused() -> None:
    with pytest.raises(marks.UnknownNumberError, match=r"no value is called 'b': choose from a"):
        marks.fill("<!-- numbers: b --><!-- /numbers -->", {"a": lambda: "1"})


def test_check_fails_when_a_page_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VALUES, "peers.fresh", lambda: "16 of 15")
    with pytest.raises(
        SystemExit, match=r"README.md, docs/index.md: not what the records say; run `make numbers`"
    ):
        main(["--check"])


def test_a_chart_of_other_numbers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    path, (draw, _) = next(iter(charts_of_pages.CHARTS.items()))
    monkeypatch.setitem(charts_of_pages.CHARTS, path, (draw, lambda: {"other": 1}))
    assert charts_of_pages.outdated() == [path]


def test_a_chart_is_the_same_when_it_is_drawn_again(tmp_path: Path) -> None:
    draw, numbers = charts_of_pages.CHARTS[DOCS / "results/speed.svg"]
    first, again = (charts.save(draw, numbers(), tmp_path / f"{i}.svg") for i in range(2))
    assert first.read_bytes() == again.read_bytes()
