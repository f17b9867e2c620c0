"""A few kills; `python -m benchmarks.crash` does three hundred."""

from __future__ import annotations

from pathlib import Path

from benchmarks.crash.killing import kill_again_and_again


def test_nothing_answered_is_lost_and_the_model_is_that_of_the_log(tmp_path: Path) -> None:
    found = kill_again_and_again(tmp_path, kills=4, seed=5, most_seconds=0.4)
    assert found.lost == []
    assert found.wrong == []
    assert len(found.kills) == 4
    assert found.answers > 20
