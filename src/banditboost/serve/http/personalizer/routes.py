"""Paths and versions: `/personalizer` is the model of the settings, `/models/NAME/personalizer` any other."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from banditboost.errors import BanditBoostError
from banditboost.serve.http.auth import Keys
from banditboost.serve.http.errors import of_library
from banditboost.serve.http.operations import JSON
from banditboost.serve.http.personalizer.operations import OPERATIONS, Operation
from banditboost.serve.http.personalizer.question import REQUEST_ID, Dialect, Question
from banditboost.serve.http.personalizer.refusals import refusal
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service

LATEST = "2022-09-01-preview"
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]

Endpoint = Callable[[Request], Awaitable[Response]]


def personalizer_routes(service: Service, keys: Keys) -> list[BaseRoute]:
    """The routes of all dialects; none if the settings have switched them off."""
    own = service.settings.personalizer
    if own is None:
        return []
    doors = _Doors(service, keys, own.model)
    versions = [
        Mount("/v1.0", routes=doors.routes(Dialect(first=True))),
        Mount("/v1.1-preview.{preview:int}", routes=doors.routes(Dialect())),
        *doors.routes(Dialect(latest=True)),
    ]
    return [Mount(path, routes=versions) for path in ("/personalizer", "/models/{name}/personalizer")]


class _Doors:
    """Check who calls, ask, and tell refusals as clients read them."""

    def __init__(self, service: Service, keys: Keys, own: str) -> None:
        self._service, self._keys, self._own = service, keys, own
        self._noting = asyncio.Lock()

    def routes(self, dialect: Dialect) -> list[BaseRoute]:
        """The operations of a dialect, and a refusal of whatever else is called."""
        nothing = Operation("", "/{rest:path}", _nothing_here, "read", "ResourceNotFound")
        return [
            *(Route(one.path, self._endpoint(one, dialect), methods=[one.method]) for one in OPERATIONS),
            Route(nothing.path, self._endpoint(nothing, dialect), methods=_METHODS),
        ]

    def _endpoint(self, operation: Operation, dialect: Dialect) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                answer = await self._asked(request, operation, dialect)
            except ServiceError as error:
                answer = _refused(error, operation, dialect)
            except BanditBoostError as error:
                answer = _refused(of_library(error), operation, dialect)
            told = request.headers.get(REQUEST_ID)
            if told is not None:
                answer.headers[REQUEST_ID] = told
            return answer

        return endpoint

    async def _asked(self, request: Request, operation: Operation, dialect: Dialect) -> Response:
        name = request.path_params.get("name", self._own)
        self._keys.caller(request.headers).check(operation.role, name)
        if dialect.latest:
            _check_version(request)
        return await operation.handler(Question(self._service, name, request, dialect, self._noting))


def _refused(error: ServiceError, operation: Operation, dialect: Dialect) -> Response:
    told = refusal(error, operation.code, first_version=dialect.first)
    return Response(told.body, told.status, told.headers, JSON)


def _check_version(request: Request) -> None:
    """Paths without a version tell it in the query."""
    given = request.query_params.get("api-version")
    if given != LATEST:
        raise ServiceError(
            400,
            "BadRequest",
            f"api-version is {given!r}; give {LATEST!r}, or a path such as /personalizer/v1.0/rank",
            field="api-version",
        )


async def _nothing_here(question: Question) -> Response:
    request = question.request
    raise ServiceError(
        404,
        "ResourceNotFound",
        f"there is no operation {request.method} {request.url.path}; the guide on moving from Personalizer "
        "tells what is offered",
    )
