"""What the project says about itself: versions, commands, sizes and the direction of imports."""

from __future__ import annotations

import ast
import os
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
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _imported_packages(source: str) -> set[str]:
    """The top-level packages that a module imports, anywhere in it; relative imports are its own package's
    and do not count.
    """
    packages = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            packages |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            packages.add(node.module.split(".")[0])
    return packages


def test_changelog_agrees_with_the_version() -> None:
    """The version is either the newest one released, or newer than all and described under Unreleased."""
    headings = re.findall(
        r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    released = [heading for heading in headings if heading != "Unreleased"]
    if __version__ in released:
        assert released[0] == __version__
    else:
        assert headings[0] == "Unreleased"
        assert all(_numbers(version) < _numbers(__version__) for version in released)


def test_citation_agrees_with_the_version() -> None:
    assert re.findall(
        r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), flags=re.MULTILINE
    ) == [__version__]


def test_the_package_tells_its_version() -> None:
    assert _python("import banditboost; print(banditboost.__version__)").strip() == __version__


def test_continuous_integration_runs_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(
        r"^<!-- test command -->\n\s*```\w*\n(.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL
    )
    assert len(blocks) == 1
    printed = subprocess.run(
        [ROOT / ".ci" / "run", "--print"], check=True, capture_output=True, text=True
    ).stdout
    assert printed == blocks[0]
    assert printed.strip() == 'pip install -e ".[test]" && make check test test-nojit'


def test_make_help_lists_every_target() -> None:
    targets = re.search(
        r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert targets is not None
    printed = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
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
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = _python("import sys, banditboost; print(*{name.split('.')[0] for name in sys.modules})").split()
    assert "banditboost" in loaded
    assert HEAVY.isdisjoint(loaded)


LEFT_OUT = {
    "import nothing_of_this_name": "No module named 'nothing_of_this_name'",
    "import pytest\npytest.skip('some day', allow_module_level=True)": "was left out: .*some day",
    "import pytest\npytest.importorskip('nothing_of_this_name')": "was left out: .*could not import",
}


def _collect(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Collect one module of tests with the settings of all."""
    (folder / "test_module.py").write_text(f"{source}\n\n\ndef test_nothing() -> None:\n    pass\n")
    hooks = "pytest_configure, pytest_make_collect_report"
    (folder / "conftest.py").write_text(f"from tests.conftest import {hooks}\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--doctest-modules",
        f"--rootdir={folder}",
        *options,
        str(folder),
    ]
    where = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(PACKAGE.parent)]),
        "PYTEST_ADDOPTS": "",
    }
    return subprocess.run(command, cwd=folder, env=where, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("source", LEFT_OUT)
def test_a_module_that_cannot_be_imported_is_an_error(tmp_path: Path, source: str) -> None:
    collected = _collect(tmp_path, source)
    assert collected.returncode == pytest.ExitCode.INTERRUPTED, collected.stdout
    assert re.search(LEFT_OUT[source], collected.stdout)


def test_a_module_may_be_left_out_that_says_what_to_install(tmp_path: Path) -> None:
    source = "import pytest\npytest.importorskip('nothing_of_this_name', reason='pip install nothing')"
    assert _collect(tmp_path, source).returncode == pytest.ExitCode.NO_TESTS_COLLECTED


def test_errors_of_imports_cannot_be_ignored(tmp_path: Path) -> None:
    refused = _collect(tmp_path, "import nothing_of_this_name", "--doctest-ignore-import-errors")
    assert refused.returncode == pytest.ExitCode.USAGE_ERROR
    assert "do without it" in refused.stderr
