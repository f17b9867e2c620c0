"""Every request is timed and counted, by the path of its route and for its model.

More than so many at once are turned away before anything is read of them: so the others wait no longer.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterable
from typing import Any

from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from banditboost.serve.http.errors import answer
from banditboost.serve.http.headers import RAW
from banditboost.serve.metrics import Metrics
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import ServiceSettings
from banditboost.serve.traffic import Traffic

_KIND = re.compile(r":\w+\}")  # of what stands in a path; Starlette's matter alone
_NOWHERE = "(no route)"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
_ALWAYS = ("/health", "/metrics")
_OVERLOADED = answer(
    ServiceError(503, "overloaded", "too many requests are under way; try again later", retry_after=1.0)
)
_TURNED_AWAY = {
    "type": "http.response.start",
    "status": 503,
    "headers": [*_OVERLOADED.raw_headers, *RAW],
}
_WHY = {"type": "http.response.body", "body": _OVERLOADED.body}
_LOGGER = logging.getLogger("banditboost.serve.requests")


class Metered:
    """An application, and around it a watch.

    Args:
        app: what answers.
        routes: of the application.
        metrics, traffic: who hear of it.
        settings: of the service; its limit of requests under way does not count for `/health` and `/metrics`.
    """

    def __init__(
        self,
        app: ASGIApp,
        routes: Iterable[BaseRoute],
        metrics: Metrics,
        traffic: Traffic,
        settings: ServiceSettings,
    ) -> None:
        self._app, self._metrics, self._traffic = app, metrics, traffic
        self._personalizer = None if settings.personalizer is None else settings.personalizer.model
        self._most = settings.limits.under_way
        self._paths: dict[Any, str] = {
            getattr(route, "endpoint", None): _KIND.sub("}", getattr(route, "path", "")) for route in routes
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._metrics.under_way >= self._most and not scope["path"].startswith(_ALWAYS):
            self._metrics.refused("overloaded")
            await send(_TURNED_AWAY)
            await send(_WHY)
            return
        status = 500

        async def told(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.begin()
        start = time.perf_counter()
        try:
            await self._app(scope, receive, told)
        finally:
            self._note(scope, status, time.perf_counter() - start)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        path = self._paths.get(scope.get("endpoint"), _NOWHERE)
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.end(method, path, status, seconds)
        model = scope.get("path_params", {}).get("name")
        if model is None and path.startswith("/personalizer"):
            model = self._personalizer
        if model is not None and scope["method"] == "POST":
            self._traffic.add(model, time.time(), status, seconds)
        if status >= 500 or _LOGGER.isEnabledFor(logging.DEBUG):
            level = logging.WARNING if status >= 500 else logging.DEBUG
            told = {
                "method": method,
                "path": path,
                "model": model,
                "status": status,
                "seconds": round(seconds, 6),
            }
            _LOGGER.log(level, "request", extra={"told": told})
