"""Files that are made of records: each is there whole, or as it was before."""

from __future__ import annotations

from pathlib import Path

from banditboost.experiments.errors import ExperimentError
from banditboost.io.replacing import replacing


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, and let that take its place: a full disk leaves no empty file."""
    try:
        with replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise ExperimentError(
            f"cannot write {path}: {error.strerror or error}; make room, or give another place"
        ) from error
