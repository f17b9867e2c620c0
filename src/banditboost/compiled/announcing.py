"""Says once, in the log and on a terminal, that kernels are being compiled: somebody may be waiting."""

from __future__ import annotations

import multiprocessing
import sys

from banditboost.compiled.shipped import why_it_does_not_fit
from banditboost.log import LOGGER

_TOLD: set[str] = set()


def announce(name: str) -> None:
    """Called before an entry is compiled, which is not in the store."""
    LOGGER.debug("compiling %s", name)
    if "compiling" in _TOLD:
        return
    _TOLD.add("compiling")
    reason = why_it_does_not_fit()
    line = "compiling kernels, once for this machine and version: about ten seconds for a booster"
    line = f"{reason}; {line}" if reason else line
    LOGGER.info("%s", line)
    if sys.stderr is not None and sys.stderr.isatty() and multiprocessing.parent_process() is None:
        print(f"banditboost: {line} ...", file=sys.stderr, flush=True)
