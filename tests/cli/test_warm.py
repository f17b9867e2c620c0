"""`banditboost warm`: everything is compiled beforehand, and kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

COMMAND = [sys.executable, "-m", "banditboost", "warm"]


def run(*arguments: str, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_what_is_warm_is_not_compiled_again(tmp_path: Path) -> None:
    first = run("majority", "--jobs", "1", cache=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "3 of 3: Majority learn and play" in first.stderr
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.code")}
    assert any("learn_forest" in path.name for path in kept)
    assert any("majority.decide" in path.name for path in kept)
    again = run("Majority", "--jobs", "2", "--json", cache=tmp_path)
    assert json.loads(again.stdout)["models"] == ["Majority"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.code")} == kept


def test_an_unknown_model_is_refused(tmp_path: Path) -> None:
    refused = run("GapBost", cache=tmp_path)
    assert refused.returncode == 2
    assert "unknown model 'GapBost'" in refused.stderr
    assert "GapBoost" in refused.stderr


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
def test_where_nothing_can_be_kept_it_says_so_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refused = run("majority", cache=tmp_path / "file")
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"error: kernels cannot be kept: {tmp_path / 'file'}/kernels-")
    assert "cannot be written to (set NUMBA_CACHE_DIR to a folder that can be)" in refused.stderr
    assert "of 3" not in refused.stderr
    assert refused.stdout == ""


def test_without_the_compiler_there_is_nothing_to_warm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    refused = run("majority", cache=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "NUMBA_DISABLE_JIT is set, and nothing is compiled (unset it)" in refused.stderr
