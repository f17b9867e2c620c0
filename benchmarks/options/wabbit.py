"""Vowpal Wabbit's `--cb_explore_adf`: a text for the context and one for each option; the option shown is
drawn by its probabilities.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.options.stream import Numbers, Row, Stream

Settings = Mapping[str, Any]
EXPLORERS: dict[str, tuple[str, ...]] = {
    "--squarecb --gamma_scale 100": ("--squarecb --gamma_scale 1000",),
    "--regcbopt --mellowness 0.01": ("--regcbopt --mellowness 0.001",),
    "--epsilon 0.05": ("--epsilon 0.02",),
    "--bag 5 --greedify": (),
}
"""The first of each kind, and what else is tried of it."""
NONE, PAIRS = "", "-q ua"
TRIPLES, IDS = "-q ua --interactions uua", "-q ua -q ui"
"""Products of the columns of both sides; with pairs of the context's; with the context and the option's id."""
STEPS = (0.5, 0.1, 2.0)


def first() -> list[Settings]:
    """Every explorer with the products of context and option, and costs 1 - reward and -reward."""
    plain = {"estimate": "mtr", "step": STEPS[0], "products": PAIRS}
    return [{**plain, "explorer": e, "most": most} for e in EXPLORERS for most in (0, 1)]


def neighbours(best: Settings) -> list[Settings]:
    """Around the best of the first: the explorer's other parameter, steps, other products, dr."""
    changes: list[Settings] = [{"explorer": e} for e in EXPLORERS[best["explorer"]]]
    changes += [{"step": step} for step in STEPS[1:]]
    changes += [{"products": products} for products in (NONE, TRIPLES, IDS)]
    if "squarecb" not in best["explorer"] and "regcb" not in best["explorer"]:  # these have mtr only
        changes += [{"estimate": "dr"}]
    return [{**best, **change} for change in changes]


def command(settings: Settings) -> str:
    """What follows `vw` on the command line."""
    limits = f"--cb_min_cost {settings['most'] - 1} --cb_max_cost {settings['most']}"
    if "squarecb" not in settings["explorer"] and "regcb" not in settings["explorer"]:
        limits = ""
    how = f"{settings['explorer']} --cb_type {settings['estimate']} -l {settings['step']}"
    return " ".join(f"--cb_explore_adf {how} {limits} {settings['products']} -b 20".split())


def wabbit(stream: Stream, settings: Settings, seed: int) -> Numbers:
    """The places of the options shown."""
    from vowpalwabbit import Workspace

    draw, shown = random.Random(seed), np.empty(len(stream.contexts), np.int64)
    workspace = Workspace(f"{command(settings)} --random_seed {seed} --quiet")
    shared, items = (
        texts(stream.contexts, "u"),
        [f"{text} |i i{n}" for n, text in enumerate(texts(stream.items, "a"))],
    )
    for t, numbers in enumerate(stream.offered.tolist()):
        block = [f"shared {shared[t]}", *(items[n] for n in numbers)]
        chances = workspace.predict("\n".join(block))
        place = draw.choices(range(len(numbers)), chances)[0]
        cost, chance = settings["most"] - stream.rewards[t, place], chances[place] / sum(chances)
        block[1 + place] = f"0:{cost:.6g}:{chance:.6g} {block[1 + place]}"
        workspace.learn("\n".join(block))
        shown[t] = place
    workspace.finish()
    return shown


def texts(rows: Sequence[Row], space: str) -> list[str]:
    """Numbers standardised over all rows (which helps it), texts as names."""
    return [f"|{space} " + " ".join(cells) for cells in standardised(rows, _text)]


def standardised(rows: Sequence[Row], tell: Callable[[str, Any], Any]) -> list[list[Any]]:
    """Every cell as `tell(column, number or text)` says, numbers in units of their deviation from the mean."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    short = {name: f"c{i}" for i, name in enumerate(names)}
    scales = {}
    for name in names:
        column = [row[name] for row in rows if name in row]
        if not isinstance(column[0], str):
            scales[name] = (float(np.mean(column)), float(np.std(column)) or 1.0)

    def cell(name: str, value: Any) -> Any:
        if name not in scales:
            return tell(short[name], str(value))
        mean, unit = scales[name]
        return tell(short[name], (float(value) - mean) / unit)

    return [[cell(name, value) for name, value in row.items()] for row in rows]


def _text(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return f"{name}=" + "".join(letter if letter.isalnum() else "_" for letter in value)
    return f"{name}:{value:.4g}"
