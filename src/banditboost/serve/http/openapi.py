"""The OpenAPI 3.1 document, made from the table of operations and the structs that they take and answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec

from banditboost._version import __version__
from banditboost.serve.http.errors import PROBLEM, Problem
from banditboost.serve.http.operations import JSON, Operation

_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_REF = "#/components/schemas/{name}"
_TELLS = {
    "name": "The model's name.",
    "id": "The decision's id, percent-encoded.",
}
_INTRODUCTION = """Decisions and verdicts. What is answered is kept; each verdict is learned once.

A request that is refused has changed nothing. Refusals are problem details (RFC 9457) with `code`, `detail`,
`field` and `remedy`; 503 and 429 come with `Retry-After`, and the same request can be sent again.
"""


def document(operations: Iterable[Operation]) -> dict[str, Any]:
    """The document of these operations."""
    offered = list(operations)
    kinds = [kind for one in offered for whole in (one.body, one.answer) for kind in _parts(whole)]
    schemas, components = msgspec.json.schema_components([*kinds, Problem], ref_template=_REF)
    known = {_key(kind): schema for kind, schema in zip([*kinds, Problem], schemas, strict=True)}
    paths: dict[str, Any] = {}
    for one in offered:
        path = paths.setdefault(_PARAMETER.sub(r"{\1}", one.path), {})
        path[one.method.lower()] = _operation(one, known)
    return {
        "openapi": "3.1.0",
        "info": {"title": "banditboost serve", "version": __version__, "description": _INTRODUCTION},
        "paths": dict(sorted(paths.items())),
        "components": {"schemas": components, "securitySchemes": _SCHEMES},
    }


_SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "personalizer": {"type": "apiKey", "in": "header", "name": "Ocp-Apim-Subscription-Key"},
}


def _operation(one: Operation, known: dict[str, Any]) -> dict[str, Any]:
    answer = {"description": one.summary, **_content(one.answer, one.gives, known)}
    statuses = (200, 201) if one.status == 201 else (one.status,)  # 200: it was there before
    told: dict[str, Any] = {
        "summary": one.summary,
        "operationId": re.sub(r"\W+", "-", f"{one.method} {one.path}").strip("-").lower(),
        "parameters": list(_parameters(one)),
        "responses": {
            **{str(status): answer for status in statuses},
            "4XX": {"description": "Refused", **_content(Problem, PROBLEM, known)},
            "5XX": {"description": "Not now", **_content(Problem, PROBLEM, known)},
        },
    }
    if one.body is not None:
        told["requestBody"] = {"required": True, **_content(one.body, one.takes, known)}
    if one.role is not None:
        told["security"] = [{}, {"bearer": []}, {"personalizer": []}]
        roles = "admin" if one.role == "admin" else f"{one.role} or admin"
        told["description"] = f"Needs a key with the role {roles}, if keys are configured."
    return told


def _parameters(one: Operation) -> Iterator[dict[str, Any]]:
    for name in _PARAMETER.findall(one.path):
        schema = {"type": "string", "minLength": 1}
        told = _TELLS.get(name, name)
        yield {"name": name, "in": "path", "required": True, "description": told, "schema": schema}
    for name, kind, tells in one.queries:
        (schema,), _ = msgspec.json.schema_components([kind])
        yield {"name": name, "in": "query", "description": tells, "schema": schema}


def _content(kind: Any, media: str, known: dict[str, Any]) -> dict[str, Any]:
    if kind is None:
        return {}
    return {"content": {media: {"schema": _schema(kind, known) if media in (JSON, PROBLEM) else {}}}}


def _schema(kind: Any, known: dict[str, Any]) -> dict[str, Any]:
    if _is_union(kind):
        return {"anyOf": [_schema(part, known) for part in get_args(kind)]}
    if get_origin(kind) is list:
        return {"type": "array", "items": _schema(get_args(kind)[0], known)}
    found: dict[str, Any] = known[_key(kind)]
    return found


def _parts(kind: Any) -> Iterator[Any]:
    """What unions and arrays are made of: msgspec knows no unions of structs."""
    if kind is None:
        return
    if _is_union(kind) or get_origin(kind) is list:
        for part in get_args(kind):
            yield from _parts(part)
    else:
        yield kind


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _key(kind: Any) -> str:
    return repr(kind)
