"""Schedules are plain data, whatever numbers they were made of."""

from __future__ import annotations

import json

import numpy as np
import pytest

from banditboost.errors import ParameterError
from banditboost.schedules import Adaptive, Decaying, Theory, from_plain, to_plain


def test_numbers_of_numpy_become_plain() -> None:
    for schedule in (
        Decaying(scale=np.int64(2), power=np.float32(0.5)),
        Theory(rounds=np.int32(9)),
        Adaptive(memory=np.int8(9)),
    ):
        assert from_plain(json.loads(json.dumps(to_plain(schedule)))) == schedule


def test_plain_numbers_stay_as_they_are() -> None:
    assert (
        json.dumps(to_plain(Adaptive(memory=900))).count("900,")
        + json.dumps(to_plain(Adaptive(memory=900))).count("900}")
        == 1
    )


def test_a_refusal_says_what_would_do() -> None:
    with pytest.raises(ParameterError, match=r"^memory is 0\.5; give a number in \(1, 1e\+12\]$"):
        Adaptive(memory=0.5)
    with pytest.raises(
        ParameterError, match=r"^rounds is 0; give a whole number from 1 to 2\*\*53: the length of the stream"
    ):
        Theory(rounds=0)
