"""`python docs/draw.py` (`make docs`): the figures of docs/ideas.md, docs/architecture.md and docs/guide-logs.md.

What is computed in them is computed by the package.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from example_log import run_examples
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from banditboost import AdaBandit, AdaFull, GapBoost, datasets, play
from banditboost.boosting.estimate import estimate_loss
from banditboost.boosting.exploration import label_probability
from banditboost.boosting.gap.choose import GAMMA_WITH_HOPE, weigh_labels
from banditboost.cli.running_values import running_values
from banditboost.memo import VOTES

FOLDER = Path(__file__).parent / "figures"
INK, SOFT, PAPER = "#22303c", "#8a97a3", "#fcfcfa"
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"  # Okabe and Ito's palette
LABEL_COLOURS = (BLUE, ORANGE, GREEN, PINK)
# A sheet of paper of their own: readable on a light page and on a dark one.
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "legend.frameon": False,
    "figure.constrained_layout.h_pad": 0.12,
    "figure.constrained_layout.w_pad": 0.12,
    "svg.hashsalt": "banditboost",
}


def box(
    axes: Axes, x: float, y: float, width: float, text: str, colour: str = INK, height: float = 0.8
) -> None:
    """A rounded box around its text, its left middle at (x, y)."""
    patch = FancyBboxPatch(
        (x, y - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.12",
        fc="white",
        ec=colour,
        lw=1.4,
    )
    axes.add_patch(patch)
    axes.text(x + width / 2, y, text, ha="center", va="center", fontsize=9)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], *, dashed: bool = False) -> None:
    style = {
        "arrowstyle": "-|>",
        "color": INK,
        "lw": 1.2,
        "linestyle": "--" if dashed else "-",
        "shrinkA": 0,
        "shrinkB": 1,
    }
    axes.annotate("", xy=end, xytext=start, arrowprops=style)


def canvas(width: float, height: float, inches: float = 9.0) -> tuple[Figure, Axes]:
    """Empty paper of width x height units."""
    figure = Figure(figsize=(inches, inches * height / width))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(0, height)
    axes.axis("off")
    return figure, axes


def draw_loop() -> Figure:
    """The way of a visitor through a page that asks a model, and the way back of the click."""
    figure, axes = canvas(15, 4.6)
    there = [
        ("a visitor comes:\nhour, device, ...", 3.4, INK),
        ("model.decide(x)", 3.2, BLUE),
        ("one label is shown,\nwith a known probability", 4.2, GREEN),
    ]
    x = 0.4
    for number, (text, width, colour) in enumerate(there):
        box(axes, x, 3.6, width, text, colour, 1.1)
        if number < len(there) - 1:
            arrow(axes, (x + width, 3.6), (x + width + 1.7, 3.6))
        x += width + 1.7
    box(axes, 10.4, 1.1, 4.2, "a click, or silence:\nthe verdict, one bit", GREEN, 1.1)
    arrow(axes, (12.5, 3.05), (12.5, 1.65), dashed=True)
    axes.text(
        12.3,
        2.35,
        "the Decision waits in your store,\na second or a day",
        ha="right",
        va="center",
        fontsize=9,
    )
    box(axes, 3.3, 1.1, 5.4, "model.learn(decision, correct)", BLUE, 1.1)
    arrow(axes, (10.4, 1.1), (8.7, 1.1))
    arrow(axes, (6.0, 1.65), (6.0, 3.05))
    axes.text(5.8, 2.35, "it decides\nbetter", ha="right", va="center", fontsize=9)
    return figure


def draw_round() -> Figure:
    """From a row to a decision, and from a verdict to what every learner is taught."""
    figure, axes = canvas(15, 5.4)
    steps = [
        ("a row x", 1.5, INK),
        ("N weak learners\nvote for a label", 2.6, BLUE),
        ("experts: the first j\nvotes, weighted", 2.7, BLUE),
        ("one expert's\nlabel: greedy", 2.2, BLUE),
        ("explore with\nprobability ρ", 2.2, ORANGE),
    ]
    x = 0.3
    for text, width, colour in steps:
        box(axes, x, 4.2, width, text, colour, 1.1)
        arrow(axes, (x + width, 4.2), (x + width + 0.45, 4.2))
        x += width + 0.45
    box(axes, x, 4.2, 14.75 - x, "label, p", GREEN, 1.1)
    axes.text(0.3, 5.05, "decide(x)", fontweight="bold")
    middle = x + (14.75 - x) / 2
    arrow(axes, (middle, 3.6), (middle, 2.0), dashed=True)
    axes.text(
        middle - 0.2,
        2.85,
        "the Decision waits, as long as it takes;\nthe model keeps nothing of it",
        ha="right",
        va="center",
        fontsize=9,
    )
    box(axes, x, 1.4, 14.75 - x, "right or\nwrong", GREEN, 1.1)
    back = [
        ("estimated loss\nof every label", 2.9, ORANGE),
        ("cost of every label,\nfor each learner", 3.2, BLUE),
        ("learner i is taught\n(x, a label, a weight)", 3.4, BLUE),
    ]
    for text, width, colour in back:
        arrow(axes, (x, 1.4), (x - 0.6, 1.4))
        x -= width + 0.6
        box(axes, x, 1.4, width, text, colour, 1.1)
    axes.text(0.3, 0.35, "learn(decision, correct)", fontweight="bold")
    axes.text(4.0, 0.35, "weights of learners and experts move, too", fontsize=9)
    return figure


def estimates(
    rate: float = 0.2, right: int = 1, n_labels: int = 4
) -> tuple[list[float], list[np.ndarray[Any, Any]]]:
    """Equation (4), label 0 being greedy: probabilities, and 1 - lhat of all labels by what is drawn."""
    probabilities, told = [], []
    for shown in range(n_labels):
        p = label_probability(shown, 0, rate, n_labels)
        base, shown_extra, greedy_extra = estimate_loss(p, shown != 0, shown == right)
        values = np.full(n_labels, base)
        values[shown] += shown_extra
        values[0] += greedy_extra
        probabilities.append(p)
        told.append(values)
    return probabilities, told


def draw_estimate() -> Figure:
    """What each verdict would say about all labels, and what it says on average."""
    probabilities, told = estimates()
    mean = np.abs(np.round(np.average(told, axis=0, weights=probabilities), 12))  # no zero with a minus
    titles = [
        f"A shown (p = {probabilities[0]:.2f}): wrong",
        f"B shown (p = {probabilities[1]:.3f}): right",
        f"C or D shown (p = {2 * probabilities[2]:.3f}): wrong",
        "mean over the draw",
    ]
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    for number, (axes, title, values) in enumerate(
        zip(figure.subplots(1, 4), titles, [*told[:3], mean], strict=True)
    ):
        bars = axes.bar(list("ABCD"), values, color=GREEN if number == 3 else BLUE, width=0.6)
        axes.bar_label(bars, [f"{value:g}" for value in values], padding=2, fontsize=8)
        axes.axhline(0, color=SOFT, lw=0.8)
        axes.margins(y=0.3)
        axes.set_title(title, fontsize=9)
        axes.set_yticks([])
        axes.spines[["left", "bottom"]].set_visible(False)
        axes.tick_params(length=0)
    return figure


def vote_sums(model: AdaFull, memo: Any) -> np.ndarray[Any, Any]:
    """s^j of every expert j: a row for each, a column for each label."""
    n = model.n_learners
    votes, alphas = memo[VOTES : VOTES + n].astype(int), memo[VOTES + n : VOTES + 2 * n]
    return np.cumsum(alphas[:, None] * np.eye(len(model.labels))[votes], axis=0)


def divided_committee(n_learners: int = 10) -> tuple[AdaFull, Any]:
    """A committee that was told 3,000 labels of Car, and a memo in which learners and experts differ."""
    stream = datasets.load("car").stream(repeat=6, seed=4)
    model = AdaFull(stream.labels, n_learners=n_learners, schema=stream.schema(), seed=4)
    play(model, stream.X[:3000], stream.y[:3000])
    memos = [model._look(x) for x in stream.X[3000:4000]]

    def variety(memo: Any) -> tuple[int, int]:
        return len(set(vote_sums(model, memo).argmax(axis=1))), len(set(memo[VOTES : VOTES + n_learners]))

    return model, max(memos, key=variety)


def draw_votes() -> Figure:
    """How weighted votes add up, expert by expert."""
    model, memo = divided_committee()
    n, k = model.n_learners, len(model.labels)
    sums = vote_sums(model, memo)
    said, places = sums.argmax(axis=1), np.arange(1, n + 1)
    figure = Figure(figsize=(9, 4.6), layout="constrained")
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=[1, 2, 0.8])
    colours = [LABEL_COLOURS[int(vote)] for vote in memo[VOTES : VOTES + n]]
    top.bar(places, memo[VOTES + n : VOTES + 2 * n], color=colours, width=0.6)
    top.axhline(0, color=SOFT, lw=0.8)
    top.set_title("Learner i votes for a label (colour) with weight α (height)", loc="left")
    for label in range(k):
        middle.plot(
            places, sums[:, label], color=LABEL_COLOURS[label], lw=1.6, label=str(model.labels[label])
        )
    middle.scatter(
        places,
        sums.max(axis=1),
        color=[LABEL_COLOURS[label] for label in said],
        s=60,
        zorder=3,
        edgecolor=PAPER,
    )
    middle.set_title(
        "Expert j adds up the first j votes, and says the label with the largest sum (dot)", loc="left"
    )
    middle.legend(ncols=k, loc="upper left", fontsize=8)
    middle.margins(y=0.25)
    bottom.bar(places, model.expert_weights, color=INK, width=0.6)
    bottom.set_title(
        "The expert that is followed is drawn with these probabilities, by how well each did so far",
        loc="left",
    )
    bottom.set_xticks(places)
    bottom.set_ylim(0, 1)
    return figure


def moving(values: np.ndarray[Any, Any], window: int) -> np.ndarray[Any, Any]:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return (sums[window:] - sums[:-window]) / window


def draw_exploration(window: int = 1000) -> Figure:
    """What a constant rate costs, and how GapBoost's exploration fades: Car, 10,368 rounds."""
    stream = datasets.load("car").stream(repeat=6, seed=5)
    models: dict[str, Any] = {"GapBoost": GapBoost(stream.labels, schema=stream.schema(), seed=5)}
    for rate in (0.05, 0.2):
        models[f"AdaBandit, ρ = {rate}"] = AdaBandit(
            stream.labels, n_learners=15, exploration=rate, schema=stream.schema(), seed=5
        )
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for (name, model), colour in zip(models.items(), (GREEN, BLUE, ORANGE), strict=True):
        result = play(model, *stream)
        ends = np.arange(window, len(result.y) + 1)[::40]
        left.plot(ends, moving(result.explored, window)[::40], color=colour, lw=1.6, label=name)
        right.plot(ends, moving(result.correct, window)[::40], color=colour, lw=1.6)
        right.plot(ends, moving(result.greedy == result.y, window)[::40], color=colour, lw=1.0, ls=":")
    left.set_title(f"Share of rounds that try another label (last {window:,})", loc="left")
    left.legend(fontsize=8, loc="center right")
    left.set_ylim(0, 0.25)
    right.set_ylim(0.5, 1)
    right.set_title("Share of right labels: shown (line), greedy (dots)", loc="left")
    for axes in (left, right):
        axes.set_xlabel("rounds")
    return figure


def draw_chain() -> Figure:
    """The stages of a label's chain with what they weigh after Car, and from scores to probabilities."""
    stream = datasets.load("car").stream(repeat=6, seed=4)
    model = GapBoost(stream.labels, schema=stream.schema(), seed=4)
    play(model, *stream)
    figure = Figure(figsize=(9, 5.0), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[1.1, 1])
    _draw_stages(figure.add_subplot(grid[0, :]), model.n_learners)
    _draw_experts(figure.add_subplot(grid[1, 0]), model)
    _draw_gaps(figure.add_subplot(grid[1, 1]))
    return figure


def _draw_stages(axes: Axes, n_trees: int) -> None:
    axes.set_xlim(0, 15)
    axes.set_ylim(0, 4)
    axes.axis("off")
    stages = [
        ("columns", 1.9, BLUE),
        ("products\nof columns", 2.0, BLUE),
        ("pairs\nof bins", 1.8, BLUE),
        ("tree 1", 1.6, ORANGE),
        ("…", 0.7, ORANGE),
    ]
    x = 0.2
    for text, width, colour in [*stages, (f"tree {n_trees}", 1.7, ORANGE)]:
        box(axes, x, 2.9, width, text, colour, 1.1)
        arrow(axes, (x + width / 2, 2.3), (x + width / 2, 1.75))
        if x > 0.2:
            arrow(axes, (x - 0.4, 2.9), (x, 2.9))
        x += width + 0.4
    box(
        axes,
        0.2,
        1.2,
        x - 0.6,
        "prefix sums F₁, F₂, …: each stage is taught what the sum before it gets wrong",
        INK,
        0.9,
    )
    box(axes, x + 0.1, 1.2, 14.8 - x, "score:\nΣ v · clip(F)", GREEN, 1.1)
    arrow(axes, (x - 0.4, 1.2), (x + 0.1, 1.2))
    axes.text(x + 0.1, 2.9, "one chain for\neach label", va="center", fontsize=9)


def _draw_experts(axes: Axes, model: GapBoost) -> None:
    weights = model.expert_weights
    n_prefixes = len(weights) - 2
    axes.bar(
        np.arange(1, len(weights) + 1),
        weights,
        color=[BLUE] * 3 + [ORANGE] * (n_prefixes - 3) + [INK] * 2,
        width=0.6,
    )
    axes.set_title("Weights v of the experts, after Car", loc="left")
    axes.set_xlabel("stages in the prefix; regressions on columns (c), on products (p)")
    axes.set_xticks(
        [1, 3, 5, 10, n_prefixes, n_prefixes + 1, n_prefixes + 2],
        ["1", "3", "5", "10", str(n_prefixes), "c", "p"],
    )


def gap_probability(gap: float, best: float, verdicts: int, n_labels: int = 2) -> float:
    """The probability of a label if all scores but the best are `gap` below it. Rows are narrow."""
    probabilities = np.empty(n_labels)
    hopes, factor = (
        np.array([best] + [best - gap] * (n_labels - 1)),
        GAMMA_WITH_HOPE * math.sqrt(verdicts + 1.0),
    )
    weigh_labels(hopes, np.zeros(0, np.int64), factor, probabilities)
    return float(probabilities[1])


def _draw_gaps(axes: Axes) -> None:
    gaps = np.linspace(0.0, 1.0, 101)
    for (best, verdicts), colour in zip(
        ((0.0, 100), (0.9, 100), (0.9, 10_000)), (ORANGE, BLUE, GREEN), strict=True
    ):
        chances = [gap_probability(gap, best, verdicts) for gap in gaps]
        axes.semilogy(gaps, chances, color=colour, lw=1.6, label=f"best score {best}, {verdicts:,} verdicts")
    axes.set_title("Probability of the second of two labels", loc="left")
    axes.set_xlabel("its score's distance from the best")
    axes.set_ylim(top=5.0)
    axes.legend(fontsize=8)


def draw_house() -> Figure:
    """The way of a row, of a verdict and of a stream through the files of the package."""
    figure, axes = canvas(15, 8.6)
    axes.add_patch(
        FancyBboxPatch(
            (9.0, 0.35), 5.9, 7.85, boxstyle="round,pad=0,rounding_size=0.15", fc="#eef2f4", ec="none"
        )
    )
    axes.text(11.95, 7.85, "machine code", ha="center", va="center", fontweight="bold")
    axes.text(0.3, 7.85, "Python", va="center", fontweight="bold")
    _draw_way(axes, 6.85, ("a row x", "models/deciding.py\ndecide", "rows/schema.py\nnames to numbers"))
    _draw_compiled(
        axes,
        6.85,
        "boosting/round.py: decide",
        ("open_memo\nthe row is checked", "choose\nthe booster's file"),
    )
    box(axes, 5.4, 5.3, 2.9, "decision/decision.py\nlabel, p, memo", GREEN, 0.9)
    arrow(axes, (9.3, 6.15), (8.3, 5.5))
    _draw_way(
        axes, 3.75, ("a verdict", "models/bandit.py\nlearn", "models/identity.py\nwhose is it? once only")
    )
    arrow(axes, (5.4, 5.3), (1.0, 4.2), dashed=True)
    axes.text(2.3, 5.05, "it waits in your store", ha="center", va="center", fontsize=9)
    _draw_compiled(
        axes,
        3.75,
        "boosting/round.py: learn",
        ("teach\nthe booster's file", "trees/forest.py\nthe trees learn"),
    )
    _draw_way(axes, 1.1, ("a stream", "simulation/play.py", "simulation/arrivals.py\nverdicts, late or lost"))
    box(axes, 9.3, 1.1, 4.9, "simulation/loop.py: both, round after round", BLUE, 0.9)
    arrow(axes, (8.3, 1.1), (9.3, 1.1))
    arrow(axes, (11.75, 1.55), (11.75, 2.95))
    axes.plot([14.2, 14.55, 14.55], [1.1, 1.1, 6.85], color=INK, lw=1.2)
    arrow(axes, (14.55, 6.85), (14.2, 6.85))
    axes.text(
        8.65, 2.43, "the border: one address", rotation=90, ha="center", va="center", fontsize=9, color=INK
    )
    return figure


def _draw_way(axes: Axes, y: float, texts: tuple[str, str, str]) -> None:
    """Through Python, as far as the border."""
    for text, x, width, colour in zip(
        texts, (0.3, 2.2, 5.4), (1.4, 2.7, 2.9), (GREEN, BLUE, BLUE), strict=True
    ):
        box(axes, x, y, width, text, colour, 0.9)
    arrow(axes, (1.7, y), (2.2, y))
    arrow(axes, (4.9, y), (5.4, y))


def _draw_compiled(axes: Axes, y: float, title: str, steps: tuple[str, str]) -> None:
    """A compiled function, and what it calls."""
    arrow(axes, (8.3, y), (9.3, y))
    box(axes, 9.3, y, 4.9, "", BLUE, 1.6)
    axes.text(11.75, y + 0.55, title, ha="center", va="center", fontsize=9)
    for number, text in enumerate(steps):
        box(axes, 9.45 + 2.4 * number, y - 0.25, 2.2, text, ORANGE if "booster" in text else INK, 0.9)
    arrow(axes, (11.65, y - 0.25), (11.85, y - 0.25))


def draw_log_values() -> Figure:
    """What guide-logs.md finds in its log."""
    with tempfile.TemporaryDirectory() as folder:
        looks = run_examples(folder)["found"].looks
    figure = running_values(looks, ["GapBoost"])
    figure.set_size_inches(7.2, 4.0)
    figure.set_facecolor(PAPER)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "house": draw_house,
    "loop": draw_loop,
    "round": draw_round,
    "estimate": draw_estimate,
    "votes": draw_votes,
    "exploration": draw_exploration,
    "chain": draw_chain,
    "log_values": draw_log_values,
}


def main() -> None:
    for name, draw in FIGURES.items():
        with mpl.rc_context(STYLE):
            draw().savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        print(FOLDER / f"{name}.svg")


if __name__ == "__main__":
    main()
