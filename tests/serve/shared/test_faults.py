"""Four processes under load while learners, the database and the network fail: no answer is lost, no verdict
is learned twice, and the model is that of one learner that reads the log.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.serve.postgresql import Database, running
from tests.serve.shared.processes import (
    Clients,
    Process,
    Proxy,
    create,
    learned_file,
    processes,
    wait_for_learner,
)
from tests.serve.shared.reading import assert_same, one_learner

TAKEN_OVER = 10.0  # seconds


class Site:
    """A database, a way to it that can be cut, and four processes, of which the last goes this way."""

    def __init__(self, database: Database, proxy: Proxy, there: list[Process]) -> None:
        self.database, self.proxy, self.there, self.url = database, proxy, there, database.url()
        self.far = there[-1]

    def process(self, number: int) -> Process:
        return next(one for one in self.there if one.number == number)

    def check(self, clients: Clients, name: str, folder: Path) -> None:
        """Nothing is missing, nothing is there twice, and all is learned."""
        clients.check(self.url)
        assert_same(one_learner(self.url, name, folder), learned_file(self.there[0], self.url, name), folder)


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with running() as database:
        url, proxy = database.fresh(), Proxy(database.port)
        with processes([url, url, url, database.url(proxy.port)]) as there:
            yield Site(database, proxy, there)
        proxy.close()


def test_a_learner_is_killed(site: Site, tmp_path: Path) -> None:
    lost = site.there[0]  # and not the far one, whose network is cut later
    name = model_learned_by(lost, site)
    with Clients(name, site.there) as clients:
        clients.wait_for(30)
        number, epoch, _ = wait_for_learner(site.url, name)
        assert number == lost.number
        site.there.remove(lost)
        lost.end(signal.SIGKILL)
        _, _, seconds = wait_for_learner(site.url, name, after=epoch)
        clients.wait_for(30)
    assert seconds < TAKEN_OVER
    site.check(clients, name, tmp_path)


def test_a_learner_is_stopped_for_longer_than_its_lease(site: Site, tmp_path: Path) -> None:
    """When it goes on, it finds that its lease has ended, and writes nothing."""
    create(site.there[0], "stopped")
    with Clients("stopped", site.there) as clients:
        clients.wait_for(30)
        number, epoch, _ = wait_for_learner(site.url, "stopped")
        stopped = site.process(number)
        site.there.remove(stopped)
        stopped.send(signal.SIGSTOP)
        other, after, seconds = wait_for_learner(site.url, "stopped", after=epoch)
        clients.wait_for(30)
        stopped.send(signal.SIGCONT)
        site.there.append(stopped)
        clients.wait_for(30)
        assert wait_for_learner(site.url, "stopped")[:2] == (other, after) != (number, epoch)
    assert seconds < TAKEN_OVER
    site.check(clients, "stopped", tmp_path)


def test_the_database_is_killed(site: Site, tmp_path: Path) -> None:
    create(site.there[0], "database")
    with Clients("database", site.there) as clients:
        clients.wait_for(30)
        site.database.kill()
        wait_for_ready(site.there[0], False)
        site.database.start()
        clients.wait_for(30)
    assert clients.refusals
    for refusal in clients.refusals:
        assert float(refusal.headers["Retry-After"]) > 0
        assert refusal.headers["Content-Type"].startswith("application/problem+json")
    site.check(clients, "database", tmp_path)


def test_the_network_of_a_learner_is_cut(site: Site, tmp_path: Path) -> None:
    """It hears nothing and is heard by nobody: it says so, and another one goes on. Then it is back."""
    name = model_learned_by(site.far, site)
    with Clients(name, site.there) as clients:
        clients.wait_for(30)
        _, epoch, _ = wait_for_learner(site.url, name)
        site.proxy.cut.set()
        number, _, seconds = wait_for_learner(site.url, name, after=epoch)
        clients.wait_for(30)
        assert number != site.far.number
        wait_for_ready(site.far, False)
        site.proxy.mend()
        wait_for_ready(site.far, True)
        clients.wait_for(30)
    assert seconds < TAKEN_OVER
    site.check(clients, name, tmp_path)


def model_learned_by(process: Process, site: Site) -> str:
    """The name of a new one that happens to be learned there."""
    for number in range(100):
        name = f"{process.number}-{number}"
        create(process, name)
        if wait_for_learner(site.url, name)[0] == process.number:
            return name
    raise AssertionError("it learns nothing")


def wait_for_ready(process: Process, ready: bool) -> None:
    until = time.monotonic() + 30
    while httpx.get(f"{process.address}/health/ready", timeout=10).is_success != ready:
        assert time.monotonic() < until
        time.sleep(0.1)


def test_a_rolling_restart_with_a_new_version(site: Site, tmp_path: Path) -> None:
    create(site.there[0], "rolled")
    with Clients("rolled", site.there, n=4) as clients:
        clients.wait_for(30)
        for _ in range(2):
            site.there.append(Process(site.url, version="9.9.9"))
            old = site.there.pop(0)
            clients.wait_for(20)
            assert old.end() == 0
            clients.wait_for(20)
    site.check(clients, "rolled", tmp_path)
