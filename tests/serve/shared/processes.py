"""Processes of one service, as users start them, and clients that never give up."""

from __future__ import annotations

import contextlib
import json
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg

from banditboost.serve.events import Decided, Judged
from tests.serve.shared.reading import log_of

_START = """
import sys
import banditboost._version
banditboost._version.__version__ = sys.argv.pop(1)
from banditboost.cli import main
main()
"""


class Process:
    """One `banditboost serve`.

    Args:
        store: URL of the database.
        version: of banditboost that it takes itself for.
    """

    def __init__(self, store: str, version: str = "1.0.0") -> None:
        self._running = subprocess.Popen(
            [sys.executable, "-c", _START, version, "serve", "--json", "--port", "0", "--store", store],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._running.stdout is not None
        ready, _, _ = select.select([self._running.stdout], [], [], 120)
        assert ready, "it did not start"
        self.address: str = json.loads(self._running.stdout.readline())["page"].rstrip("/")

    @property
    def number(self) -> int:
        return self._running.pid

    def send(self, number: signal.Signals) -> None:
        self._running.send_signal(number)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Its exit code."""
        self._running.send_signal(number)
        with contextlib.suppress(ProcessLookupError):
            self._running.send_signal(signal.SIGCONT)
        code = self._running.wait(60)
        assert self._running.stdout is not None
        self._running.stdout.close()
        return code


@contextlib.contextmanager
def processes(stores: list[str]) -> Iterator[list[Process]]:
    """One for each of these URLs, started side by side; the list may change."""
    with ThreadPoolExecutor(len(stores)) as pool:
        made = list(pool.map(Process, stores))
    try:
        yield made
    finally:
        for one in made:
            one.end(signal.SIGKILL)


def learner_of(url: str, name: str) -> tuple[int, int]:
    """Which process learns a model, and its epoch."""
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT holder, epoch FROM banditboost.leases JOIN banditboost.models USING (model) "
            "WHERE name = %s",
            [name],
        ).fetchone()
    assert row is not None
    return int(row[0].split(":")[1]) if row[0] else 0, row[1]


def wait_for_learner(url: str, name: str, after: int = 0, within: float = 30.0) -> tuple[int, int, float]:
    """The process that learns a model in an epoch after this one, the epoch, and how long that took."""
    begun = time.monotonic()
    while True:
        number, epoch = learner_of(url, name)
        if number and epoch > after:
            return number, epoch, time.monotonic() - begun
        assert time.monotonic() - begun < within, "nobody learns the model"
        time.sleep(0.05)


class Clients:
    """Threads that ask for decisions and tell verdicts, one after the other, each until it is answered.

    Args:
        name: of the model.
        there: the processes, any of which is asked; whatever has an address.
        key: that they ask for.
        unready: the statuses after which they ask again.
    """

    def __init__(
        self, name: str, there: Sequence[Any], n: int = 8, key: str = "", unready: Sequence[int] = (503,)
    ) -> None:
        self._name, self._there, self._unready = name, there, unready
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._ends = threading.Event()
        self.decisions: dict[str, dict[str, Any]] = {}
        self.verdicts: dict[str, float] = {}
        self.refusals: list[httpx.Response] = []
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(n)]

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, more: int) -> None:
        """So many verdicts more are answered."""
        until, enough = time.monotonic() + 60, len(self.verdicts) + more
        while len(self.verdicts) < enough:
            assert time.monotonic() < until, "no answers come"
            time.sleep(0.02)

    def _run(self, i: int) -> None:
        drawn = random.Random(i)
        n = 0
        with httpx.Client(timeout=3.0, headers=self._headers) as client:
            while not self._ends.is_set():
                id_, n = f"{i}-{n}", n + 1
                row = {"hour": drawn.randrange(24), "device": drawn.choice(["phone", "desk"])}
                told = self._ask(client, drawn, "decisions", {"id": id_, "features": row})
                if told is None:
                    return
                self.decisions[id_] = told
                reward = drawn.randrange(5) / 4
                if self._ask(client, drawn, f"decisions/{id_}/verdict", {"reward": reward}) is None:
                    return
                self.verdicts[id_] = reward

    def _ask(
        self, client: httpx.Client, drawn: random.Random, path: str, body: dict[str, Any]
    ) -> dict[str, Any] | None:
        """An answer, whoever gives it; None if there was none before the end."""
        while not self._ends.is_set():
            address = drawn.choice(self._there).address
            try:
                answer = client.post(f"{address}/v1/models/{self._name}/{path}", json=body)
            except httpx.HTTPError:
                continue
            if answer.status_code in (200, 201):
                told: dict[str, Any] = answer.json()
                return told
            assert answer.status_code in self._unready, answer.text
            self.refusals.append(answer)
            time.sleep(0.05)
        return None

    def check(self, url: str) -> None:
        """No answer is missing in the log, and none is there twice."""
        log = log_of(url, self._name)
        decided = {event.id: event for event in log if isinstance(event, Decided)}
        learned = [
            (event.id, event.reward)
            for event in log
            if isinstance(event, Judged) and event.outcome == "learned"
        ]
        assert len(decided) == sum(isinstance(event, Decided) for event in log)
        for id_, told in self.decisions.items():
            event = decided[id_]
            assert (told["label"], told["probability"]) == (event.label, event.probability)
            assert (told["expires"], told["version"]) == (event.expires, event.version)
        assert len(learned) == len(dict(learned)), "learned twice"
        assert self.verdicts.items() <= dict(learned).items()


def create(process: Process, name: str) -> None:
    body = {"labels": ["red", "green", "blue"], "seed": 3}
    httpx.put(f"{process.address}/v1/models/{name}", json=body, timeout=30).raise_for_status()


def learned_file(process: Process, url: str, name: str) -> bytes:
    """The model's file when its whole log was learned."""
    head, until = len(log_of(url, name)), time.monotonic() + 30
    at = f"{process.address}/v1/models/{name}"
    while httpx.get(at, timeout=10).raise_for_status().json()["events"] < head:
        assert time.monotonic() < until, "it is not learned to the end"
        time.sleep(0.05)
    return httpx.get(f"{at}/file", timeout=10).raise_for_status().content


class Proxy:
    """A way to a server that can be cut: what is sent then comes never, and nobody is told."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut = threading.Event()
        self._lines: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                self._lines.append(near)
                if not self.cut.is_set():  # else a handshake that leads nowhere
                    self._lead(near)

    def _lead(self, near: socket.socket) -> None:
        try:
            far = socket.create_connection(("127.0.0.1", self._to))
        except OSError:
            near.close()
            return
        self._lines.append(far)
        for one, other in ((near, far), (far, near)):
            threading.Thread(target=self._forward, args=(one, other), daemon=True).start()

    def _forward(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if not self.cut.is_set():
                    other.sendall(data)
            if not self.cut.is_set():
                other.shutdown(socket.SHUT_WR)

    def mend(self) -> None:
        """What was there before stays silent; new connections are good."""
        self.cut.clear()

    def close(self) -> None:
        self._listener.close()
        for line in self._lines:
            line.close()
