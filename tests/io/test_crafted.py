"""Files whose checksum is right and whose numbers no honest model has: each is refused, for what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import banditboost
from banditboost import GapBoost, Schema
from banditboost.boosting.gap import layout
from banditboost.errors import ModelFileError
from banditboost.inspection.tally import EXPLORED, HEARD, INVERSE, REWARD_INVERSE, REWARD_SQUARES, SQUARES
from tests.boosting.streams import growing_rows
from tests.io.models import STREAM, forge, go_on, reloaded, trained

Change = Callable[[dict[str, Any], dict[str, np.ndarray]], Any]


def put(name: str, place: Any, value: float) -> Change:
    return lambda _, arrays: arrays[name].__setitem__(place, value)


def put_nominal(row: int, value: float) -> Change:
    """A statistic of the first nominal column."""

    def change(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        column = [known is not None for known in header["schema"]["values"]].index(True)
        arrays["statistics"][row, column] = value

    return change


def scale(name: str, factor: float) -> Change:
    return lambda _, arrays: arrays[name].__imul__(factor)


def flip_both(name: str) -> Change:
    """Change a sign on both sides of the diagonal: symmetric, and not positive."""

    def change(_: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        inverse = arrays[name]
        assert inverse[0, 0, 1] != 0.0
        inverse[0, 0, 1] = inverse[0, 1, 0] = 1.0

    return change


GAP: dict[str, tuple[Change, str]] = {
    "an inverse that is not symmetric": (put("inverse", (0, 0, 1), 0.25), "not symmetric and positive"),
    "an inverse that is not positive": (flip_both("inverse"), "not symmetric and positive"),
    "a negative variance": (put("inverse", (0, 0, 0), -1e-9), "not symmetric and positive"),
    "a wide inverse that is not positive": (flip_both("wide_inverse"), "not symmetric and positive"),
    "an inverse above 1": (scale("inverse", 1e3), "a number of an inverse"),
    "an inverse of NaN": (put("wide_inverse", (0, 0, 0), np.nan), "a number of an inverse"),
    "weights of a regression": (put("ridge", (0, 0), 1e300), "a weight of a regression"),
    "weights of a wide regression": (scale("wide_ridge", 1e9), "a weight of a regression"),
    "a waiting row without the constant": (put("wide_rows", (0, 0, 0), 2.0), "lacks the constant"),
    "waiting rows with a gap": (put("wide_rows", (0, -1, 0), 1.0), "not one after the other"),
    "a waiting row": (put("wide_rows", (0, 0, 1), np.inf), "a number of a row that waits"),
    "the goal of a waiting row": (put("wide_goals", (0, 0), np.inf), "the goal of a row that waits"),
    "weights of the stages": (lambda _, a: a["linear"][0].fill(-1e300), "a number of 'linear'"),
    "weights of the stages, NaN": (put("linear", (0, 0, 0, 0), np.nan), "a number of 'linear'"),
    "a weight without a gradient": (lambda _, a: a["linear"][1].fill(0.0), "without a gradient"),
    "sums of squares": (put("linear", (1, 0, 0, 0), 1e250), "a sum of squares"),
    "sums of squares below 0": (put("linear", (1, 0, 0, 0), -1.0), "a sum of squares"),
    "a chain that is not there": (put("linear", (1, 0, 0, 7), 1.0), "a chain that was not made"),
    "norms": (put("norms", 1, 1e300), "a norm of the rows"),
    "the norm of the constant": (put("norms", 0, 5e-324), "the norm of the constant"),
    "a count that is not whole": (put("statistics", (0, 0), 0.5), "a column's count"),
    "a count above the verdicts": (put("statistics", (0, 0), 1e6), "a column's count"),
    "a count of a nominal column": (put_nominal(0, 1.0), "a column's count"),
    "a mean": (put("statistics", (1, 0), 1e101), "a column's mean"),
    "a mean of no values": (put_nominal(1, 1.0), "a column's mean"),
    "squares of a column": (put("statistics", (2, 0), 1e300), "a column's squares"),
    "squares below 0": (put("statistics", (2, 0), -1e-300), "a column's squares"),
    "zeros that are not whole": (put("statistics", (3, 0), 0.5), "a column's zeros"),
    "more zeros than values": (put("statistics", (3, 0), 1e6), "a column's zeros"),
    "zeros of no values": (put_nominal(3, 1.0), "a column's zeros"),
    "missing values that are not whole": (put("statistics", (4, 0), 0.5), "a column's missing values"),
    "more missing values than verdicts": (put("statistics", (4, 0), 1e6), "a column's missing values"),
    "missing values of a nominal column": (put_nominal(4, 1.0), "a column's missing values"),
    "a loss": (put("losses", 0, 501.0), "a loss of an expert"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crafted")
    for name in ("GapBoost", "AdaBandit", "BinBandit", "OptFull", "MixBandit", "MixFull"):
        trained(name, leaf_prediction="majority").save(path / name)
    half_heard = trained("AdaBandit")
    half_heard.decide_many(STREAM.dicts())
    half_heard.save(path / "half heard")
    return path


@pytest.mark.parametrize("fault", GAP)
def test_numbers_of_gapboost(folder: Path, fault: str) -> None:
    change, told = GAP[fault]
    with pytest.raises(ModelFileError, match=told):
        banditboost.load(forge(folder / "GapBoost", change))


def tally(place: int, value: float) -> tuple[str, Change]:
    return "AdaBandit", put("tally", place, value)


def twice_in_a_leaf(_: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    entries = arrays["entries"]
    first = next(e for e in arrays["nodes"]["first_entry"] if e >= 0 and entries["next"][e] >= 0)
    entries["label"][entries["next"][first]] = entries["label"][first]


def all_learned(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    arrays["ledger"][: header["rounds"] // 8] = 255


def leaf(field: str, value: float) -> Change:
    """A number of the first leaf that has statistics."""

    def change(_: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        nodes = arrays["nodes"][: arrays["head"]["n_nodes"][0]]
        which = np.flatnonzero((arrays["steps"]["feature"][: len(nodes)] < 0) & (nodes["summary"] >= 0))[0]
        (arrays["steps"] if field in ("threshold", "next") else arrays["nodes"])[field][which] = value

    return change


def statistic(offset: int, value: float, of: str = "class") -> Change:
    """A number of the first numeric feature, of the first class or leaf that has statistics."""

    def change(_: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        rows = arrays["entries"]["row"] if of == "class" else arrays["nodes"]["summary"]
        used = rows[: arrays["head"]["n_nodes"][0]] if of == "leaf" else rows
        first = arrays["features"]["offset"][arrays["features"]["kind"] == 0][0]
        arrays["stats"][used[used >= 0][0] * arrays["head"]["row_size"][0] + first + offset] = value

    return change


OTHERS: dict[str, tuple[tuple[str, Change], str]] = {
    "a class twice in a leaf": (("AdaBandit", twice_in_a_leaf), "a class twice"),
    "a leaf with a threshold": (("AdaBandit", leaf("threshold", 1.0)), "a leaf has a threshold"),
    "a leaf that answers another class": (("AdaBandit", leaf("next", 2)), "does not answer its top class"),
    "half an example": (("AdaBandit", leaf("examples", 1.5)), "no whole number"),
    "a leaf without examples": (("AdaBandit", leaf("examples", 0.0)), "examples of a leaf"),
    "a leaf of weight 1e300": (("AdaBandit", leaf("weight", 1e300)), "weight of a leaf"),
    "a leaf without weight": (("AdaBandit", leaf("weight", 0.0)), "last|tried|weight of a leaf"),
    "an attempt of the future": (("AdaBandit", leaf("last_attempt", 1e30)), "tried to split"),
    "a statistic that weighs more than its class": (("OptFull", statistic(0, 1e30)), "more than its class"),
    "a mean beyond the values": (("OptFull", statistic(1, 1e50)), "a mean is not between"),
    "squares beyond the values": (("OptFull", statistic(2, 1e50)), "squares are out of range"),
    "squares below 0": (("OptFull", statistic(2, -1e50)), "squares are out of range"),
    "a statistic of no feature": (("OptFull", statistic(2, 1.0, "leaf")), "of no feature"),
    "rows longer than features": (
        ("AdaBandit", lambda _, a: a["head"].__setitem__("row_size", 2**40)), "row_size",
    ),
    "experts without a largest": (("AdaBandit", lambda _, a: a["weights"][4:].fill(-1.0)), "is the largest"),
    "an expert of weight -1e300": (("AdaBandit", put("weights", -1, -1e300)), "weight of an expert"),
    "a density without a best weight": (("MixFull", put("densities", 0, 1.0)), "is the best"),
    "a loss below 0": (("MixFull", put("densities", (1, 2), -1.0)), "loss of a weight"),
    "a loss of NaN": (("MixBandit", put("densities", (1, 2), np.nan)), "loss of a weight"),
    "a loss of 1e300": (("MixBandit", put("densities", (1, 2), 1e300)), "loss of a weight"),
    "a window that is too wide": (("MixBandit", put("windows", (0, 1), 2.5)), "window of weights is out"),
    "a window that ends before it begins": (("MixBandit", put("windows", (0, 1), -2.0)), "too narrow"),
    "a mean of another density": (("MixBandit", put("weights", 0, 1.5)), "not the mean"),
    "learners that do not sum to 1": (("BinBandit", put("weights", (0, 0), -50.0)), "do not sum to 1"),
    "a recent verdict that was not heard": (("AdaBandit", lambda _, a: a["recent"][:, 0].fill(0.0)), "tally"),
    "a probability of 1e-300": (("AdaBandit", put("recent", (0, 1), 1e-300)), "tally"),
    "sums below the counts": (tally(INVERSE, 0.5), "tally"),
    "sums above the counts": (tally(INVERSE, 1e200), "tally"),
    "squares above the sums": (tally(SQUARES, 1e200), "tally"),
    "squares below the sums": (tally(SQUARES, 1.0), "tally"),
    "right ones below 0": (tally(REWARD_INVERSE, -1.0), "tally"),
    "squared rewards above the rewards": (tally(REWARD_SQUARES, 1e200), "tally"),
    "a reward of 2": (("AdaBandit", put("recent", (0, 2), 2.0)), "tally"),
    "a sum of rewards below that of squares": (("AdaBandit", put("by_label", (0, 2), 1e9)), "tally"),
    "rewards that are larger than they can be": (("AdaBandit", put("by_label", (0, 2), 0.0)), "tally"),
    "explored, NaN": (tally(EXPLORED, np.nan), "tally"),
    "heard more than counted": (tally(HEARD, 1e300), "tally"),
    "more learned than heard": (("half heard", all_learned), "ledger has more"),
    "rows of 2**31 numbers": (
        ("AdaBandit", lambda h, _: h["schema"].update(positions=2**31 - 1)), "longer than any",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", OTHERS)
def test_numbers_of_others(folder: Path, fault: str) -> None:
    (name, change), told = OTHERS[fault]
    with pytest.raises(ModelFileError, match=told):
        banditboost.load(forge(folder / name, change))


ODD_STREAMS = {
    "a deviation that is 0 as a number": (0.0, 3e-162, 1.5e-162, 1.5e-162),
    "products next to 0": (-1.0, 1.0, 1e-75, 4.0, -4.0),
    "the largest": (1e100, -1e100, 1e100, 3.0),
}


@pytest.mark.parametrize("stream", ODD_STREAMS)
def test_odd_numbers_lead_to_sound_models(stream: str, tmp_path: Path) -> None:
    """Each of the first two once led to NaN, or to a model whose own file was refused."""
    model = GapBoost([0, 1], n_learners=2, seed=1)
    for i in range(60):
        decision = model.decide({"x": ODD_STREAMS[stream][i % len(ODD_STREAMS[stream])]})
        assert 0.0 < decision.probability <= 1.0
        model.learn(decision, i % 2 == 0)
    assert reloaded(model, tmp_path / "model").verdicts == 60


def test_columns_in_a_header_are_read_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """GapBoost draws pairs of columns: of 10,000 columns from 50 million, of 100,000 not from a hundred times
    as many; and it sorts only few.
    """
    drawn, looked_at, draw, sort = [], [], layout.pair_draws, np.partition
    monkeypatch.setattr(layout, "pair_draws", lambda *of: drawn.append(of[2] - of[1]) or draw(*of))
    monkeypatch.setattr(np, "partition", lambda a, at: looked_at.append(len(a)) or sort(a, at))
    made = {}
    for n in (2_000, 100_000):
        drawn.clear()
        looked_at.clear()
        layout.lay_out(Schema(numeric=[f"c{i}" for i in range(n)]), 1, 1 << 14)
        made[n] = sum(drawn), sum(looked_at)
    assert made[2_000][0] == 2_000 * 2_001 // 2
    assert made[100_000][0] <= 2**27 + 2**14
    assert made[100_000][1] < 0.1 * made[100_000][0]


def test_pairs_of_columns_are_those_with_the_smallest_draws() -> None:
    """As if all were sorted at once, whether all columns are there or join one by one."""
    n = 3 * layout._DRAWN_AT_ONCE + 17
    order = np.argsort(layout.pair_draws(9, 0, n), kind="stable")[: layout.MOST_PAIRS]
    chosen = layout.choose_pairs(n, 9, layout.NOTHING_CHOSEN)
    assert chosen.numbers.tolist() == sorted(order.tolist())
    grown = layout.NOTHING_CHOSEN
    for some in (0, 1, layout.MOST_PAIRS - 1, layout.MOST_PAIRS, layout.MOST_PAIRS + 1, 10_000, 10_050, n):
        grown = layout.choose_pairs(some, 9, grown)
    assert grown.numbers.tolist() == chosen.numbers.tolist()
    assert grown.draws.tolist() == chosen.draws.tolist()


def test_pairs_that_are_drawn_alike_are_taken_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "pair_draws", lambda _, first, end: np.arange(first, end) % 3 / 3.0)
    chosen = layout.choose_pairs(3 * layout.MOST_PAIRS - 1, 9, layout.NOTHING_CHOSEN)
    assert chosen.numbers.tolist() == list(range(0, 3 * layout.MOST_PAIRS, 3))


def test_growing_models_are_never_refused(tmp_path: Path) -> None:
    """Features and values that join leave spare room behind, which must be empty."""
    for name in ("GapBoost", "AdaBandit", "OptFull"):
        model = trained(name, growing_rows(STREAM))
        go_on(model, growing_rows(STREAM), STREAM.y)
        reloaded(model, tmp_path / name)
