"""The machine a benchmark runs on: one core of it, its name, the memory in use."""

import os
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import banditboost

PACKAGES = ("numpy", "numba", "river", "capymoa")


def pin(core: int | None = None) -> int | None:
    """Stay on one core (default: the last one allowed).

    Threads started later, the JVM's too, stay there as well.
    """
    if not hasattr(os, "sched_setaffinity"):
        return None
    chosen = max(os.sched_getaffinity(0)) if core is None else core
    os.sched_setaffinity(0, {chosen})
    return chosen


def describe(core: int | None, packages: Sequence[str] = PACKAGES) -> dict[str, str]:
    """What to print above a table of rates, and to keep in a record: processor and versions."""
    return {
        "cpu": f"{_cpu()}, core {core}" if core is not None else _cpu(),
        "python": platform.python_version(),
        "banditboost": banditboost.__version__,
        **{name: _version(name) for name in packages},
    }


def memory() -> int:
    """Bytes of memory this process holds, or 0 where that cannot be read."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
