"""The examples of docs/interop.md run."""

from __future__ import annotations

import doctest
import os
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "interop.md"


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="plays 8,000 rounds")
def test_the_examples_say_what_happens():
    for package in ("river", "sklearn", "polars"):
        pytest.importorskip(package, reason=f"{package} is not installed, and the page shows it")
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 30
    assert failed == 0
