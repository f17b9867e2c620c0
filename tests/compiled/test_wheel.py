"""A wheel that carries machine code: nothing is compiled where it fits, and results are those of kernels that are
compiled for the same kind of processor, to the last bit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from numba import config

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

PLAY = """
import hashlib, logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stderr)
import numpy as np
from banditboost import AdaBandit, GapBoost, datasets, play

stream = datasets.load("car").stream(repeat=1, seed=4)
for kind in (GapBoost, AdaBandit):
    model = kind(stream.labels, schema=stream.schema(), seed=4)
    result = play(model, *stream)
    digest = hashlib.sha256(result.shown.tobytes())
    for row in stream.X[:200]:
        decision = model.decide(row)
        model.learn(decision, decision.label == stream.labels[0])
        digest.update(decision._memo.tobytes())
    print(kind.__name__, result.accuracy, digest.hexdigest())
"""
GUESS = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stderr)
from banditboost import baselines
print(baselines.Random(["a", "b"], seed=1).decide({"x": 1.0}).label)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pip would make of the wheel that `make wheel` builds."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, str(ROOT / "scripts" / "build_wheel.py"), "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ)
    (wheel,) = folder.glob("*.whl")
    assert "-cp3" in wheel.name
    assert "none-any" not in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(script: str, site: Path | None, cache: Path, **more: str) -> tuple[str, str, list[Path]]:
    """What a script prints and logs with an empty cache, and what it has compiled."""
    path = ROOT / "src" if site is None else site
    environment = {**os.environ, "PYTHONPATH": str(path), "NUMBA_CACHE_DIR": str(cache), **more}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, cwd=cache.parent
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr, sorted(cache.rglob("*.code"))


def test_nothing_is_compiled_and_results_are_those_of_compiled_kernels(site: Path, tmp_path: Path) -> None:
    shipped, said, compiled = run(PLAY, site, tmp_path / "shipped")
    assert compiled == []
    assert "compiling" not in said
    manifest = json.loads((site / "banditboost" / "machine_code" / "manifest.json").read_text())
    # Code for this very processor may add more products without rounding in between: other last bits.
    target = {"NUMBA_CPU_NAME": manifest["baseline"], "NUMBA_CPU_FEATURES": ""}
    here, said, compiled = run(PLAY, None, tmp_path / "here", **target)
    assert compiled != []
    assert "compiling" in said
    assert here == shipped


def test_what_a_wheel_takes_is_named(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "build_wheel.py"
    code = (
        "import importlib.util, runpy, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'hatchling' else found(name)\n"
        f"sys.argv = [{str(script)!r}, '--out', {str(tmp_path)!r}]\n"
        f"runpy.run_path({str(script)!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message = "error: a wheel takes hatchling; install it with: pip install -e '.[wheel]'\n"
    assert (done.returncode, done.stderr) == (1, message)
    assert list(tmp_path.iterdir()) == []


DAMAGES = ["", "{", "[]", "{}", '{"digest": 1, "versions": 2, "baseline": 3, "target": 4}', "\ud800"]


@pytest.mark.parametrize("text", DAMAGES)
def test_a_damaged_manifest_is_no_machine_code(site: Path, tmp_path: Path, text: str) -> None:
    manifest = site / "banditboost" / "machine_code" / "manifest.json"
    kept = manifest.read_bytes()
    try:
        manifest.write_text(text, encoding="utf-8", errors="surrogatepass")
        label, said, compiled = run(GUESS, site, tmp_path / "cache")
    finally:
        manifest.write_bytes(kept)
    assert label.strip() in ("a", "b")
    assert f"{manifest} is damaged (install the wheel again); compiling kernels" in said
    assert compiled != []


def test_damaged_machine_code_is_compiled_and_named(site: Path, tmp_path: Path) -> None:
    files = {path: path.read_bytes() for path in (site / "banditboost" / "machine_code").glob("*.code")}
    try:
        for path, contents in files.items():
            path.write_bytes(contents[: len(contents) // 2])
        _, said, compiled = run(GUESS, site, tmp_path / "cache")
    finally:
        for path, contents in files.items():
            path.write_bytes(contents)
    assert any(f"{path} is damaged; compiling kernels" in said for path in files)
    assert compiled != []


def test_warm_says_that_the_wheel_brings_it(site: Path, tmp_path: Path) -> None:
    code = "import sys; sys.argv[1:] = ['warm', 'majority', '--jobs', '1']; import banditboost.cli as c; c.main()"
    _, said, compiled = run(code, site, tmp_path / "cache")
    assert f"the wheel brings the machine code, in {site / 'banditboost' / 'machine_code'}" in said
    assert compiled == []


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("versions", ["cpython 3.9", "linux"], "is for cpython 3.9"),
        ("digest", "0" * 16, "sources have been changed"),
        ("baseline", "x86-64-v9", "which this processor is not"),
    ],
)
def test_where_it_does_not_fit_it_says_so_and_compiles(
    site: Path, tmp_path: Path, field: str, value: object, reason: str
) -> None:
    manifest = site / "banditboost" / "machine_code" / "manifest.json"
    kept = manifest.read_text(encoding="utf-8")
    try:
        manifest.write_text(json.dumps({**json.loads(kept), field: value}), encoding="utf-8")
        label, said, compiled = run(GUESS, site, tmp_path / "cache")
    finally:
        manifest.write_text(kept, encoding="utf-8")
    assert label.strip() in ("a", "b")
    assert reason in said
    assert "compiling kernels" in said
    assert compiled != []
