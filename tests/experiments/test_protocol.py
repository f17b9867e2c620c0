"""The paper's parameters, spot-checked against its tables."""

from dataclasses import asdict
from typing import Any

import pytest

from banditboost import datasets
from banditboost.datasets.summary import SUMMARY
from banditboost.experiments import protocol
from banditboost.experiments.errors import ExperimentError

ROUNDS = {
    "balance": 6_250,
    "car": 10_368,
    "nursery": 51_840,
    "movement": 165_633,
    "mice": 8_640,
    "isolet": 116_955,
}


def test_rounds_and_labels() -> None:
    assert {name: plan.rounds for name, plan in protocol.STREAMS.items()} == ROUNDS
    assert [plan.n_labels for plan in protocol.STREAMS.values()] == [3, 4, 5, 5, 8, 26]
    assert tuple(protocol.STREAMS) == datasets.names()


def test_seeds() -> None:
    assert [len(plan.seeds) for plan in protocol.STREAMS.values()] == [20, 20, 20, 10, 20, 10]
    assert {plan.seeds[0] for plan in protocol.STREAMS.values()} == {4}


def test_bandit_settings() -> None:
    balance = protocol.setting("balance", "AdaBandit")
    assert (balance.n_learners, balance.exploration, balance.edge, balance.clip) == (15, 0.001, 0.1, 100)
    assert balance.trees == protocol.TreeRanges(
        grace_period=(5, 20), tie_threshold=(0.01, 0.9), split_confidence=(0.01, 0.9)
    )
    mice = protocol.setting("mice", "OptBandit")
    assert (mice.n_learners, mice.exploration) == (10, 0.1)
    assert mice.trees == protocol.TreeRanges(
        grace_period=(300, 301), tie_threshold=(0.7, 0.8), split_confidence=(1e-11, 1e-10)
    )


def test_full_information_settings() -> None:
    for algorithm in ("AdaFull", "OptFull"):
        setting = protocol.setting("isolet", algorithm)
        assert (setting.n_learners, setting.exploration) == (20, None)
        assert setting.trees == protocol.TreeRanges(
            grace_period=(50, 200), tie_threshold=(0.01, 0.9), split_confidence=(1e-11, 0.9)
        )


@pytest.mark.parametrize("mode", protocol.MODES)
def test_binary_settings(mode: protocol.Mode) -> None:
    setting = protocol.setting("isolet", "BinBandit", mode)
    assert (setting.n_learners, setting.exploration, setting.importance_scale) == (10, 0.1, 1.0)
    assert setting.clip is None


def test_importance_scales() -> None:
    scales = {
        (d, a): protocol.setting(d, a).importance_scale for d in protocol.STREAMS for a in protocol.ALGORITHMS
    }
    assert {key: scale for key, scale in scales.items() if scale != 1} == {
        ("isolet", "OptBandit"): 1 / 25,
        ("isolet", "AdaBandit"): 1 / 25,
    }


def test_the_text_changes_these_settings_and_no_others() -> None:
    changed = {}
    for d in protocol.STREAMS:
        for a in protocol.ALGORITHMS:
            ours, text = (asdict(protocol.setting(d, a, mode)) for mode in ("ours", "text"))
            changed[d, a] = {name: text[name] for name in ours if ours[name] != text[name]}
    for (_, algorithm), changes in changed.items():
        assert changes == ({} if algorithm == "BinBandit" else {"lesson": "text"})


def test_importance_scales_of_the_text() -> None:
    scales = {
        (d, a): protocol.setting(d, a, "text").importance_scale
        for d in protocol.STREAMS
        for a in protocol.ALGORITHMS
    }
    assert {key: scale for key, scale in scales.items() if scale != 1} == {
        ("isolet", "OptBandit"): 1 / 25,
        ("isolet", "AdaBandit"): 1 / 25,
    }


def test_movement_has_a_row_less_in_the_text() -> None:
    rows = {mode: [protocol.rows(name, mode) for name in protocol.STREAMS] for mode in protocol.MODES}
    assert rows["ours"] == [625, 1_728, 12_960, 165_633, 1_080, 7_797]
    assert rows["text"] == [625, 1_728, 12_960, 165_632, 1_080, 7_797]


@pytest.mark.parametrize("mode", ["program", "Text", None, ["text"]])
def test_unknown_mode(mode: Any) -> None:
    with pytest.raises(ExperimentError, match=r"mode is .*; give 'text' or 'ours'"):
        protocol.setting("car", "AdaBandit", mode)


def test_the_program_was_measured_where_it_was() -> None:
    assert {data: len(cells) for data, cells in protocol.PROGRAM.items()} == {
        "balance": 5,
        "car": 4,
        "nursery": 2,
        "mice": 1,
    }
    assert protocol.PROGRAM["car"]["AdaBandit"] == protocol.Printed(last=0.974, total=0.929)


def test_unknown_setting() -> None:
    with pytest.raises(
        ExperimentError, match="no 'BanditBBM' on 'car' in the paper: it has OptBandit, AdaBandit"
    ):
        protocol.setting("car", "BanditBBM")
    with pytest.raises(ExperimentError, match="no 'AdaBandit' on 'cars' in the paper"):
        protocol.setting("cars", "AdaBandit")


def test_printed_figures() -> None:
    assert {(d, a) for d, cells in protocol.PRINTED.items() for a in cells} == {
        (d, a) for d in protocol.STREAMS for a in protocol.ALGORITHMS
    }
    assert protocol.PRINTED["balance"]["AdaBandit"] == protocol.Printed(last=0.97, total=0.91)
    assert protocol.PRINTED["isolet"]["AdaFull"] == protocol.Printed(last=0.90, total=0.78)
    assert protocol.PRINTED["mice"]["OptBandit"] == protocol.Printed(last=0.73, total=0.53)


def test_streams_have_the_sizes_of_the_data() -> None:
    sizes = {name: (plan.rows, plan.n_labels) for name, plan in protocol.STREAMS.items()}
    assert sizes == {name: (row.rows, row.n_labels) for name, row in SUMMARY.items()}
