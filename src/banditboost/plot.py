"""Pictures of what a model has learned and of a played stream, as matplotlib figures.

They are in the style of the project's other figures. Matplotlib comes with the extra `cli`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from banditboost.errors import ParameterError
from banditboost.simulation.result import Result
from banditboost.text import figure_text, quoted, visible
from banditboost.types import Array
from banditboost.validation import check_number

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"banditboost.plot needs {error.name}; install it with: pip install 'banditboost[cli]'"
    ) from None

from banditboost.experiments.figures import STYLE, colour, dashes

_Z = 1.96  # standard deviations on both sides of a 95 % interval
_MOST_LABELS = 30  # of a confusion matrix: the most frequent ones
_LONGEST_TICK = 20  # characters of a label beside it
_MOST_NUMBERS = 12  # labels up to which the cells are written out


def learning_curve(results: Result | Mapping[str, Result], *, window: float = 0.2) -> Figure:
    """Moving average of accuracy, or of rewards, over the last `window` share of the stream; around the mean
    reward its 95 % interval.

    It is for one result of `play` or several by name.

    >>> from banditboost import AdaFull, play
    >>> X, y = [[t % 7] for t in range(300)], [t % 7 > 3 for t in range(300)]
    >>> figure = learning_curve({"AdaFull": play(AdaFull([False, True], n_learners=5, seed=1), X, y)})
    >>> len(figure.axes[0].lines)
    1
    """
    named = results if isinstance(results, Mapping) else {"": results}
    if not named or not all(isinstance(result, Result) and len(result.shown) for result in named.values()):
        raise ParameterError(
            f"results is {quoted(results)}; give a result of play with at least one round, "
            "or a dict of them by name"
        )
    graded = {result.y is None for result in named.values()}
    if len(graded) > 1:
        raise ParameterError(
            f"results is {quoted(results)}, some with right labels and some with rewards; give one kind"
        )
    what = "mean reward" if graded == {True} else "accuracy"
    check_number("window", window, 0.0, 1.0, open_low=True, hint="a share of the stream")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.8), layout="constrained")
        axes = figure.subplots()
        for name, result in named.items():
            curve = result.curve(window)
            rounds = np.arange(len(result.shown) - len(curve) + 1, len(result.shown) + 1)
            paint = colour(name, list(named))
            axes.plot(
                rounds,
                curve,
                label=figure_text(visible(name)),
                color=paint,
                linestyle=dashes(name),
                linewidth=1.8,
            )
            if graded == {True}:
                low, high = _around(result, curve)
                axes.fill_between(rounds, low, high, color=paint, alpha=0.18, linewidth=0)
        axes.set(
            xlabel="round",
            ylabel=f"{what}, last {window:.0%} of rounds",
            xlim=(0, max(len(result.shown) for result in named.values())),
        )
        axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
        if len(named) > 1:
            axes.legend(frameon=False)
    return figure


def _around(result: Result, curve: Array) -> tuple[Array, Array]:
    """The 95 % interval of each mean of a curve, which does not leave the range of rewards."""
    width = len(result.shown) - len(curve) + 1
    low, high = result.reward_range
    shares = (result.earned - low) / (high - low)  # whose squares are no large numbers
    sums = np.concatenate([[0.0], np.cumsum(shares * shares)])
    means = (curve - low) / (high - low)
    variances = np.maximum(0.0, (sums[width:] - sums[:-width]) / width - means * means)
    half = (high - low) * _Z * np.sqrt(variances / width)
    return np.maximum(low, curve - half), np.minimum(high, curve + half)


def expert_weights(model: Any) -> Figure:
    """How much each expert counts.

    For adaptive boosters and mixtures that is the probability of being drawn, for GapBoost its weight.

    >>> from banditboost import AdaBandit
    >>> len(expert_weights(AdaBandit(["yes", "no"], n_learners=5, seed=1)).axes[0].patches)
    5
    """
    weights = getattr(model, "expert_weights", None)
    if weights is None:
        raise ParameterError(
            f"model is {quoted(model)}, which does not weigh experts; give an AdaBandit, AdaFull, "
            "MixBandit, MixFull or GapBoost"
        )
    kind = type(model).__name__
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.bar(np.arange(len(weights)), weights, color=colour(kind), width=0.8)
        axes.axhline(1 / len(weights), color="#555555", linestyle=":", linewidth=1.2, label="all alike")
        axes.set(
            xlabel="expert", ylabel="weight", title=figure_text(f"{kind} after {model.verdicts:,} verdicts")
        )
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        axes.grid(visible=False, axis="x")
        figure.legend(loc="outside upper right", frameon=False)
    return figure


def confusion(result: Result) -> Figure:
    """Shown against right labels of a simulated stream.

    Each row tells what was shown when that label was right.

    >>> from banditboost import AdaFull, play
    >>> X, y = [[t % 7] for t in range(300)], [t % 7 > 3 for t in range(300)]
    >>> figure = confusion(play(AdaFull([False, True], n_learners=5, seed=1), X, y))
    >>> len(figure.axes[0].texts)
    4
    """
    if not isinstance(result, Result) or not len(result.shown) or result.y is None:
        raise ParameterError(
            f"result is {quoted(result)}; give what play returned for right labels, with at least one round"
        )
    counts, names = _counts(result, result.y)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = min(max(3.2, 0.5 * len(names)), 9.0)
    with mpl.rc_context({**STYLE, "axes.grid": False}):
        figure = Figure(figsize=(size + 1.6, size + 0.8), layout="constrained")
        axes = figure.subplots()
        image = axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), names)
        axes.set(
            xlabel="shown label",
            ylabel="right label",
            title=f"{len(result.shown):,} rounds, accuracy {result.accuracy:.3f}",
        )
        if len(names) <= _MOST_NUMBERS:
            _write_cells(axes, counts, shares)
        figure.colorbar(image, ax=axes, label="share of the row", shrink=0.8)
    return figure


def _counts(result: Result, right: Array) -> tuple[Array, Sequence[str]]:
    """How often each label was shown for each right one.

    Of many labels the most frequent stay, and the rest is one.
    """
    n_labels = len(result.labels)
    place = np.arange(n_labels)
    names = [figure_text(visible(label), _LONGEST_TICK) for label in result.labels]
    if n_labels > _MOST_LABELS:
        kept = np.sort(np.argsort(-np.bincount(right, minlength=n_labels), kind="stable")[: _MOST_LABELS - 1])
        place = np.full(n_labels, len(kept))
        place[kept] = np.arange(len(kept))
        names = [*(names[label] for label in kept), "others"]
    size = len(names)
    pairs = place[right] * size + place[result.shown]
    return np.bincount(pairs, minlength=size * size).reshape(size, size), names


def _write_cells(axes: Any, counts: Array, shares: Array) -> None:
    for (row, column), count in np.ndenumerate(counts):
        dark = shares[row, column] > 0.5
        axes.text(
            column,
            row,
            f"{count:,}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "#333333",
        )
