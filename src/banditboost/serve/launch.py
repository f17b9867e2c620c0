"""A service that is started, announced, and stopped without loss by SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from banditboost._version import __version__
from banditboost.errors import ConfigurationError
from banditboost.log import LOGGER
from banditboost.serve import making
from banditboost.serve.connections import Crowd, room_for
from banditboost.serve.http.app import create_app
from banditboost.serve.http.personalizer.configuration import personalizer_settings
from banditboost.serve.logs import log_as_json
from banditboost.serve.memory import share_one_pool
from banditboost.serve.service import Service
from banditboost.serve.settings import ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore

_WAIT_FOR_ANSWERS = 10  # seconds that requests under way are given when the service stops
_GARBAGE = 10_000  # objects that are made until the garbage collector looks at the new ones
DATABASES = ("postgresql://", "postgres://")
"""How a store begins that many processes share."""
Announce = Callable[[Service, str], Awaitable[None]]


def service_for(settings: ServiceSettings) -> Service:
    """The service that the settings describe."""
    if settings.store.startswith(DATABASES):
        return _shared(settings)
    return SoloService(settings, SQLiteStore(settings.store or data_directory(), settings.sync))


def _shared(settings: ServiceSettings) -> Service:
    try:
        from banditboost.serve.shared.service import SharedService
        from banditboost.serve.store.postgres import PostgresStore
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"store is a database, which needs {error.name}: pip install 'banditboost[postgres]', or give a "
            "folder"
        ) from None
    return SharedService(settings, PostgresStore(settings.store, settings.sync))


def data_directory() -> Path:
    """Where a service keeps its logs if no store is named."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "banditboost" / "serve"


def run(settings: ServiceSettings, announce: Announce) -> None:
    """Serve until SIGTERM or Ctrl-C; `announce` is called with the address when the service answers.

    A ServiceError or a StoreError if it cannot begin.
    """
    log_as_json(settings.log_level)
    with listening(settings.host, settings.port) as listener:
        prepare(settings)
        service = service_for(settings)
        server = server_for(create_app(service, start=False), settings)
        with asyncio.Runner(loop_factory=server.config.get_loop_factory()) as runner:
            runner.run(_serve(service, server, listener, announce))


def server_for(app: ASGIApp, settings: ServiceSettings) -> uvicorn.Server:
    """The server of an application; the service is started and stopped by whoever has it."""
    crowd = Crowd(app, room_for(settings.limits.queue))
    config = uvicorn.Config(
        crowd,
        access_log=False,
        http=crowd.protocol(),
        lifespan="off",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_WAIT_FOR_ANSWERS,
        proxy_headers=False,
        ws="none",
    )
    server = _Server(config)
    crowd.watch(server)
    return server


def prepare(settings: ServiceSettings) -> None:
    """Load kernels, or compile them, before anybody waits for a decision.

    What is there by then stays for ever: the garbage collector need not look at it again. Looking took a
    tenth of a second each time, in which nobody was answered.
    """
    share_one_pool()
    _load_kernels(settings)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)


def _load_kernels(settings: ServiceSettings) -> None:
    wanted = [*settings.models.values()] or [ModelSettings(labels=["a", "b"])]
    if settings.personalizer is not None:  # its model is made when it is first asked
        wanted.append(personalizer_settings())
    for asked in wanted:
        making.prepare(making.kind_of(making.checked(asked, settings.limits).learner))


async def _serve(
    service: Service, server: uvicorn.Server, listener: socket.socket, announce: Announce
) -> None:
    await service.start()
    try:
        with server.capture_signals():  # from before it is announced: who reads that may stop it at once
            at = address(service.settings.host, listener.getsockname()[1])
            LOGGER.info("started", extra={"told": {"version": __version__, "address": at}})
            await announce(service, at)
            await server.serve([listener])
    finally:
        await service.stop()
        LOGGER.info("stopped")


class _Server(uvicorn.Server):
    """Uvicorn's, which answers what is under way when it is told to stop; but then we go on to stop the
    service, where Uvicorn would send itself the signal again.
    """

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at this address; a ConfigurationError if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise ConfigurationError(
            f"port {port} of {host} cannot be had ({error.strerror}); give another with --port, or stop "
            "what has it"
        ) from None
    with listener:
        yield listener


def address(host: str, port: int) -> str:
    """Where the service is found from this machine."""
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
