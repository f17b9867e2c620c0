"""A figure of what policies earn by a log, as it came to be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib as mpl
from matplotlib.figure import Figure

from banditboost.evaluation import Look
from banditboost.experiments.figures import STYLE, colour
from banditboost.text import figure_text


def running_values(looks: Mapping[str, Sequence[Look]]) -> Figure:
    """For each policy its value after so many rows, with the bounds that hold at all looks together."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.0), layout="constrained")
        axes = figure.subplots()
        tops = []
        for name, seen in looks.items():
            rows, paint = [look.rows for look in seen], colour(name, list(looks))
            axes.plot(
                rows, [look.estimate for look in seen], color=paint, linewidth=1.8, label=figure_text(name)
            )
            axes.fill_between(
                rows,
                [look.low for look in seen],
                [look.high for look in seen],
                color=paint,
                alpha=0.12,
                linewidth=0,
            )
            tops += [look.high for look in seen[len(seen) // 2 :]] + [look.estimate for look in seen]
        lows = [look.low for seen in looks.values() for look in seen]
        if tops:
            axes.set(ylim=(min(lows), max(tops) * 1.02 if max(tops) > 0 else None))
        axes.set(xscale="log", xlabel="rows of the log", ylabel="mean reward, with bounds at any time")
        figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return figure
