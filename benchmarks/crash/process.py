"""A process that serves and asks itself, and what it has told until it was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import Any

import msgspec

Line = list[Any]
ANSWERS = ("decided", "judged", "activated")
_PATIENCE = 900.0  # seconds; others may have stopped all of this for a while


class Process:
    """Started when it is made, and killed at the end.

    Args:
        store: a folder, or the URL of a database.
        seed: of what it asks.
    """

    def __init__(self, store: str, seed: int) -> None:
        self._running = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.crash.worker", store, str(seed)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self._told: list[bytes] = []
        self._ready = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *error: object) -> None:
        if self._running.poll() is None:
            self.kill()

    def _read(self) -> None:
        assert self._running.stdout is not None
        with self._running.stdout as stdout:
            for line in stdout:
                self._told.append(line)
                if line.startswith(b'["ready"'):
                    self._ready.set()

    def wait_until_ready(self) -> float:
        """Seconds from the first line of its program until it served."""
        if not self._ready.wait(_PATIENCE):
            raise RuntimeError(f"the service did not start: {self._told[-5:]!r}")
        return next(float(told[0]) for what, *told in self._lines() if what == "ready")

    def kill(self) -> list[Line]:
        """All that it has told."""
        if self._running.poll() is not None:
            raise RuntimeError(f"the service has ended by itself: {self._told[-5:]!r}")
        self._running.send_signal(signal.SIGKILL)
        self._running.wait()
        self._reader.join()
        return self._lines()

    def _lines(self) -> list[Line]:
        """A line that was not finished was not told."""
        return [msgspec.json.decode(line) for line in list(self._told) if line.endswith(b"\n")]
