"""The service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import groupby
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from banditboost.serve.counted import counted
from banditboost.serve.http.auth import Keys
from banditboost.serve.http.decisions import Decisions
from banditboost.serve.http.errors import HANDLERS
from banditboost.serve.http.headers import Headed
from banditboost.serve.http.hot import Hot
from banditboost.serve.http.log_stream import LogStream
from banditboost.serve.http.looks import Looks
from banditboost.serve.http.metered import Metered
from banditboost.serve.http.models import Models
from banditboost.serve.http.operations import Operation
from banditboost.serve.http.personalizer import personalizer_routes
from banditboost.serve.http.trying import trying_operations
from banditboost.serve.metrics import Metrics
from banditboost.serve.page import page_operations
from banditboost.serve.service import Service
from banditboost.serve.traffic import Traffic


def create_app(service: Service, *, start: bool = True) -> ASGIApp:
    """The application of a service.

    Args:
        service: what answers; its settings tell keys and limits.
        start: whether the application starts and stops the service with itself.
    """
    metrics, traffic = Metrics(service.health, service.settings.metrics_models), Traffic()
    service = counted(service, metrics)
    keys, offered = Keys(service.settings.keys), operations_of(service, metrics, traffic)
    routes: list[BaseRoute] = [
        Route(path, _endpoint({operation.method: operation for operation in group}, keys), methods=methods)
        for path, group, methods in _by_path([*offered, *trying_operations(offered), *page_operations()])
    ]
    routes += personalizer_routes(service, keys)
    app = Starlette(
        routes=routes, exception_handlers=HANDLERS, lifespan=_lifespan(service) if start else None
    )
    hot = Hot(Headed(app), Decisions(service), keys, routes)
    return Metered(hot, routes, metrics, traffic, service.settings)


def operations_of(service: Service, metrics: Metrics, traffic: Traffic) -> list[Operation]:
    """Everything that is offered, in the order of the document."""
    return [
        *Decisions(service).operations(),
        *Models(service).operations(),
        *LogStream(service).operations(),
        *Looks(service, metrics, traffic).operations(),
    ]


def _by_path(operations: Iterable[Operation]) -> list[tuple[str, list[Operation], list[str]]]:
    ordered = sorted(operations, key=lambda operation: operation.path)
    groups = [(path, list(group)) for path, group in groupby(ordered, lambda operation: operation.path)]
    return [(path, group, [operation.method for operation in group]) for path, group in groups]


def _endpoint(offered: dict[str, Operation], keys: Keys) -> Callable[[Request], Any]:
    """What a path does: check who calls, then the operation of the method."""

    async def endpoint(request: Request) -> Response:
        operation = offered["GET" if request.method == "HEAD" else request.method]
        if operation.role is not None:
            request.state.caller = keys.caller(request.headers)
            model = operation.model or request.path_params.get("name")
            request.state.caller.check(operation.role, model)
        return await operation.handler(request)

    return endpoint


def _lifespan(service: Service) -> Callable[[Starlette], Any]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    return lifespan
