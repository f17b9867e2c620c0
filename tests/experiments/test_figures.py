"""Figures made of records: what is drawn, and that the files are what their names say."""

import xml.etree.ElementTree as ElementTree

import matplotlib.image
import numpy as np
import pytest

from banditboost.experiments import figures, protocol
from banditboost.experiments.curves import growing_curve
from banditboost.experiments.errors import ExperimentError
from tests.experiments import made_up


def lines(axes):
    """Lines by what the legend calls them."""
    handles, labels = axes.get_legend_handles_labels()
    return {
        label: getattr(handle, "lines", (handle,))[0] for handle, label in zip(handles, labels, strict=True)
    }


def test_there_is_a_panel_for_each_data_set_and_a_line_for_each_learner():
    figure = figures.learning_curves(made_up.paper(datasets=("isolet", "car"), seeds=(4, 5)))
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Car, k = 4", "Isolet, k = 26"]
    for axes in figure.axes:
        assert set(lines(axes)) == set(protocol.ALGORITHMS)


def test_a_place_without_a_panel_is_empty():
    figure = figures.learning_curves(made_up.paper(datasets=("balance", "car", "nursery"), seeds=(4,)))
    assert [axes.axison for axes in figure.axes] == [True, True, True, False]


def test_a_learning_curve_is_the_mean_over_seeds_with_its_interval():
    records = [made_up.record(seed=seed, last=last) for seed, last in ((4, 0.8), (5, 0.81), (6, 0.83))]
    (axes,) = figures.learning_curves(records).axes
    expected = np.mean([record["curve"]["accuracy"] for record in records], axis=0)
    np.testing.assert_allclose(lines(axes)["AdaBandit"].get_ydata(), expected)
    (band,) = axes.collections
    top = band.get_paths()[0].vertices[:, 1].max()
    spread = 4.303 * np.std([record["curve"]["accuracy"][-1] for record in records], ddof=1) / np.sqrt(3)
    assert top == pytest.approx(expected[-1] + spread, rel=1e-3)


def test_records_of_before_and_of_today_are_drawn_where_both_have_a_curve():
    """Those of before begin where the window is full; from there on they are the same at other rounds."""
    correct = np.random.default_rng(1).random(1000) < 0.7
    today = made_up.record(seed=4, rounds=1000, curve=growing_curve(correct, 0.2))
    means = np.convolve(correct, np.ones(200) / 200, mode="valid")
    shown = np.unique(np.linspace(0, 800, 150).round().astype(int))
    curve = {"window": 0.2, "round": (200 + shown).tolist(), "accuracy": means[shown].tolist()}
    before = made_up.record(seed=5, rounds=1000, curve=curve)
    for records, first in (([today], 10), ([before], 200), ([today, before], 200)):
        (axes,) = figures.learning_curves(records).axes
        (line,) = lines(axes).values()
        assert line.get_xdata()[0] == first
        assert line.get_ydata()[-1] == pytest.approx(correct[800:].mean())
        assert axes.get_ylabel().endswith("(fewer at first)") == (today in records)
    np.testing.assert_allclose(line.get_ydata(), curve["accuracy"], atol=0.01)


def test_streams_of_different_lengths_are_not_averaged():
    records = [made_up.record(seed=seed, rounds=1000 + seed) for seed in (4, 5)]
    with pytest.raises(ExperimentError, match="have different lengths; draw one stream at a time"):
        figures.learning_curves(records)


def test_wide_intervals_neither_leave_the_possible_nor_squeeze_the_lines():
    (axes,) = figures.learning_curves(
        [made_up.record(seed=seed, last=last) for seed, last in ((4, 0.6), (5, 0.9), (6, 0.9))]
    ).axes
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.min() >= 0
    assert heights.max() == 1
    low, high = axes.get_ylim()
    assert 0.3 < low < 0.41
    assert 0.98 < high <= 1.01  # the printed figure, 0.98, is in sight


@pytest.mark.parametrize("seeds", [(4,), (4, 5)])
def test_below_three_seeds_there_is_no_band(seeds):
    (axes,) = figures.learning_curves(
        [made_up.record(seed=seed, last=0.8 + seed / 100) for seed in seeds]
    ).axes
    assert list(lines(axes)) == ["AdaBandit"]
    assert len(axes.collections) == 0


def test_the_legend_is_inside_the_figure_and_names_everybody():
    names = [*protocol.ALGORITHMS, "GapBoost", "Majority", "mypackage.mymodule:MyBooster"]
    figure = figures.learning_curves([made_up.record(learner=name) for name in names])
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert {text.get_text() for text in legend.get_texts()} == set(names)
    page, extent = figure.bbox, legend.get_window_extent()
    assert page.x0 <= extent.x0 < extent.x1 <= page.x1
    assert page.y0 <= extent.y0 < extent.y1 <= page.y1
    (axes,) = figure.axes
    assert axes.get_window_extent().y1 < extent.y0
    assert axes.get_window_extent().height > 0.5 * page.height


def test_learners_that_are_told_the_label_are_dashed():
    names = (
        "AdaFull",
        "AdaBandit",
        "Majority",
        "AdaFull+mymodule:Mine",
        "banditboost.boosting.full_information:OptFull",
    )
    assert [figures.dashes(name) for name in names] == ["--", "-", ":", "--", "--"]


def test_modes_stand_side_by_side_with_the_same_limits():
    records = made_up.paper(datasets=("car", "mice"), seeds=(4, 5), modes=("ours", "text"))
    records += [made_up.record("car", "OptFull", seed, last=0.2, mode="text") for seed in (6, 7)]
    panels = figures.learning_curves(records).axes
    assert [axes.get_title(loc="left") for axes in panels] == [
        "Car, k = 4: text",
        "Car, k = 4: ours",
        "Mice, k = 8: text",
        "Mice, k = 8: ours",
    ]
    assert panels[0].get_ylim() == panels[1].get_ylim() != panels[2].get_ylim()
    (alone,) = figures.learning_curves([made_up.record(mode="text")]).axes
    assert alone.get_title(loc="left") == "Car, k = 4"


def test_circles_stand_where_table_1_says():
    (axes,) = figures.learning_curves(made_up.paper(datasets=("car",), seeds=(4,))).axes
    circles = {line.get_ydata()[0] for line in axes.get_lines() if line.get_marker() == "o"}
    assert circles == {0.88, 0.98, 0.84, 0.96}


def test_the_exploration_grid_has_a_log_axis_and_the_papers_rate():
    figure = figures.exploration(made_up.grid(datasets=("mice",)))
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert set(lines(axes)) == {"OptBandit", "AdaBandit", "BinBandit", "the paper's ρ"}
    assert lines(axes)["the paper's ρ"].get_xdata() == [0.1, 0.1]
    assert list(lines(axes)["AdaBandit"].get_xdata()) == sorted(made_up.RATES)


def test_a_file_of_ones_own_has_no_printed_figures():
    (axes,) = figures.learning_curves([made_up.record("pets")]).axes
    assert [line.get_label() for line in axes.get_lines()] == ["AdaBandit"]


def test_png_and_svg_are_written_and_the_same_twice(tmp_path):
    records = made_up.paper(datasets=("car",), seeds=(4, 5))
    first, second = (
        figures.write(figures.learning_curves(records), tmp_path / name) for name in ("one", "two")
    )
    assert [path.suffix for path in first] == [".png", ".svg"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert matplotlib.image.imread(first[0]).shape[1] > 700
    assert ElementTree.parse(first[1]).getroot().tag.endswith("svg")


def test_colours_differ_and_unknown_learners_get_one():
    names = [*figures.COLOURS, "Mine", "Yours"]
    assert len({figures.colour(name, names) for name in names}) == len(names)
