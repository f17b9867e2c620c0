"""`python -m benchmarks.serve.server`: the service with an echo beside it, on one core."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

import msgspec

from banditboost.serve.launch import listening, server_for, service_for
from banditboost.serve.settings import ModelSettings, ServiceSettings
from benchmarks import machine
from benchmarks.serve.bodies import LABELS

_HEADERS = [(b"content-type", b"application/json")]


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application that parses JSON and sends it back."""
    assert scope["type"] == "http"
    message = await receive()
    body = message["body"]
    while message["more_body"]:
        message = await receive()
        body += message["body"]
    answer = msgspec.json.encode(msgspec.json.decode(body))
    headers = [*_HEADERS, (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def beside(app: Any) -> Any:
    """The application, with the echo at a path of its own."""

    async def both(scope: Any, receive: Any, send: Any) -> None:
        await (echo if scope["path"] == "/echo" else app)(scope, receive, send)

    return both


async def _serve(settings: ServiceSettings) -> None:
    from banditboost.serve.http.app import create_app

    service = service_for(settings)
    await service.start()
    with listening("127.0.0.1", 0) as socket:
        server = server_for(beside(create_app(service, start=False)), settings)
        print(socket.getsockname()[1], flush=True)
        await server.serve([socket])
    await service.stop()


def granian(port: int) -> None:
    """The echo behind Granian."""
    from granian import Granian
    from granian.constants import Interfaces, Loops

    Granian(
        "benchmarks.serve.server:echo",
        address="127.0.0.1",
        port=port,
        interface=Interfaces.ASGINL,
        loop=Loops.uvloop,
        log_enabled=False,
    ).serve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("--sync", default="full")
    parser.add_argument("--granian", type=int, default=0, metavar="PORT")
    options = parser.parse_args()
    machine.pin(0)
    if options.granian:
        granian(options.granian)
        return
    settings = ServiceSettings(
        store=options.store, sync=options.sync, models={"default": ModelSettings(labels=LABELS, seed=7)}
    )
    try:
        import uvloop

        uvloop.run(_serve(settings))
    except ModuleNotFoundError:
        asyncio.run(_serve(settings))


if __name__ == "__main__":
    sys.exit(main())
