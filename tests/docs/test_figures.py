"""Figures show what is true, and the picture of the terminal changes only with the program."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from types import ModuleType

import numpy as np
import pytest

from tests.docs.pages import DOCS

PAGES_WITH_FIGURES = ("ideas.md", "architecture.md", "guide-logs.md")


def load(name: str) -> ModuleType:
    """A script of docs/, which finds the others beside it."""
    if str(DOCS) not in sys.path:
        sys.path.append(str(DOCS))
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def draw() -> ModuleType:
    return load("draw")


@pytest.mark.parametrize("right", range(4))
def test_the_mean_of_the_estimates_is_the_right_label(draw: ModuleType, right: int) -> None:
    probabilities, told = draw.estimates(right=right)
    assert sum(probabilities) == pytest.approx(1.0)
    assert np.average(told, axis=0, weights=probabilities) == pytest.approx(np.eye(4)[right], abs=1e-12)


def test_the_page_says_the_numbers_of_the_figure(draw: ModuleType) -> None:
    probabilities, told = draw.estimates()
    text = (DOCS / "ideas.md").read_text(encoding="utf-8")
    assert f"A is shown with probability {probabilities[0]:g}" in text
    assert f"B is shown with probability {probabilities[1]:.3f}" in text
    assert f"C or D is shown with probability {2 * probabilities[2]:.3f}" in text
    assert f"C and D are charged with {told[1][2]:g}" in text


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plays 3,000 rounds")
def test_the_page_says_what_the_experts_say(draw: ModuleType) -> None:
    model, memo = draw.divided_committee()
    said = [model.labels[label] for label in draw.vote_sums(model, memo).argmax(axis=1)]
    assert said == ["acc"] * 8 + ["unacc"] * 2
    assert "the first eight experts say *acc*, the last two *unacc*" in (DOCS / "ideas.md").read_text(
        encoding="utf-8"
    )


def test_probability_falls_with_the_gap(draw: ModuleType) -> None:
    assert draw.gap_probability(0.0, 0.0, 100) == 0.5
    chances = [draw.gap_probability(gap, 0.5, 100) for gap in (0.1, 0.5, 1.0)]
    assert chances == sorted(chances, reverse=True)


def test_every_figure_is_there_and_shown(draw: ModuleType) -> None:
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in PAGES_WITH_FIGURES)
    shown = set(re.findall(r"!\[[^]]*\]\(figures/(\w+)\.svg\)", text))
    assert shown == set(draw.FIGURES)
    assert all((DOCS / f"figures/{figure}.svg").exists() for figure in shown)


def test_the_picture_of_the_terminal_holds_nothing_that_was_measured() -> None:
    pytest.importorskip("rich", reason="the picture is made with the extra cli")
    record = load("record")
    first, again = (
        f"\x1b[1mGapBoost on car\x1b[0m\n\x1b[2mspeed   \x1b[0m {rate} rounds per second\n"
        for rate in (11, 22)
    )
    told = [record.draw(record.repeatable(text), "run car", 84) for text in (first, again)]
    assert told[0] == told[1]
    assert "GapBoost" in record.repeatable(first)
    for name in record.PICTURES:
        assert "per&#160;second" not in (record.FIGURES / name).read_text(encoding="utf-8")


def test_the_picture_of_evaluate_says_what_the_guide_says() -> None:
    """Of a log that the guide makes."""
    page = (DOCS / "guide-logs.md").read_text(encoding="utf-8")
    picture = (DOCS / "figures/evaluate-clicks.svg").read_text(encoding="utf-8").replace("&#160;", " ")
    times = re.search(r"^It earns ([\d.]+) times as much, at least ([\d.]+) times\.$", page, re.MULTILINE)
    assert times is not None
    assert f"GapBoost earns {times[1]} times as much as the log itself, at least {times[2]} times" in picture
    assert "banditboost " + load("record").EVALUATE in page
