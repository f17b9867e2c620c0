"""The machine code that a wheel carries: for a common baseline of processors, one version of Python and one
of Numba.

`make wheel` writes it (scripts/build_wheel.py). It is used where all of that fits; else kernels are compiled
as from a source checkout.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

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


class _Manifest(NamedTuple):
    """What the machine code was made from, by and for."""

    digest: str
    versions: list[str]
    baseline: str
    target: list[str]


def shipment(digest: str, versions: tuple[str, ...]) -> Shipment | None:
    """The machine code of this wheel, if it fits the sources, the versions and the processor."""
    global _REASON
    try:
        manifest = _read_manifest(FOLDER / MANIFEST)
    except FileNotFoundError:  # a source checkout
        return None
    except (OSError, TypeError, ValueError):
        _REASON = f"the wheel's {FOLDER / MANIFEST} is damaged (install the wheel again)"
        return None
    _REASON = _misfit(manifest, digest, versions)
    return None if _REASON else Shipment(FOLDER, tuple(manifest.target))


def _misfit(manifest: _Manifest, digest: str, versions: tuple[str, ...]) -> str:
    if manifest.digest != digest:
        return "the sources have been changed since the wheel was made"
    if tuple(manifest.versions) != versions:
        made_by, here = ", ".join(manifest.versions), ", ".join(versions)
        return f"the wheel's machine code is for {made_by}, and this is {here}"
    if not _processor_has(manifest.baseline):
        return f"the wheel's machine code is for {manifest.baseline}, which this processor is not"
    return ""


def why_it_does_not_fit() -> str:
    """Why the machine code of this wheel is not used; empty if there is none, or if it is."""
    return _REASON


def _read_manifest(path: Path) -> _Manifest:
    """What a manifest tells; a TypeError or ValueError if it is damaged."""
    manifest = _Manifest(**json.loads(path.read_text(encoding="utf-8")))
    texts = (manifest.digest, manifest.baseline)
    lists = (manifest.versions, manifest.target)
    if not all(isinstance(text, str) for text in texts) or not all(
        isinstance(list_, list) and all(isinstance(text, str) for text in list_) for list_ in lists
    ):
        raise TypeError("not the kinds of values that scripts/build_wheel.py writes")
    return manifest


def _processor_has(baseline: str) -> bool:
    features = binding.get_host_cpu_features()
    return baseline in BASELINES and all(features.get(feature, False) for feature in BASELINES[baseline])
