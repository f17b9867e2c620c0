"""The README is short, can be read aloud, and begins with what is honest."""

from __future__ import annotations

import re
import statistics

import pytest

from benchmarks.numbers import marks
from tests.docs.pages import DOCS, ROOT, blocks
from tests.docs.test_numbers import FENCE

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")


def sentences() -> list[str]:
    """Of paragraphs: no tables, headings, pictures or lists of links."""
    text = re.sub(r"<!--.*?-->", "", FENCE.sub("", TEXT))
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*\n", text)]
    spoken = [
        part for part in paragraphs if part and not part.startswith(("#", "!", "|")) and " · " not in part
    ]
    return [
        sentence
        for part in spoken
        for sentence in re.split(r"(?<=[.?!:*])\s+(?=[A-Z*`\[])", _without_links(part))
        if sentence
    ]


def _without_links(text: str) -> str:
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)


def test_it_has_at_most_120_lines() -> None:
    assert len(TEXT.splitlines()) <= 120


def test_its_sentences_are_short() -> None:
    lengths = [len(sentence.split()) for sentence in sentences()]
    assert len(lengths) > 20
    assert statistics.fmean(lengths) <= 18
    assert max(lengths) <= 35


def test_its_first_number_is_of_streams_never_played_before() -> None:
    assert marks.names(TEXT)[0] == "peers.fresh"
    assert not re.search(r"\d", TEXT[: TEXT.index("<!-- numbers: peers.fresh")])


def test_it_ends_with_the_test_command() -> None:
    assert TEXT.rstrip().endswith("```")
    assert blocks(README)[-1].text.startswith('pip install -e ".[test]"')


def test_its_examples_use_the_booster_that_we_recommend() -> None:
    examples = "".join(block.text for block in blocks(README) if block.language == "pycon")
    assert "GapBoost(" in examples
    assert "AdaBandit" not in examples


def test_its_words_are_explained_where_they_first_appear() -> None:
    """The first time that a word of ours is used, it is in italics."""
    text = TEXT[TEXT.index("## Start") :]
    for word in ("stream", "round", "verdict"):
        first = re.search(rf"\*?\b{word}\b\*?", text)
        assert first is not None
        assert first[0] == f"*{word}*", word


@pytest.mark.parametrize(
    "page", ["performance.md", "results/peers.md", "results/clicks.md", "results/bakeoff.md"]
)
def test_a_page_of_results_begins_with_a_chart(page: str) -> None:
    parts = [part for part in (DOCS / page).read_text(encoding="utf-8").split("\n\n") if part]
    assert parts[0].startswith("# ")
    assert re.match(r"\[!\[[^]]+\]\([\w/]+\.svg\)\]", parts[1])


def test_the_landing_page_has_a_picture_a_number_and_a_reason() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert (
        text.index("results/clicks.svg")
        < text.index("**A number.**")
        < text.index("**A reason.**")
        < text.index("## ")
    )
    assert marks.names(text[text.index("**A number.**") : text.index("**A reason.**")])


@pytest.mark.parametrize("page", ["index.md", "tutorial.md", "ideas.md"])
def test_words_of_ours_are_explained_on_the_first_pages(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for word in ("round", "verdict", "stream"):
        assert f"*{word}*" in text, word
    assert all(
        f"| {word} |" in (DOCS / "glossary.md").read_text(encoding="utf-8")
        for word in ("round", "verdict", "stream", "greedy label")
    )
