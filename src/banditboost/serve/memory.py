"""Memory that models have left goes back to the system, where the C library would keep it.

Models are many arrays of all sizes. What one leaves behind is not what the next one needs, and each thread
has a pool of its own: a service that put models away all the time held four times what its models weigh.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

_ARENA_MAX = -8  # of glibc's mallopt


@cache
def _library() -> Any:
    """The C library if it is glibc, else None."""
    try:
        found = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return found if hasattr(found, "malloc_trim") else None


def share_one_pool() -> None:
    """All threads take memory from one pool. To be called before there are threads."""
    if (library := _library()) is not None:
        library.mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Give free memory back to the system; milliseconds, in which other threads go on."""
    if (library := _library()) is not None:
        library.malloc_trim(0)
