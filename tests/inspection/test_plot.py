"""Pictures show the numbers that they are made of."""

from __future__ import annotations

import io
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from banditboost import AdaBandit, OptBandit, Result, plot
from banditboost.errors import ParameterError


def result_of(y: Any, shown: Any, labels: Any = ("no", "yes", "later")) -> Result:
    shown = np.asarray(shown, np.int32)
    return Result(tuple(labels), np.asarray(y, np.int64), shown, shown, 0, None)


RESULT = result_of([0, 1, 2, 0, 1, 1, 0, 2, 1, 1], [0, 1, 1, 0, 1, 0, 0, 2, 1, 1])


def png(figure: Any) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png")
    return out.getvalue()


def test_a_learning_curve_is_the_results_curve() -> None:
    axes = plot.learning_curve(RESULT, window=0.3).axes[0]
    assert axes.lines[0].get_ydata().tolist() == RESULT.curve(0.3).tolist()
    assert axes.lines[0].get_xdata().tolist() == [3, 4, 5, 6, 7, 8, 9, 10]
    assert axes.get_legend() is None
    assert axes.get_ylabel() == "accuracy, last 30% of rounds"


def test_several_curves_have_names_and_colours() -> None:
    figure = plot.learning_curve({"AdaBandit": RESULT, "mine": RESULT, "yours": RESULT})
    lines = figure.axes[0].lines
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "AdaBandit",
        "mine",
        "yours",
    ]
    assert len({line.get_color() for line in lines}) == 3
    assert png(figure).startswith(b"\x89PNG")


def test_expert_weights_are_the_models() -> None:
    model = AdaBandit(["yes", "no"], n_learners=5, exploration=0.3, seed=1)
    for t in range(50):
        model.learn(model.decide({"x": t % 7}), t % 3 == 0)
    axes = plot.expert_weights(model).axes[0]
    assert [bar.get_height() for bar in axes.patches] == model.expert_weights.tolist()
    assert axes.get_title(loc="left") == "AdaBandit after 50 verdicts"
    assert len(set(model.expert_weights.tolist())) > 1


def test_confusion_counts_shown_against_right() -> None:
    figure = plot.confusion(RESULT)
    axes = figure.axes[0]
    written = [[axes.texts[3 * row + column].get_text() for column in range(3)] for row in range(3)]
    assert written == [["3", "0", "0"], ["1", "4", "0"], ["0", "1", "1"]]
    assert axes.images[0].get_array().tolist() == [[1.0, 0.0, 0.0], [0.2, 0.8, 0.0], [0.0, 0.5, 0.5]]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["no", "yes", "later"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("shown label", "right label")
    assert png(figure).startswith(b"\x89PNG")


def test_of_many_labels_the_most_frequent_are_shown() -> None:
    y = np.concatenate([np.repeat(np.arange(29), 3), np.arange(29, 100), [50, 50, 50, 50]])
    axes = plot.confusion(result_of(y, y, labels=range(100))).axes[0]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert len(names) == 30
    assert names[-2:] == ["50", "others"]
    assert axes.images[0].get_array()[-1].tolist() == [*[0.0] * 29, 1.0]
    assert len(axes.texts) == 0


def test_a_label_that_was_never_right_has_an_empty_row() -> None:
    shares = plot.confusion(result_of([0, 0], [0, 2])).axes[0].images[0].get_array()
    assert shares.tolist() == [[0.5, 0.0, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    "results", [None, {}, {"a": 1}, [RESULT], result_of([], []), {"a": result_of([], [])}]
)
def test_curves_of_nothing_are_refused(results: Any) -> None:
    with pytest.raises(ParameterError, match="give a result of play"):
        plot.learning_curve(results)


@pytest.mark.parametrize("window", [0.0, -1.0, 1.1, float("nan")])
def test_windows_are_shares(window: float) -> None:
    with pytest.raises(ParameterError, match=r"in \(0, 1\]"):
        plot.learning_curve(RESULT, window=window)


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ParameterError, match="does not weigh experts; give an AdaBandit"):
        plot.expert_weights(OptBandit(["yes", "no"], n_learners=3, seed=1))
    for wrong in (None, result_of([], [])):
        with pytest.raises(ParameterError, match="give what play returned"):
            plot.confusion(wrong)


def test_without_matplotlib_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import banditboost; banditboost.plot"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (
        "banditboost.plot needs matplotlib; install it with: pip install 'banditboost[cli]'" in failed.stderr
    )
