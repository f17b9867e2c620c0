"""Continuous integration looks at pages in a browser, or says that it does not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

SCRIPT = ROOT / ".ci" / "browser"


def run(folder: Path, **programs: str) -> subprocess.CompletedProcess[str]:
    """With these programs on the path, and bash."""
    for name, text in programs.items():
        (folder / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (folder / name).chmod(0o755)
    command = [str(shutil.which("bash")), str(SCRIPT)]
    return subprocess.run(command, env={"PATH": str(folder)}, check=False, capture_output=True, text=True)


def test_a_browser_that_is_there_is_used(tmp_path: Path) -> None:
    told = run(tmp_path, chromium="exit 1")
    assert told.returncode == 0
    assert told.stdout == f".ci/browser: the browser tests use {tmp_path}/chromium\n"


def test_where_there_is_none_it_says_so(tmp_path: Path) -> None:
    told = run(tmp_path)
    assert told.returncode == 0
    assert "it is installed by root with apt-get only: the browser tests are SKIPPED" in told.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root installs")
@pytest.mark.parametrize(
    ("code", "said"), [(0, "Chromium was installed"), (1, "apt-get could not install it")]
)
def test_root_installs_it(tmp_path: Path, code: int, said: str) -> None:
    told = run(tmp_path, **{"apt-get": f'echo "$@" >> {tmp_path}/asked; [[ $1 == update ]] || exit {code}'})
    assert told.returncode == 0
    assert said in told.stdout + told.stderr
    assert "install -y -qq --no-install-recommends chromium" in (tmp_path / "asked").read_text()


def test_the_run_asks_for_a_browser_first() -> None:
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert text.index('"$root/.ci/browser"') < text.index("python3 -m venv")
