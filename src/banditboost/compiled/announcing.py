"""Says once, in the log and on a terminal, that kernels are being compiled: somebody may be waiting."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterable

from banditboost.log import LOGGER

HOW_LONG = "about ten seconds"
_TOLD: set[str] = set()


def announce(name: str, reasons: Iterable[str], not_kept: str) -> None:
    """Called before an entry is compiled, which is not in the store.

    Args:
        name: the entry's.
        reasons: why machine code that is there is of no use.
        not_kept: why what is compiled will not be kept; empty if it will.
    """
    LOGGER.debug("compiling %s", name)
    if "compiling" in _TOLD:
        return
    _TOLD.add("compiling")
    how_often = f"in every process, because {not_kept}" if not_kept else "once for this machine and version"
    line = "; ".join([*filter(None, reasons), f"compiling kernels, {how_often}: {HOW_LONG} for a booster"])
    LOGGER.info("%s", line)
    if sys.stderr is not None and sys.stderr.isatty() and multiprocessing.parent_process() is None:
        print(f"banditboost: {line} ...", file=sys.stderr, flush=True)
