"""What happens at the memory ceiling is told at INFO, seldom, and to nobody who did not ask."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import pytest

from banditboost.log import LOGGER
from tests.weak_learners.test_forest_memory import make, sleepers, train

N_EXAMPLES, TIGHT = 600, 8192


def test_no_handler_of_ours_prints() -> None:
    assert [type(handler) for handler in LOGGER.handlers] == [logging.NullHandler]
    assert LOGGER.name == "banditboost"
    assert LOGGER.level == logging.NOTSET


def test_importing_the_package_loads_no_logging() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, banditboost; print('logging' in sys.modules)"],
        capture_output=True,
        text=True,
    )
    assert loaded.stdout.strip() == "False"


def test_leaves_that_fall_asleep_are_told_of_at_powers_of_two(caplog: pytest.LogCaptureFixture) -> None:
    committee = make(max_memory=TIGHT, n_trees=1)
    with caplog.at_level(logging.INFO, logger="banditboost"):
        train(committee, N_EXAMPLES)
    told = [
        record.getMessage()
        for record in caplog.records
        if "asleep" in record.getMessage() or "sleep" in record.getMessage()
    ]
    found = [
        re.fullmatch(
            rf"memory ceiling of {TIGHT} bytes met: (\d+) leaves put to sleep, \d+ woken \(time (\d+) .*\)",
            line,
        )
        for line in told
    ]
    assert all(found)
    times = [int(match[2]) for match in found if match]
    assert times == [2**i for i in range(len(times))]
    assert times[-1] <= committee._times_put_to_sleep < 2 * times[-1]
    assert len(times) >= 3
    assert sleepers(committee)
    assert all(record.levelno == logging.INFO and record.name == "banditboost" for record in caplog.records)


def test_a_pool_that_is_used_up_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    committee = make(max_memory=TIGHT, n_trees=1)
    with caplog.at_level(logging.INFO, logger="banditboost"):
        train(committee, N_EXAMPLES)
    head = committee.forest.head[0]
    expected = [pool for pool in ("nodes", "entries") if head[f"{pool}_full"]]
    told = [record.getMessage() for record in caplog.records if "split only where" in record.getMessage()]
    assert sorted(re.findall(r"no more (\w+)", " ".join(told))) == sorted(expected)
    assert expected


def test_below_the_ceiling_nothing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="banditboost"):
        train(make(max_memory=1 << 28, n_trees=1), 200)
    assert caplog.records == []
