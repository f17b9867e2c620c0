"""Who shows options: GapBoost with its defaults, and Vowpal Wabbit's explorers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from banditboost import GapBoost, play
from benchmarks.rewards.streams import Row, Stream

Settings = Mapping[str, Any]
Shown = NDArray[np.int64]


def gap_boost(stream: Stream, settings: Settings, seed: int) -> Shown:  # noqa: ARG001
    model = GapBoost(range(stream.rewards.shape[1]), seed=seed)
    return np.asarray(play(model, stream.rows, rewards=stream.rewards).shown, np.int64)


def rounded(stream: Stream, settings: Settings, seed: int) -> Shown:  # noqa: ARG001
    """GapBoost that hears verdicts only, right with the probability that a reward says."""
    luck = np.random.default_rng(seed).random(stream.rewards.shape)
    model = GapBoost(range(stream.rewards.shape[1]), seed=seed)
    heard = (luck < stream.rewards).astype(np.float64)
    return np.asarray(play(model, stream.rows, rewards=heard).shown, np.int64)


def guess(stream: Stream, settings: Settings, seed: int) -> Shown:  # noqa: ARG001
    return np.random.default_rng(seed).integers(stream.rewards.shape[1], size=len(stream.rows))


def wabbit(stream: Stream, settings: Settings, seed: int) -> Shown:
    """A line of text at a time; options are drawn by its probabilities. Costs are 1 - reward or -reward."""
    from vowpalwabbit import Workspace

    draw, shown = random.Random(seed), np.empty(len(stream.rows), np.int64)
    workspace = Workspace(f"{command(settings, stream.rewards.shape[1])} --random_seed {seed} --quiet")
    options, most = range(stream.rewards.shape[1]), settings["most"]
    for t, line in enumerate(lines(stream.rows)):
        chances = workspace.predict(line)
        label = draw.choices(options, chances)[0]
        cost = most - stream.rewards[t, label]
        workspace.learn(f"{label + 1}:{cost:.6g}:{chances[label] / sum(chances):.6g} {line}")
        shown[t] = label
    workspace.finish()
    return shown


def wabbit_adf(stream: Stream, settings: Settings, seed: int) -> Shown:
    """With a line for each option, which has its number for a feature: all options have one regression."""
    from vowpalwabbit import Workspace

    draw, shown = random.Random(seed), np.empty(len(stream.rows), np.int64)
    workspace = Workspace(f"{adf_command(settings)} --random_seed {seed} --quiet")
    options, most = range(stream.rewards.shape[1]), settings["most"]
    for t, line in enumerate(lines(stream.rows)):
        chances = workspace.predict([f"shared {line}", *(f"|o n={i}" for i in options)])
        label = draw.choices(options, chances)[0]
        told = f"0:{most - stream.rewards[t, label]:.6g}:{chances[label] / sum(chances):.6g} "
        workspace.learn([f"shared {line}", *(f"{told if i == label else ''}|o n={i}" for i in options)])
        shown[t] = label
    workspace.finish()
    return shown


def adf_command(settings: Settings) -> str:
    """As `command`, for a line for each option."""
    pairs = " --interactions ffo" if settings["pairs"] else ""
    limits = f"--cb_min_cost {settings['most'] - 1} --cb_max_cost {settings['most']}"
    how = f"{settings['explorer']} --cb_type {settings['estimate']} -l {settings['step']}"
    return f"--cb_explore_adf {how} {limits} -q fo{pairs} -b 20"


def command(settings: Settings, n_options: int) -> str:
    """What follows `vw` on the command line."""
    pairs = " -q ff" if settings["pairs"] else ""
    limits = f"--cb_min_cost {settings['most'] - 1} --cb_max_cost {settings['most']}"
    how = f"{settings['explorer']} --cb_type {settings['estimate']} -l {settings['step']}{settings.get('rest', '')}"
    return f"--cb_explore {n_options} {how} {limits}{pairs} -b 20"


def lines(rows: Sequence[Row]) -> list[str]:
    """Numbers standardised over the whole stream (which helps it), texts as names."""
    names = {name for row in rows for name, value in row.items() if isinstance(value, float)}
    columns = {name: np.array([row.get(name, np.nan) for row in rows], float) for name in names}
    scales = {name: (np.nanmean(c), np.nanstd(c) or 1.0) for name, c in columns.items()}
    short = {name: f"c{i}" for i, name in enumerate(sorted({name for row in rows for name in row}))}

    def cell(name: str, value: Any) -> str:
        if name not in names:
            return f"{short[name]}={abs(hash_of(value))}"
        mean, unit = scales[name]
        return f"{short[name]}:{(value - mean) / unit:.4g}"

    return ["|f " + " ".join(cell(name, value) for name, value in row.items()) for row in rows]


def hash_of(text: str) -> int:
    """A number that is the same in every process."""
    return sum(ord(letter) * 31**place for place, letter in enumerate(text)) % 1_000_003


def no_others(best: Settings) -> Sequence[Settings]:  # noqa: ARG001
    return ()


@dataclass(frozen=True)
class Player:
    """Who plays, and the settings that it is tuned over, on a seed of its own."""

    name: str
    play: Callable[[Stream, Settings, int], Shown]
    first: Sequence[Settings] = ({},)
    neighbours: Callable[[Settings], Sequence[Settings]] = no_others
    """The best of the first -> what else is tried."""


EXPLORERS = {
    "--squarecb --gamma_scale 100": ("--squarecb --gamma_scale 10", "--squarecb --gamma_scale 1000"),
    "--regcbopt --mellowness 0.01": ("--regcbopt --mellowness 0.001",),
    "--epsilon 0.05": ("--epsilon 0.02", "--epsilon 0.1"),
    "--bag 5 --greedify": (),
}
"""The first of each kind, and what else is tried of it."""
PLAIN, ADF = "Vowpal Wabbit", "Vowpal Wabbit, adf"
STEPS = (0.5, 0.1, 0.02, 2.0)


def _first() -> list[Settings]:
    plain = {"estimate": "mtr", "step": STEPS[0], "most": 1}
    return [{**plain, "explorer": e, "pairs": pairs} for e, pairs in product(EXPLORERS, (False, True))]


def _neighbours(best: Settings) -> list[Settings]:
    others = EXPLORERS[best["explorer"]]
    changes: list[Settings] = [{"explorer": e} for e in others] + [{"step": step} for step in STEPS[1:]]
    changes += [{"most": most, "step": step} for most, step in product((0,), STEPS[:3])]
    if "squarecb" not in best["explorer"] and "regcb" not in best["explorer"]:  # these have mtr only
        changes += [{"estimate": "dr", "step": step} for step in STEPS[:3]]
    return [{**best, **change} for change in changes]


def _first_of_adf() -> list[Settings]:
    """Squarecb and regcb have mtr only; dr is tried with epsilon."""
    kinds = [*(("mtr", explorer) for explorer in list(EXPLORERS)[:2]), ("dr", "--epsilon 0.05")]
    return [
        {"estimate": estimate, "step": STEPS[0], "most": 1, "explorer": explorer, "pairs": pairs}
        for (estimate, explorer), pairs in product(kinds, (False, True))
    ]


def _beside(best: Settings) -> list[Settings]:
    others = EXPLORERS[best["explorer"]]
    return [
        {**best, **change} for change in (*({"explorer": e} for e in others), {"step": 0.1}, {"step": 2.0})
    ]


def players() -> list[Player]:
    """GapBoost has its defaults."""
    ours = [Player("GapBoost", gap_boost), Player("GapBoost, verdicts", rounded), Player("guessing", guess)]
    peers = [Player(PLAIN, wabbit, _first(), _neighbours), Player(ADF, wabbit_adf, _first_of_adf(), _beside)]
    return [*ours, *peers]
