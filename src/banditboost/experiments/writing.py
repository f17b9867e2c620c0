"""Files that are made of records: each is there whole, or as it was before."""

from __future__ import annotations

import os
import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from banditboost.experiments.errors import ExperimentError


def write_whole(path: Path, content: bytes) -> None:
    """Write beside the file, and let that take its place: a full disk leaves no empty file."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(content)
        with suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        raise ExperimentError(
            f"cannot write {path}: {error.strerror or error}; make room, or give another place"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)
