"""Where a record was made: versions, machine, memory."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

from banditboost._version import __version__


@cache
def versions() -> dict[str, str]:
    return {
        "banditboost": __version__,
        "numpy": version("numpy"),
        "numba": version("numba"),
        "python": platform.python_version(),
    }


@cache
def machine() -> dict[str, str | int]:
    return {"system": platform.platform(), "cpu": _cpu(), "cores": os.cpu_count() or 1}


def peak_memory() -> int | None:
    """The most bytes this process has held since it was started; None where that cannot be known."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )
