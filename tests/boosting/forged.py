"""Stored decisions with something changed and no checksum that would tell: for tests of all other checks."""

from __future__ import annotations

from typing import Any


def forged(data: dict[str, Any], **change: Any) -> dict[str, Any]:
    """What `to_dict` returned as the last version without checksums would have returned it, and changed."""
    return {**{name: value for name, value in data.items() if name != "checksum"}, "format": 3, **change}
