"""The page of coverage says what its record says; the worlds are what their words say."""

from __future__ import annotations

import numpy as np
import pytest

from banditboost.evaluation.sequence import Sequence
from benchmarks import records
from benchmarks.coverage import page
from benchmarks.coverage.measure import SEQUENCES, heard, scores
from benchmarks.coverage.worlds import N_ROWS, worlds

LINES = records.read(records.path_of(page.NAME))


def test_sequences_and_bernsteins_hold_everywhere_as_the_page_says() -> None:
    short = [
        (line["setting"], found["estimator"], found["kind"])
        for line in LINES
        for found in line["intervals"]
        for held in (found["held"], found["always"])
        if held is not None
        and found["kind"] in ("sequence", "bernstein")
        and page.falls_short(held, line["logs"], line["level"])
    ]
    assert short == []
    assert all(line["logs"] >= 2000 for line in LINES)
    assert {line["setting"] for line in LINES} == {world.name for world in worlds()}


@pytest.mark.parametrize("world", worlds(), ids=lambda world: world.name)
def test_a_world_is_what_it_says(world: object) -> None:
    log = world.log(3)  # type: ignore[attr-defined]
    k = log.policy.shape[1]
    for shares in (log.logging, log.policy):
        assert np.allclose(shares.sum(axis=1), 1.0)
        assert shares.min() > 0.0
    assert set(np.unique(log.action)) <= set(range(k))
    assert log.reward.min() >= 0.0
    assert log.reward.max() <= 1.0
    assert len(log.value) == N_ROWS
    w = (log.policy / log.logging)[np.arange(N_ROWS), log.action]
    assert 0.0 <= w.mean() < 6.0


def test_scores_side_by_side_are_those_of_the_running_sums() -> None:
    log = worlds()[0].log(0)
    value, ahead = heard(log)
    for name, pair in scores(log).items():
        sequence = Sequence(*SEQUENCES[name])
        sequence.add(*pair)
        told = ahead[name].interval() if name in ahead else value.interval(name)
        assert told[:2] == pytest.approx([float(end) for end in sequence.anytime(0.95)], abs=1e-9)
