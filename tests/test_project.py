"""What the project says about itself: versions, commands, sizes and the direction of imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from banditboost._version import __version__

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "banditboost"
SOURCES = sorted(PACKAGE.rglob("*.py"))
HEAVY = {"llvmlite", "matplotlib", "numba", "pandas", "polars", "pyarrow", "scipy", "sklearn"}


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _imported_packages(source: str) -> set[str]:
    """The top-level packages that a module imports, anywhere in it; relative imports are its own package's and do not count."""
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            packages.add(node.module.split(".")[0])
    return packages


def test_changelog_agrees_with_the_version() -> None:
    """The version is either the newest one released, or newer than all and described under Unreleased."""
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    released = [heading for heading in headings if heading != "Unreleased"]
    if __version__ in released:
        assert released[0] == __version__
    else:
        assert headings[0] == "Unreleased"
        assert all(_numbers(version) < _numbers(__version__) for version in released)


def test_citation_agrees_with_the_version() -> None:
    assert re.findall(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE) == [__version__]


def test_the_package_tells_its_version() -> None:
    assert _python("import banditboost; print(banditboost.__version__)").strip() == __version__


def test_continuous_integration_runs_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^<!-- test command -->\n\s*```\w*\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    printed = subprocess.run([ROOT / ".ci" / "run", "--print"], check=True, capture_output=True, text=True).stdout
    assert printed == blocks[0]
    assert printed.strip() == 'pip install -e ".[test]" && make check test test-nojit'


def test_make_help_lists_every_target() -> None:
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert targets is not None
    printed = subprocess.run(["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert [line.split()[0] for line in printed.splitlines()] == targets[1].split()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_file_is_over_500_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


def test_numba_stays_behind_the_border() -> None:
    """Besides `compiled`, it is known to the compiled round and to what binds a round to a model's arrays."""
    importers = {
        path.relative_to(PACKAGE).as_posix()
        for path in SOURCES
        if {"numba", "llvmlite"} & _imported_packages(path.read_text(encoding="utf-8"))
    }
    assert {name for name in importers if not name.startswith("compiled/")} == {
        "boosting/round.py",
        "models/calls.py",
    }


@pytest.mark.parametrize(
    ("source", "packages"),
    [
        ("import numba.core.event", {"numba"}),
        ("def f():\n    from numba import njit", {"numba"}),
        ("import numpy as np, numba as nb", {"numpy", "numba"}),
        ("from .numba import x\nfrom banditboost.compiled import njit", {"banditboost"}),
    ],
)
def test_the_scan_of_imports_sees_every_form(source: str, packages: set[str]) -> None:
    assert _imported_packages(source) == packages


def test_the_slow_twins_import_nothing_from_the_package() -> None:
    for path in (ROOT / "tests" / "naive").rglob("*.py"):
        if not path.name.startswith("test_"):
            assert "banditboost" not in _imported_packages(path.read_text(encoding="utf-8")), path


def test_imports_go_one_way() -> None:
    code = "from importlinter.cli import lint_imports_command as lint; lint(['--no-cache'])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = _python("import sys, banditboost; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "banditboost" in loaded
    assert HEAVY.isdisjoint(loaded)
