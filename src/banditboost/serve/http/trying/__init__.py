"""The document at /openapi.json, and a page at /try that sends what it describes; nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.http.openapi import document
from banditboost.serve.http.operations import JSON, Handler, Operation

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FILES = {"/try": "try.html", "/try.css": "try.css", "/try.js": "try.js"}


def trying_operations(offered: Iterable[Operation]) -> list[Operation]:
    """The document of what is offered, and the page."""
    body = msgspec.json.encode(document(offered))

    async def openapi(_: Request) -> Response:
        return Response(body, media_type=JSON)

    told = [Operation("GET", "/openapi.json", openapi, None, "This document", None, bytes)]
    for path, name in _FILES.items():
        told.append(Operation("GET", path, _file(name), None, "The page to try it", None, bytes))
    return told


def _file(name: str) -> Handler:
    content = (files(__package__) / name).read_bytes()
    kind = _KINDS[name.rpartition(".")[2]]

    async def file(_: Request) -> Response:
        return Response(content, media_type=kind)

    return file
