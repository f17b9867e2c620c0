"""One way to knock at all doors: cases are played in child processes, and whatever should not be is told.

A case is some bytes. What a door makes of them follows from them alone, so that a finding is played again with
`python -m tests.fuzz --replay DOOR:HEX`.
"""

from __future__ import annotations

import collections
import hashlib
import json
import math
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tests.fuzz.luck import Luck, random_case

BATCH = 250  # cases of one child process
MOST_SECONDS = 30  # of computing, for one case
MOST_WAITING = 120  # seconds by the clock
MOST_BYTES = 4 << 30  # beyond what the process has when it begins


class Door(NamedTuple):
    """What a case does: it returns what became of it ("refused", "accepted"), and raises what should not be."""

    play: Callable[[Luck, Path], str]
    prepare: Callable[[], None] = lambda: None  # called once, before children are forked


class Finding(NamedTuple):
    """A case that led to something that should not be."""

    door: str
    data: bytes
    what: str

    @property
    def case(self) -> str:
        return f"{self.door}:{self.data.hex()}"

    @property
    def kind(self) -> str:
        """Where it was raised: of many findings of one kind one is told."""
        lines = [line for line in self.what.splitlines() if line.startswith('  File "')]
        return lines[-1] if lines else self.what[:80]

    @property
    def name(self) -> str:
        return f"{self.door}-{hashlib.sha256(self.data).hexdigest()[:12]}.txt"


@dataclass
class Report:
    """How often each outcome was, and all findings."""

    outcomes: collections.Counter[str] = field(default_factory=collections.Counter)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def cases(self) -> int:
        return self.outcomes.total()

    def add(self, other: Report) -> None:
        self.outcomes.update(other.outcomes)
        self.findings += other.findings
        self.seconds += other.seconds

    def note(self, door: str, data: bytes, outcome: str, what: str = "") -> None:
        self.outcomes[outcome] += 1
        if what:
            self.findings.append(Finding(door, data, what))


def parse_case(text: str) -> tuple[str, bytes]:
    """The door and the bytes of "DOOR:HEX", or of a file whose first line that is."""
    path = Path(text)
    first = path.read_text().splitlines()[0] if ":" not in text and path.is_file() else text
    door, _, data = first.partition(":")
    return door, bytes.fromhex(data)


def outcome_of(door: Door, data: bytes, folder: Path) -> tuple[str, str]:
    """What became of a case; and, if it is a finding, where it was raised."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return door.play(Luck(data), folder), ""
        except Exception as error:
            return f"FOUND {type(error).__name__}", _told(error)


def _told(error: Exception) -> str:
    """The traceback, without the harness's own part and without the middle of a long one."""
    lines = traceback.format_exception(error)
    kept = [lines[0], *lines[2:]]
    return "".join(kept if len(kept) < 20 else [*kept[:12], "  ...\n", *kept[-6:]])


def scratch_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder where nothing waits for a disk, if there is one."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    return tempfile.TemporaryDirectory(dir=shared, prefix="banditboost-fuzz-")


class Cases(NamedTuple):
    """So many random cases of a door, for so long."""

    name: str
    seed: int
    start: int = 0
    count: int | None = None
    seconds: float | None = None

    def data(self, number: int) -> bytes:
        return random_case(self.seed, self.name, number)


def play_random(door: Door, cases: Cases, tell: Callable[[Report], None]) -> Report:
    """Play random cases in child processes, one after the other."""
    report, began = Report(), time.monotonic()
    ends = math.inf if cases.seconds is None else began + cases.seconds
    number, stop = cases.start, math.inf if cases.count is None else cases.start + cases.count
    with scratch_folder() as folder:
        while number < stop and time.monotonic() < ends:
            batch = _play_batch(
                door, cases, range(number, int(min(number + BATCH, stop))), ends, Path(folder)
            )
            number += batch.cases
            report.add(batch)
            report.seconds = time.monotonic() - began
            tell(report)
    return report


def _play_batch(door: Door, cases: Cases, numbers: range, ends: float, folder: Path) -> Report:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _play_as_child(door, cases, numbers, ends, folder, write_end)
    os.close(write_end)
    report = Report()
    with os.fdopen(read_end) as lines:
        for number, line in zip(numbers, lines, strict=False):
            outcome, what = json.loads(line)
            report.note(cases.name, cases.data(number), outcome, what)
    status = os.waitpid(child, 0)[1]
    if status:
        outcome = _of_dead_child(status)
        data = cases.data(numbers[report.cases])
        report.note(cases.name, data, f"FOUND {outcome}", f"the process ended: {outcome}")
    return report


def _of_dead_child(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return f"exit code {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    if number == signal.SIGPROF:
        return f"hang, over {MOST_SECONDS} s of computing"
    if number == signal.SIGALRM:
        return f"hang, over {MOST_WAITING} s of waiting"
    return f"crash, signal {number}"


def _play_as_child(
    door: Door, cases: Cases, numbers: range, ends: float, folder: Path, write_end: int
) -> None:
    try:
        limit_memory()
        with os.fdopen(write_end, "w") as lines:
            for number in numbers:
                if time.monotonic() >= ends and number > numbers.start:
                    break
                limit_time()
                lines.write(json.dumps(outcome_of(door, cases.data(number), folder)) + "\n")
                lines.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def limit_time() -> None:
    """Give the next case its time; the signals end the process, also within compiled code."""
    for timer, number, most in (
        (signal.ITIMER_PROF, signal.SIGPROF, MOST_SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, MOST_WAITING),
    ):
        signal.signal(number, signal.SIG_DFL)
        signal.setitimer(timer, most)


def limit_memory() -> None:
    """Let the process have some gigabytes more than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
