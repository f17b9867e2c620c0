"""The page at /: models, how they do, and a form to try one. Plain files, sent as they are."""

from __future__ import annotations

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.http.operations import Handler, Operation

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
FILES = (
    "page.css",
    "mark.svg",
    "main.js",
    "asking.js",
    "building.js",
    "wording.js",
    "chart.js",
    "pictures.js",
    "list.js",
    "model.js",
    "decisions.js",
    "trial.js",
)


def page_operations() -> list[Operation]:
    """The page, and what it is made of; there is nothing secret in it, so it needs no key."""
    told = [Operation("GET", "/", _file("index.html"), None, "The page", None, bytes)]
    for name in FILES:
        told.append(Operation("GET", f"/page/{name}", _file(name), None, "Of the page", None, bytes))
    return told


def _file(name: str) -> Handler:
    content = (files(__package__) / name).read_bytes()
    kind = _KINDS[name.rpartition(".")[2]]

    async def file(_: Request) -> Response:
        return Response(content, media_type=kind)

    return file
