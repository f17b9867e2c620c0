"""What the kills have shown; kept in a file, so that a run that was stopped goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec


class Kill(msgspec.Struct):
    """One kill, and the start before it."""

    answers: int  # that came before it
    start: float  # seconds from the start of the process until it served
    refused: int = 0  # requests that were to be sent again
    lost: list[Any] = []  # answers that are not in the log
    wrong: list[str] = []  # whatever else must not be


class Found:
    """All kills so far.

    Args:
        path: of the file that keeps them.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        lines = path.read_bytes().splitlines() if path.exists() else []
        self.kills = [msgspec.json.decode(line, type=Kill) for line in lines]
        self.events = 0
        self.wrong_logs: list[str] = []
        """What logs tell that must not be."""

    def add(self, kill: Kill) -> None:
        """Keep what this one has shown."""
        self.kills.append(kill)
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(kill) + b"\n")

    @property
    def answers(self) -> int:
        """All that came."""
        return sum(kill.answers for kill in self.kills)

    @property
    def lost(self) -> list[Any]:
        """Answers that are not in a log."""
        return [line for kill in self.kills for line in kill.lost]

    @property
    def wrong(self) -> list[str]:
        """Whatever else must not be."""
        return [what for kill in self.kills for what in kill.wrong] + self.wrong_logs
