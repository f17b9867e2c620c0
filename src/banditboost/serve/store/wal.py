"""What SQLite leaves out in silence: commits in its write-ahead log that lie behind a damaged place.

SQLite reads that file up to the first frame whose checksum is wrong, and takes the rest for a write that was
never finished. One commit there may be just that, since each is on disk before the next one begins. More of
them were answered: the file was damaged in the middle.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER, _FRAME = 32, 24  # bytes
_FILE = struct.Struct(">IIIIII")  # magic, version, size of a page, checkpoint, salts
_PAGE = struct.Struct(">IIII")  # page, pages after a commit or 0, salts
_LAST_FRAME = struct.Struct("=I")
_LAST_FRAME_AT = 16  # in the shared index


def commits_left_out(database: Path) -> int:
    """How many commits the write-ahead log holds behind what SQLite has read of it; a connection is open."""
    try:
        log = Path(f"{database}-wal").read_bytes()
        index = Path(f"{database}-shm").read_bytes()
    except FileNotFoundError:
        return 0
    if len(log) < _HEADER or len(index) < _LAST_FRAME_AT + _LAST_FRAME.size:
        return 0
    _, _, page_size, _, *salts = _FILE.unpack_from(log)
    (read,) = _LAST_FRAME.unpack_from(index, _LAST_FRAME_AT)
    step, commits = _FRAME + page_size, 0
    for start in range(_HEADER + read * step, len(log) - step + 1, step):
        _, pages, *its_salts = _PAGE.unpack_from(log, start)
        commits += bool(pages) and its_salts == salts
    return commits
