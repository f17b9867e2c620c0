"""Snapshots take little room: a young model is 2 MiB, most of which says the same, and 60 KiB of zlib."""

from __future__ import annotations

import zlib

from banditboost.serve.store.base import Snapshot

_MAGIC = b"packed:1"  # no model's file begins like this
_MOST = 16 << 20
"""Bytes. A larger one has learned much and would take a second, for little."""


def packed(snapshot: Snapshot) -> bytes:
    """File and state, as they are kept."""
    body = snapshot.file + snapshot.state
    return body if len(body) > _MOST else _MAGIC + zlib.compress(body, 1)


def unpacked(stored: bytes) -> bytes | None:
    """The same bytes again, as far as can be told without a checksum; None if they are damaged.

    What an earlier version wrote is kept as it is.
    """
    if not stored.startswith(_MAGIC):
        return stored
    try:
        return zlib.decompress(stored[len(_MAGIC) :])
    except zlib.error:
        return None
