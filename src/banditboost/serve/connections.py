"""How many connections there may be at once, and what those beyond are told."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from banditboost.serve.http.errors import answer
from banditboost.serve.problems import ServiceError

_KEPT = 100  # files that the store and answers need
_TOLD = 100  # connections beyond the limit that hear why they are refused; more are closed at once


def room_for(connections: int) -> int:
    """So many connections, or as many as this process may have with the files that it needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _TOLD + _KEPT
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        return max(1, min(connections, soft - _TOLD - _KEPT))
    return connections


class Crowd:
    """An application that answers only as many connections.

    Args:
        app: what answers.
        most: connections at once.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most
        self._connections: set[Any] = set()

    def watch(self, server: uvicorn.Server) -> None:
        """These are the connections."""
        self._connections = server.server_state.connections

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or len(self._connections) <= self._most:
            await self._app(scope, receive, send)
            return
        told = answer(
            ServiceError(
                503,
                "overloaded",
                f"there are more than {self._most} connections; close some, and try again later",
                retry_after=1.0,
            )
        )
        told.headers["Connection"] = "close"
        await told(scope, receive, send)

    def protocol(self) -> type[asyncio.Protocol]:
        """Uvicorn's, which closes what there is no file for before it takes one from the store."""
        most = self._most + _TOLD

        class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                if len(self.connections) > most:
                    transport.abort()

        return Bounded
