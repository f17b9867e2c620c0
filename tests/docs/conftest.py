"""The site, built once for all tests of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from tests.docs.pages import DOCS, ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if config.DISABLE_JIT:
        pytest.skip("is the same in the compiled run")
    for package in ("zensical", "mkdocstrings_handlers.python"):
        pytest.importorskip(package, reason="the site is made with the extra docs: pip install -e '.[docs]'")
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(DOCS, root / "docs")
    shutil.copy(ROOT / "zensical.toml", root)
    shutil.copy(ROOT / "CONTRIBUTING.md", root)
    (root / "src").symlink_to(ROOT / "src")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=root,
        check=False,
        capture_output=True,
        text=True,
    )
    said = built.stdout + built.stderr
    assert built.returncode == 0, said
    assert "arning" not in said, said
    assert "griffe" not in said, said
    return root / "site"
