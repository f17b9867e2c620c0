"""The benchmark of the service: what it counts, and what its page says of it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from benchmarks import records
from benchmarks.serve import arrivals, page, staleness
from benchmarks.serve.bodies import LABELS, bodies

ABOUT: dict[str, Any] = records.about({"cpu": "c"}, "python -m benchmarks.serve")


def speed(part: str, ratio: float, p99: float) -> dict[str, Any]:
    half = {"asked": 1, "rate": 1, "p50": 1.0, "p99": p99, "p99.9": 30.0}
    return {
        "part": part, "requests": 9_000, "echoes": 20_000, "ratio": ratio, "least": 0.3, "most": 0.5,
        "cpu_echo": 22.0, "cpu_request": 70.0, "half": half, **ABOUT,
    }  # fmt: skip


@pytest.mark.parametrize(("ratio", "p99", "missed"), [(0.39, 26.0, 4), (0.45, 6.0, 2), (0.71, 4.0, 0)])
def test_the_page_says_what_was_not_reached(ratio: float, p99: float, missed: int) -> None:
    batches = {"part": "batches", "decisions": 25_000, "cpu_decision": 30.0, **ABOUT}
    told = page.page([speed("full", ratio, p99), speed("normal", ratio, p99), batches])
    assert told.count("**not reached**") == missed
    assert "4,500 pairs" in told


def test_a_part_that_was_not_measured_is_not_told() -> None:
    assert "## " not in page.page([]).replace("## How it was measured", "")


def test_the_differences_of_staleness() -> None:
    runs = [
        {"run": ["s", seed, behind], "accuracy": accuracy, "last": accuracy}
        for behind, accuracies in {0: (0.8, 0.9), 10: (0.7, 0.8)}.items()
        for seed, accuracy in enumerate(accuracies)
    ]
    line = {"part": "staleness", "processes": 4, "rounds": 10, "seeds": 2, "runs": runs, **ABOUT}
    assert "0.750 (-0.100), 0.750 (-0.100)" in page.page([line])


@pytest.mark.parametrize("processes", [0, 3])
def test_whoever_decides_the_learner_learns_every_round(processes: int) -> None:
    site = staleness.Site(["a", "b"], 1, processes)
    right = 0
    for n in range(300):
        if n % 10 == 0:
            site.refresh()
        row = {"hour": n * 7 % 24}
        right += site.round(n, row, "a" if row["hour"] < 12 else "b") and n >= 200
    assert site._learner.model.verdicts == 300
    assert len(site._learner.open) == 0
    assert right > 80


def test_bodies_say_what_is_right() -> None:
    assert {body.right_label for body in bodies()} == set(LABELS)


class Refusing:
    """A server that answers every other request with 503."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
                self.bodies.append(head.split(b" ", 2)[1] + await reader.readexactly(length))
                status = b"200 OK" if len(self.bodies) % 2 else b"503 Service Unavailable"
                writer.write(b"HTTP/1.1 %b\r\nContent-Length: 2\r\n\r\n{}" % status)


def test_what_is_refused_is_sent_again() -> None:
    server = Refusing()

    async def run() -> arrivals.Seen:
        listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        seen = await arrivals.arrive(port, 200.0, 1.0)
        listening.close()
        return seen

    seen = asyncio.run(run())
    assert len(seen.accepted) > 20
    assert abs(seen.refused - len(seen.accepted)) <= 2
    assert len(set(server.bodies)) < len(server.bodies) * 0.7
