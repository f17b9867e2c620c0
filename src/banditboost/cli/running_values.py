"""A figure of what policies earn by a log, as it came to be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from banditboost.cli.judged import BEST, LOGGED, UNIFORM
from banditboost.evaluation import Look
from banditboost.experiments.figures import STYLE
from banditboost.text import figure_text

_LINES = {LOGGED: "-", UNIFORM: ":", BEST: "--"}
_GREY, _BLUE = "#767676", "#0072B2"
_PANEL = 5.6, 3.4
_SPAN = 200.0  # the first rows, whose bounds say nothing, are left out: this many times as many are shown
Looks = Mapping[str, Sequence[Look]]


def running_values(looks: Looks, learners: Sequence[str]) -> Figure:
    """For each learner, in a panel of its own, its value after so many rows with the bounds that hold at all
    looks together, beside those of the log.
    """
    with mpl.rc_context(STYLE):
        columns = min(2, max(1, len(learners)))
        rows = -(-max(1, len(learners)) // columns)
        figure = Figure(figsize=(_PANEL[0] * columns, _PANEL[1] * rows), layout="constrained")
        grid = list(figure.subplots(rows, columns, squeeze=False, sharey=True).flat)
        for axes, name in zip(grid, learners, strict=False):
            _panel(axes, looks, name)
            axes.set(xscale="log", xlabel="rows of the log", ylabel="mean reward so far")
            axes.xaxis.set_major_formatter(mpl.ticker.FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axes.set_ylim(*_limits(looks, learners))
            axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2, frameon=False)
        for axes in grid[len(learners) :]:
            axes.set_axis_off()
    return figure


def _panel(axes: Axes, looks: Looks, name: str) -> None:
    for reference, style in _LINES.items():
        if reference in looks:
            _line(axes, looks[reference], reference, _GREY, style, bounds=reference == LOGGED)
    _line(axes, looks[name], name, _BLUE, "-", bounds=True)


def _line(axes: Axes, looks: Sequence[Look], name: str, paint: str, style: str, *, bounds: bool) -> None:
    seen = _shown(looks)
    rows = [look.rows for look in seen]
    axes.plot(
        rows,
        [look.estimate for look in seen],
        color=paint,
        linestyle=style,
        linewidth=1.8 if bounds else 1.2,
        label=figure_text(name),
    )
    if bounds:
        ends = [look.low for look in seen], [look.high for look in seen]
        axes.fill_between(rows, *ends, color=paint, alpha=0.15, linewidth=0)


def _shown(looks: Sequence[Look]) -> list[Look]:
    return [look for look in looks if look.rows * _SPAN >= looks[-1].rows]


def _limits(looks: Looks, learners: Sequence[str]) -> tuple[float, float]:
    """Room for what is known in the last third of the looks; bounds of before may be cut off."""
    banded = [looks[name] for name in (LOGGED, *learners) if looks.get(name)]
    late = list(chain.from_iterable(seen[-(-2 * len(seen) // 3) - 1 :] for seen in banded))
    lines = list(chain.from_iterable(_shown(seen) for seen in looks.values() if seen))
    if not late:
        return 0.0, 1.0
    low = min([look.low for look in late] + [look.estimate for look in lines])
    high = max([look.high for look in late] + [look.estimate for look in lines])
    room = 0.04 * (high - low) or 0.01
    return low - room, high + room
