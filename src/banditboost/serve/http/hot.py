"""The two requests that come most often, one decision and one verdict, without the way through the routes.

They are answered as the routes would answer them, in a third of the time. Whatever is not plain goes on to
the routes: arrays, bodies in several parts, and every refusal of a caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from banditboost.errors import BanditBoostError
from banditboost.serve.http.auth import Keys
from banditboost.serve.http.decisions import DECIDE, JUDGE, Decisions
from banditboost.serve.http.errors import answer, failed, of_library
from banditboost.serve.http.headers import Headed
from banditboost.serve.problems import ServiceError

_HOT = re.compile(r"/v1/models/([^/]+)/decisions(?:/(.+)/verdict)?", re.DOTALL)
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
]


class Hot:
    """An application, and before it a short way for two kinds of requests.

    Args:
        app: what answers all others.
        decisions: the operations that are meant.
        keys: who may call.
        routes: of the application, whose endpoints are told to whoever watches.
    """

    def __init__(self, app: ASGIApp, decisions: Decisions, keys: Keys, routes: Iterable[BaseRoute]) -> None:
        self._app, self._decisions, self._keys = app, decisions, keys
        self._most = decisions.limits.body
        endpoints = {getattr(route, "path", ""): getattr(route, "endpoint", None) for route in routes}
        self._decide, self._judge = endpoints[DECIDE], endpoints[JUDGE]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _HOT.fullmatch(scope["path"]) if scope.get("method") == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        message = await receive()
        if self._is_plain(scope, message):
            await self._answer(scope, found.groups(), message["body"], send)
        else:
            await self._app(scope, _again(message, receive), send)

    def _is_plain(self, scope: Scope, message: Message) -> bool:
        body = message.get("body", b"")
        if message.get("more_body") or body[:1] != b"{" or len(body) > self._most:
            return False
        headers = dict(scope["headers"])
        return b"content-encoding" not in headers

    async def _answer(self, scope: Scope, about: tuple[Any, ...], body: bytes, send: Send) -> None:
        name, id = about
        scope["endpoint"] = self._decide if id is None else self._judge
        scope["path_params"] = {"name": name}
        try:
            self._keys.caller_of(dict(scope["headers"])).check("decide" if id is None else "learn", name)
            if id is None:
                told = await self._decisions.decide_one(name, body)
            else:
                told = await self._decisions.judge_one(name, id, body)
        except ServiceError as error:
            await Headed(answer(error))(scope, _nothing, send)
        except BanditBoostError as error:
            await Headed(answer(of_library(error)))(scope, _nothing, send)
        except Exception:
            await Headed(failed())(scope, _nothing, send)
            raise  # so that the server writes it down
        else:
            headers = [*_HEADERS, (b"content-length", b"%d" % len(told))]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": told})


def _again(message: Message, receive: Receive) -> Receive:
    """Receive a message that was received before, and then what follows it."""
    kept: list[Message] = [message]

    async def both() -> Message:
        return kept.pop() if kept else await receive()

    return both


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
