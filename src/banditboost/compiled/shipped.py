"""The machine code that a wheel carries: for a common baseline of processors, one version of Python and one
of Numba.

`make wheel` writes it (packaging/wheel.py). It is used where all of that fits; else kernels are compiled as
from a source checkout.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from llvmlite import binding

FOLDER = Path(__file__).parents[1] / "machine_code"
MANIFEST = "manifest.json"
# What a processor must have for machine code that was made for a baseline.
BASELINES: dict[str, tuple[str, ...]] = {
    "x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
    "generic": (),  # of arm64
}
_REASON = ""


class Shipment(NamedTuple):
    """Where the files are, and the target that they were made for."""

    directory: Path
    target: tuple[str, ...]


def shipment(digest: str, versions: tuple[str, ...]) -> Shipment | None:
    """The machine code of this wheel, if it fits the sources, the versions and the processor."""
    global _REASON
    manifest = _manifest()
    if manifest is None:
        return None
    wanted = tuple(manifest["versions"])
    if manifest["digest"] != digest:
        _REASON = "the sources have been changed since the wheel was made"
    elif wanted != versions:
        _REASON = f"the wheel's machine code is for {', '.join(wanted)}, and this is {', '.join(versions)}"
    elif not _processor_has(manifest["baseline"]):
        _REASON = f"the wheel's machine code is for {manifest['baseline']}, which this processor is not"
    else:
        return Shipment(FOLDER, tuple(manifest["target"]))
    return None


def why_it_does_not_fit() -> str:
    """Why the machine code of this wheel is not used; empty if there is none, or if it is."""
    return _REASON


@cache
def _manifest() -> dict[str, Any] | None:
    try:
        manifest: dict[str, Any] = json.loads((FOLDER / MANIFEST).read_text(encoding="utf-8"))
    except OSError:
        return None
    return manifest


def _processor_has(baseline: str) -> bool:
    features = binding.get_host_cpu_features()
    return baseline in BASELINES and all(features.get(feature, False) for feature in BASELINES[baseline])
