"""The paper's figures, made from records alone.

Colours are for the colour-blind, too. Learners that are told the right label are dashed, baselines are
dotted.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from banditboost import baselines
from banditboost.experiments import protocol
from banditboost.experiments.curves import on_common_rounds
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.grouping import (
    data_of,
    estimate,
    exploration_of,
    group,
    is_told_the_label,
    learner_of,
    mode_of,
    title_of,
)
from banditboost.experiments.records import Record, checked
from banditboost.experiments.statistics import mean_interval
from banditboost.experiments.writing import write_whole
from banditboost.text import figure_text
from banditboost.types import Array

# Okabe and Ito's palette: the adaptive pair in blues, the optimal pair in reds.
COLOURS = {
    "AdaBandit": "#0072B2",
    "AdaFull": "#56B4E9",
    "OptBandit": "#D55E00",
    "OptFull": "#E69F00",
    "BinBandit": "#009E73",
    "GapBoost": "#000000",
}
_OTHERS = ("#CC79A7", "#999999", "#0072B2", "#D55E00", "#009E73", "#E69F00")
_PANEL = 4.8, 3.1
"""Width and height in inches."""
_MOST_COLUMNS = 5
_LEGEND_ROW = 0.24  # inches
FORMATS = ("png", "svg")
STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#555555",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "text.usetex": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "banditboost",
}


def learning_curves(records: Iterable[Record], *, legend: bool = True) -> Figure:
    """Moving average of accuracy with its 95 % interval, one panel for each data set and mode.

    Circles are the paper's Table 1. Below three seeds there is no interval.
    """
    found = checked(records, "rounds", "n_labels", "curve")
    return _panels(group(found, data_of, mode_of), _draw_curves, legend)


def exploration(
    records: Iterable[Record], *, legend: bool = True, series: Callable[[Record], str] = learner_of
) -> Figure:
    """Accuracy against the exploration rate, one panel for each data set and mode.

    A dotted line is the paper's choice.
    """
    found = checked(records, "n_labels", "accuracy", "exploration")
    return _panels(group(found, data_of, mode_of), partial(_draw_exploration, series=series), legend)


def write(figure: Figure, stem: Path) -> list[Path]:
    """Save as PNG and SVG beside each other; the same figure gives the same bytes."""
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in FORMATS]
    for path in paths:
        save(figure, path)
    return paths


def save(figure: Figure, path: Path) -> None:
    """Save in the format that the name's ending says."""
    kind, drawn = path.suffix.removeprefix("."), io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(drawn, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    write_whole(path, drawn.getvalue())


def svg_text(figure: Figure) -> str:
    """An <svg> element to be put into a page."""
    out = io.StringIO()
    with mpl.rc_context(STYLE):
        figure.savefig(out, format="svg", metadata={"Date": None}, transparent=True)
    return out.getvalue()[out.getvalue().index("<svg") :]


def colour(learner: str, learners: Sequence[str] = ()) -> str:
    """Each booster of the paper has its colour; others take what is left."""
    if learner in COLOURS:
        return COLOURS[learner]
    others = [name for name in learners if name not in COLOURS]
    return _OTHERS[others.index(learner) % len(_OTHERS)] if learner in others else _OTHERS[0]


def dashes(learner: str) -> str:
    """The style of a learner's line."""
    return "--" if is_told_the_label(learner) else ":" if learner in baselines.__all__ else "-"


def _panels(panels: dict[tuple[str, str], list[Record]], draw: Any, legend: bool) -> Figure:
    """With both modes, those of a data set stand side by side."""
    columns = min(len(panels), 2)
    rows = math.ceil(len(panels) / columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows), layout="constrained")
        grid = list(figure.subplots(rows, columns, squeeze=False).flat)
        several = len({mode for _, mode in panels}) > 1
        for axes, ((data, mode), members) in zip(grid, panels.items(), strict=False):
            draw(axes, members)
            shown = f": {mode}" if several else ""
            axes.set_title(f"{figure_text(title_of(data))}, k = {members[0]['n_labels']}{shown}")
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        _same_heights(dict(zip(panels, grid, strict=False)))
        if legend:
            _legend(figure)
    return figure


def _same_heights(panels: Mapping[tuple[str, str], Axes]) -> None:
    """The modes of a data set have the same limits, so that they can be compared by eye."""
    for data in {data for data, _ in panels}:
        modes = [axes for (name, _), axes in panels.items() if name == data]
        lows, highs = zip(*(axes.get_ylim() for axes in modes), strict=True)
        for axes in modes:
            axes.set_ylim(min(lows), max(highs))


def _legend(figure: Figure) -> None:
    """Put a legend above the panels.

    It has as many columns as fit, and the figure grows by its rows.
    """
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        lines, labels = axes.get_legend_handles_labels()
        entries |= dict(zip(labels, lines, strict=True))
    if not entries:
        return
    for columns in range(min(len(entries), _MOST_COLUMNS), 0, -1):
        legend = figure.legend(
            entries.values(), entries.keys(), loc="outside upper center", ncols=columns, frameon=False
        )
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + _LEGEND_ROW * math.ceil(len(entries) / columns) + 0.15)


def _draw_curves(axes: Axes, records: Sequence[Record]) -> None:
    learners = group(records, learner_of)
    for learner, members in learners.items():
        if len({record["rounds"] for record in members}) > 1:
            raise ExperimentError(
                f"the runs of {learner!r} on {data_of(members[0])!r} have different lengths; "
                "draw one stream at a time"
            )
        rounds, curves = on_common_rounds([record["curve"] for record in members])
        points = [mean_interval(values) for values in zip(*curves, strict=True)]
        _line(axes, rounds, np.array(points), learner, list(learners))
        printed = protocol.PRINTED.get(data_of(members[0]), {}).get(learner)
        if printed is not None:
            axes.plot(
                rounds[-1:],
                [printed.last],
                "o",
                mfc="white",
                mec=colour(learner),
                ms=6,
                clip_on=False,
                zorder=5,
            )
    _show_lines(axes)
    fewer = " (fewer at first)" if any(record["curve"].get("grows") for record in records) else ""
    window = records[0]["curve"]["window"]
    axes.set(xlabel="round", ylabel=f"accuracy, last {window:.0%} of rounds{fewer}")
    axes.set_xlim(0, records[0]["rounds"])
    axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
    axes.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _draw_exploration(axes: Axes, records: Sequence[Record], series: Callable[[Record], str]) -> None:
    lines = group(records, series)
    for name, members in lines.items():
        rates = {
            rate: estimate(runs, "accuracy") for rate, runs in sorted(group(members, exploration_of).items())
        }
        mean = np.array([found.mean for found in rates.values()])
        half = np.nan_to_num(
            [found.half_width for found in rates.values()]
        )  # no bar where there is no interval
        reach = np.maximum([np.minimum(half, mean), np.minimum(half, 1 - mean)], 0.0)
        axes.errorbar(
            list(rates),
            mean,
            reach,
            color=colour(name, list(lines)),
            linewidth=1.8,
            marker="o",
            markersize=4,
            capsize=3,
            elinewidth=1,
            label=figure_text(name),
        )
    _show_lines(axes)
    printed = protocol.EXPLORATION.get(data_of(records[0]))
    if printed is not None:
        axes.axvline(printed, color="#555555", linestyle=":", linewidth=1.2, label="the paper's ρ")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.xaxis.set_minor_formatter(mpl.ticker.NullFormatter())
    axes.set(xlabel="exploration rate ρ", ylabel="accuracy, whole stream")


def _line(axes: Axes, x: Sequence[float], points: Array, learner: str, learners: Sequence[str]) -> None:
    mean, half = points.T
    paint = colour(learner, learners)
    axes.plot(x, mean, color=paint, linestyle=dashes(learner), linewidth=1.8, label=figure_text(learner))
    if np.isfinite(half).all():
        low, high = np.clip([mean - half, mean + half], 0, 1)
        axes.fill_between(x, low, high, color=paint, alpha=0.18, linewidth=0)


def _show_lines(axes: Axes) -> None:
    """Limits that suit the lines: intervals of few seeds are much wider, and may be cut off."""
    drawn = [line for line in axes.get_lines() if line.get_linestyle() != "None" or line.get_marker() == "o"]
    heights = np.concatenate([line.get_ydata() for line in drawn])
    low, high = float(heights.min()), float(heights.max())
    room = max(0.02, 0.12 * (high - low))
    axes.set_ylim(low - room, min(high + room, 1.005))
