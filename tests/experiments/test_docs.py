"""The examples of docs/experiments.md run."""

from __future__ import annotations

import doctest
import os
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plays 50,000 rounds")
def test_the_examples_say_what_happens() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 20
    assert failed == 0
