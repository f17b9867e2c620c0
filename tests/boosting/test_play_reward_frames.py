"""Frames of rewards: columns are labels, by name; what is wrong is refused, and nothing has changed."""

from __future__ import annotations

import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from banditboost import play
from banditboost.baselines import Majority
from banditboost.errors import ParameterError

LABELS = ["stop", "go", "wait"]
DRAW = np.random.default_rng(3)
MATRIX = DRAW.random((40, 3)).round(3)
X = [{"hour": hour} for hour in range(40)]
TURNED = {"wait": MATRIX[:, 2], "stop": MATRIX[:, 0], "go": MATRIX[:, 1]}
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def model() -> Any:
    return Majority(LABELS, seed=1)


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_found_by_name_whatever_their_order(kind: str) -> None:
    expected = play(model(), X, rewards=MATRIX)
    found = play(model(), X, rewards=KINDS[kind](TURNED))
    assert found.rewards is not None
    assert expected.rewards is not None
    assert found.rewards.tolist() == expected.rewards.tolist()
    assert found.shown.tolist() == expected.shown.tolist()


def test_labels_that_are_no_texts_are_found_by_what_they_read() -> None:
    expected = play(Majority([0, 1, 2], seed=1), X, rewards=MATRIX)
    for frame in (
        pd.DataFrame(MATRIX[:, ::-1], columns=[2, 1, 0]),
        pl.DataFrame({"2": MATRIX[:, 2], "1": MATRIX[:, 1], "0": MATRIX[:, 0]}),
    ):
        found = play(Majority([0, 1, 2], seed=1), X, rewards=frame)
        assert found.mean_reward == expected.mean_reward


def test_numbers_of_other_kinds_keep_their_value() -> None:
    frame = pl.DataFrame({"stop": [True, False], "go": [1, 0], "wait": [decimal.Decimal("0.5")] * 2})
    assert play(model(), X[:2], rewards=frame).mean_reward <= 1.0


BAD = [
    ({"stop": [0.5] * 40, "go": [0.5] * 40}, r"no column of the label 'wait'; give one column for each"),
    ({**TURNED, "goo": [0.5] * 40}, r"a column 'goo', which is none of the labels; give one"),
    ({**TURNED, "go": ["much"] * 40}, r"rewards of 'go' is a column of type .*; give a column of numbers"),
    ({**TURNED, "go": [0.5] * 39 + [None]}, r"rewards of 'go' in row 39 is nan; give numbers from 0 to 1"),
    (
        {**TURNED, "go": [0.5] * 38 + [1.5, 0.5]},
        r"rewards of 'go' in row 38 is 1.5; give numbers from 0 to 1",
    ),
    ({**TURNED, "go": [-0.1] * 40}, r"rewards of 'go' in row 0 is -0.1.*rewards=\(low, high\)"),
    ({name: column[:39] for name, column in TURNED.items()}, r"shape \(39, 3\); give .*shape \(40, 3\)"),
]


@pytest.mark.parametrize(("columns", "message"), BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_refused_and_nothing_has_changed(kind: str, columns: Any, message: str) -> None:
    played = model()
    with pytest.raises(ParameterError, match=message):
        play(played, X, rewards=KINDS[kind](columns))
    assert (played.rounds, len(played.schema)) == (0, 0)


def test_a_name_twice_is_refused() -> None:
    frame = pd.DataFrame(np.hstack([MATRIX, MATRIX[:, :1]]), columns=[*LABELS, "stop"])
    with pytest.raises(ParameterError, match=r"two columns of one name|column"):
        play(model(), X, rewards=frame)
