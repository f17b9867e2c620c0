"""`python -m benchmarks.serve.server`: the service with an echo beside it, on one core."""

from __future__ import annotations

import argparse
from typing import Any

import msgspec
import uvloop

from banditboost.serve.http.app import create_app
from banditboost.serve.launch import listening, prepare, server_for, service_for
from banditboost.serve.settings import Limits, ModelSettings, ServiceSettings
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


async def _serve(settings: ServiceSettings, server: str) -> None:
    service = service_for(settings)
    await service.start()
    app = beside(create_app(service, start=False))
    await (_granian if server == "granian" else _uvicorn)(app, settings)
    await service.stop()


async def _uvicorn(app: Any, settings: ServiceSettings) -> None:
    with listening("127.0.0.1", 0) as socket:
        print(socket.getsockname()[1], flush=True)
        await server_for(app, settings).serve([socket])


async def _granian(app: Any, _: ServiceSettings) -> None:
    from granian.constants import Interfaces
    from granian.server.embed import Server

    with listening("127.0.0.1", 0) as socket:
        port = socket.getsockname()[1]
    print(port, flush=True)
    await Server(app, port=port, interface=Interfaces.ASGINL, log_enabled=False).serve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store")
    parser.add_argument("--sync", choices=["full", "normal"], default="full")
    parser.add_argument("--server", choices=["uvicorn", "granian"], default="uvicorn")
    parser.add_argument("--memory", type=int, default=Limits().memory, help="bytes of all models")
    parser.add_argument("--labels", type=int, default=len(LABELS), help="of the model")
    options = parser.parse_args()
    labels = [*LABELS, *map(str, range(options.labels - len(LABELS)))]
    machine.pin(0)
    settings = ServiceSettings(
        store=options.store,
        sync=options.sync,
        models={"default": ModelSettings(labels=labels, seed=7)},
        limits=Limits(memory=options.memory),
    )
    prepare(settings)
    uvloop.run(_serve(settings, options.server))


if __name__ == "__main__":
    main()
