"""Who shows banners: our boosters, Vowpal Wabbit, and three simple rules."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import banditboost
from benchmarks.clicks.visits import BANNERS, Row, half_of_day

Settings = Mapping[str, Any]
SHARE_OF_TEST = 1 / 3
"""An A/B test ends after this share of the visits."""
EPSILON = 0.1
AB_TEST, TABLE = "A/B test", "table of averages"


class Game(Protocol):
    """Somebody who shows banners, one visitor after the other."""

    def show(self, row: Row) -> str: ...

    def hear(self, clicked: bool) -> None:
        """What came of the banner shown last."""


class Booster:
    """One of ours, by `decide` and `learn`."""

    def __init__(self, settings: Settings, seed: int, n_visits: int) -> None:  # noqa: ARG002
        given = dict(settings)
        self._model = getattr(banditboost, given.pop("booster"))(BANNERS, seed=seed, **given)

    def show(self, row: Row) -> str:
        self._decision = self._model.decide(row)
        return str(self._decision.label)

    def hear(self, clicked: bool) -> None:
        self._model.learn(self._decision, correct=clicked)


class Wabbit:
    """Vowpal Wabbit's contextual bandit, a line of text at a time; banners are drawn by its probabilities."""

    def __init__(self, settings: Settings, seed: int, n_visits: int) -> None:  # noqa: ARG002
        from vowpalwabbit import Workspace

        self._settings, self._draw = settings, random.Random(seed)
        self._workspace = Workspace(f"{command(settings)} --random_seed {seed} --quiet")

    def show(self, row: Row) -> str:
        self._line = features(row, self._settings)
        chances = self._workspace.predict(self._line)
        total = sum(chances)
        self._shown = self._draw.choices(range(len(BANNERS)), chances)[0]
        self._chance = chances[self._shown] / total
        return BANNERS[self._shown]

    def hear(self, clicked: bool) -> None:
        cost = self._settings["costs"][int(clicked)]
        self._workspace.learn(f"{self._shown + 1}:{cost}:{self._chance} {self._line}")


def command(settings: Settings) -> str:
    """What follows `vw` on the command line."""
    pairs = " -q ::" if settings["pairs"] else ""
    low, high = min(settings["costs"]), max(settings["costs"])
    limits = f"--cb_min_cost {low} --cb_max_cost {high}"
    return f"--cb_explore {len(BANNERS)} {settings['explorer']} -l {settings['step']} --cb_type {settings['estimate']} {limits}{pairs}"


def features(row: Row, settings: Settings) -> str:
    """A row in Vowpal Wabbit's format; the hour as a number from 0 to 1, or as one name of 24."""
    hour = f"hour={row['hour']}" if settings["hour"] == "name" else f"hour:{row['hour'] / 23:.4f}"
    return f"|f device={row['device']} {hour}"


class Guess:
    """Any banner, each as often as the others."""

    def __init__(self, settings: Settings, seed: int, n_visits: int) -> None:  # noqa: ARG002
        self._draw = random.Random(seed)

    def show(self, row: Row) -> str:  # noqa: ARG002
        return self._draw.choice(BANNERS)

    def hear(self, clicked: bool) -> None:
        """Learns nothing."""


class Averages:
    """Counts clicks of every banner; `_key` says which visitors are counted together."""

    def __init__(self, settings: Settings, seed: int, n_visits: int) -> None:  # noqa: ARG002
        self._draw, self._test, self._seen = random.Random(seed), SHARE_OF_TEST * n_visits, 0
        self._counts: dict[tuple[str, str], list[int]] = {}

    def _best(self, key: str) -> str:
        return max(BANNERS, key=lambda banner: self._average(key, banner))

    def _average(self, key: str, banner: str) -> float:
        clicks, shown = self._counts.get((key, banner), (0, 0))
        return clicks / max(1, shown)

    def _note(self, key: str, banner: str) -> str:
        self._last = key, banner
        return banner

    def hear(self, clicked: bool) -> None:
        count = self._counts.setdefault(self._last, [0, 0])
        count[0] += clicked
        count[1] += 1


class Test(Averages):
    """An A/B test: banners at random for a third of the visits, then the one with most clicks, for everybody."""

    def show(self, row: Row) -> str:  # noqa: ARG002
        self._seen += 1
        return self._note("", self._draw.choice(BANNERS) if self._seen <= self._test else self._best(""))


class Table(Averages):
    """Averages for each device and half of the day. It is told where the day divides; the others are not."""

    def show(self, row: Row) -> str:
        key = f"{row['device']} {half_of_day(row['hour'])}"
        return self._note(
            key, self._draw.choice(BANNERS) if self._draw.random() < EPSILON else self._best(key)
        )


@dataclass(frozen=True)
class Player:
    """Who plays, and the settings that it is tuned over."""

    name: str
    game: Callable[[Settings, int, int], Game]
    grid: Sequence[Settings] = ({},)


EXPLORERS = {
    "VW epsilon": ("--epsilon 0.02", "--epsilon 0.05", "--epsilon 0.1"),
    "VW squarecb": tuple(f"--squarecb --gamma_scale {scale}" for scale in (10, 100, 1000)),
    "VW regcb": ("--regcbopt --mellowness 0.01", "--regcbopt --mellowness 0.001"),
    "VW bag": ("--bag 5 --greedify",),
}
ESTIMATES = {
    "VW epsilon": ("mtr", "dr", "dm"),
    "VW squarecb": ("mtr",),
    "VW regcb": ("mtr",),
    "VW bag": ("mtr", "dr", "dm"),
}
"""How costs are estimated (`--cb_type`), as far as an explorer leaves a choice."""


def _wabbit_grid(name: str) -> list[Settings]:
    keys = ("explorer", "estimate", "pairs", "hour", "step", "costs")
    choices = (
        EXPLORERS[name],
        ESTIMATES[name],
        (False, True),
        ("number", "name"),
        (0.5, 0.1, 0.02),
        ([0, -1], [1, 0]),
    )
    return [dict(zip(keys, values, strict=True)) for values in product(*choices)]


def players() -> list[Player]:
    """GapBoost has its defaults; those with a grid of more than one setting are tuned."""
    rates = (0.01, 0.03, 0.1, 0.3)
    ours = [
        Player("GapBoost", Booster, ({"booster": "GapBoost"},)),
        Player("AdaBandit", Booster, [{"booster": "AdaBandit", "exploration": rate} for rate in rates]),
    ]
    wabbits = [Player(name, Wabbit, _wabbit_grid(name)) for name in EXPLORERS]
    return [*ours, *wabbits, Player(TABLE, Table), Player(AB_TEST, Test), Player("guessing", Guess)]
