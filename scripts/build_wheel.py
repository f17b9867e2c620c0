"""`python scripts/build_wheel.py [--out dist]`: a wheel for this platform that carries compiled kernels.

The kernels are compiled for a common baseline of processors (x86-64-v3; on arm64 the generic one), by this
Python and this Numba. Where a wheel's machine code does not fit, kernels are compiled when they are first
called, as from a source checkout.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
NEEDED = ("hatchling", "wheel")
BASELINES = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3", "aarch64": "generic", "arm64": "generic"}
_DESCRIBE = """
import json
from banditboost.compiled.store import cache_directory, source_digest, versions
from numba.core.registry import cpu_target
target = cpu_target.target_context.codegen().magic_tuple()
print(json.dumps({"digest": source_digest(), "versions": versions(), "target": target, "from": str(cache_directory())}))
"""


def run(*command: str, **environment: str) -> str:
    done = subprocess.run(
        command, check=True, text=True, stdout=subprocess.PIPE, env={**os.environ, **environment}
    )
    return done.stdout


def add_machine_code(unpacked: Path, scratch: Path) -> None:
    """Compile all kernels of an unpacked wheel for the baseline, and put the machine code into its package."""
    baseline = BASELINES[platform.machine().lower()]
    environment = {
        "PYTHONPATH": str(unpacked),
        "NUMBA_CACHE_DIR": str(scratch / "cache"),
        "NUMBA_CPU_NAME": baseline,
        "NUMBA_CPU_FEATURES": "",
    }
    python = sys.executable
    run(python, "-c", "from banditboost.warming import warm; warm()", **environment)
    told = json.loads(run(python, "-c", _DESCRIBE, **environment))
    folder = unpacked / "banditboost" / "machine_code"
    shutil.copytree(told.pop("from"), folder)
    manifest = {"baseline": baseline, **told}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def build(out: Path) -> Path:
    """The wheel's path."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        python = sys.executable
        run(python, "-m", "hatchling", "build", "-t", "wheel", "-d", str(scratch / "pure"))
        (pure,) = (scratch / "pure").glob("*.whl")
        run(python, "-m", "wheel", "unpack", "-d", str(scratch / "unpacked"), str(pure))
        (unpacked,) = (scratch / "unpacked").iterdir()
        add_machine_code(unpacked, scratch)
        run(python, "-m", "wheel", "pack", "-d", str(scratch), str(unpacked))
        (packed,) = scratch.glob("*.whl")
        version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
        tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        tags = ("--python-tag", version, "--abi-tag", version, "--platform-tag", tag)
        name = run(python, "-m", "wheel", "tags", "--remove", *tags, str(packed)).split()[-1]
        return Path(shutil.move(scratch / name, out / name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to put the wheel")
    arguments = parser.parse_args()
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        sys.exit(f"error: a wheel takes {' and '.join(missing)}; install it with: pip install -e '.[wheel]'")
    os.chdir(ROOT)
    wheel = build(arguments.out.absolute())
    print(f"{wheel} ({wheel.stat().st_size / 2**20:.1f} MiB)")


if __name__ == "__main__":
    main()
