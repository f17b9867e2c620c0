"""Models: make, show, change and delete them, and their files."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.http.auth import Caller
from banditboost.serve.http.bodies import ModelList
from banditboost.serve.http.operations import JSON, Operation, query_number
from banditboost.serve.http.reading import decoded, json_object, read_body
from banditboost.serve.messages import ModelInfo
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service
from banditboost.serve.settings import ModelSettings

BYTES = "application/octet-stream"
_PAGE = 1000  # names at most
_encode = msgspec.json.Encoder().encode
_settings = msgspec.json.Decoder(ModelSettings)


class Models:
    """The operations on models of a service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._limits = service.settings.limits

    def operations(self) -> list[Operation]:
        """What is offered."""
        at = "/v1/models/{name}"
        pages = (("after", str, "the name before"), ("limit", int, "how many at most, up to 1000"))
        return [
            Operation(
                "GET", "/v1/models", self.names, "read", "Names of models", None, ModelList, queries=pages
            ),
            Operation("GET", at, self.show, "read", "Show a model", None, ModelInfo),
            Operation("PUT", at, self.create, "admin", "Make a model", ModelSettings, ModelInfo, 201),
            Operation(
                "PATCH", at, self.change, "admin", "Change settings of a model", dict[str, Any], ModelInfo
            ),
            Operation("DELETE", at, self.delete, "admin", "Delete a model and its log", status=204),
            Operation(
                "GET", f"{at}/file", self.download, "read", "Download the model's file", None, bytes,
                gives=BYTES,
            ),
            Operation(
                "PUT", f"{at}/file", self.upload, "admin", "Replace the model by a file", bytes, ModelInfo,
                takes=BYTES,
            ),
            Operation("POST", f"{at}/reset", self.reset, "admin", "Forget what was learned", None, ModelInfo),
        ]  # fmt: skip

    async def names(self, request: Request) -> Response:
        """Names of the models that the key is for."""
        limit = query_number(request, "limit", 100, _PAGE) or 1
        shown = await self._seen(request.state.caller, request.query_params.get("after", ""), limit)
        return _json(ModelList(shown, shown[-1] if len(shown) == limit else None))

    async def _seen(self, caller: Caller, after: str, limit: int) -> list[str]:
        """The first names after this one that a caller may see; those of others are not even told as places
        to go on from.
        """
        seen: list[str] = []
        page = await self._service.names(after, limit)
        while page:
            seen += (name for name in page if caller.may_see(name))
            if len(seen) >= limit or caller.models is None:
                break
            page = await self._service.names(page[-1], _PAGE)
        return seen[:limit]

    async def show(self, request: Request) -> Response:
        """A model and its settings."""
        return _json(await self._service.show(request.path_params["name"]))

    async def create(self, request: Request) -> Response:
        """Make a model; to ask for it again with the same settings changes nothing."""
        name = request.path_params["name"]
        settings = decoded(_settings, await read_body(request, self._limits.body))
        try:
            return _json(await self._service.create(name, settings), 201)
        except ServiceError as error:
            if error.status != 409:
                raise
            there = await self._service.show(name)
            if not _asks_for(settings, there):
                raise
            return _json(there)

    async def change(self, request: Request) -> Response:
        """Change settings by name."""
        changes = json_object(await read_body(request, self._limits.body))
        return _json(await self._service.change(request.path_params["name"], changes))

    async def delete(self, request: Request) -> Response:
        """Delete a model."""
        await self._service.delete(request.path_params["name"])
        return Response(status_code=204)

    async def download(self, request: Request) -> Response:
        """The model's file, as `banditboost.load` reads it."""
        name = request.path_params["name"]
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}.bb"}
        return Response(await self._service.download(name), 200, headers, BYTES)

    async def upload(self, request: Request) -> Response:
        """Replace the model by a file that `model.save` wrote."""
        file = await read_body(request, self._limits.file)
        return _json(await self._service.upload(request.path_params["name"], file))

    async def reset(self, request: Request) -> Response:
        """Forget what was learned."""
        return _json(await self._service.reset(request.path_params["name"]))


def _json(value: Any, status: int = 200) -> Response:
    return Response(_encode(value), status, media_type=JSON)


def _asks_for(asked: ModelSettings, there: ModelInfo) -> bool:
    """Whether a model has the settings that are asked for."""
    given = msgspec.to_builtins(asked)
    return all(there.settings.get(name) == value for name, value in given.items() if value is not None)
