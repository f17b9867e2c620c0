"""What people and programs look at: statistics, reports, health and metrics."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from banditboost.serve.health import Health
from banditboost.serve.http.operations import JSON, Operation
from banditboost.serve.metrics import Metrics
from banditboost.serve.problems import ServiceError
from banditboost.serve.service import Service
from banditboost.serve.statistics.points import SPANS
from banditboost.serve.traffic import Traffic

_METRICS = "text/plain; version=1.0.0; charset=utf-8"
_RETRY = {"Retry-After": "1"}
_encode = msgspec.json.Encoder().encode


class Looks:
    """The operations that change nothing."""

    def __init__(self, service: Service, metrics: Metrics, traffic: Traffic) -> None:
        self._service, self._metrics, self._traffic = service, metrics, traffic

    def operations(self) -> list[Operation]:
        """What is offered."""
        at = "/v1/models/{name}"
        told, spans = dict[str, Any], (("span", str, f"one of {', '.join(SPANS)}"),)
        return [
            Operation(
                "GET", f"{at}/statistics", self.statistics, "read", "What the page shows of a model", None,
                told, queries=spans,
            ),
            Operation(
                "GET", f"{at}/report", self.report, "read",
                "Is the model better than its control group: by how much, since when", None, told,
            ),
            Operation("GET", "/health/live", self.live, None, "The process answers", None, told),
            Operation("GET", "/health/ready", self.ready, None, "Requests are answered now", None, Health),
            Operation(
                "GET", "/metrics", self.metrics, "read", "Counters for Prometheus", None, bytes,
                gives="text/plain",
            ),
        ]  # fmt: skip

    async def statistics(self, request: Request) -> Response:
        """The model, its statistics over a span of time, and how fast it was answered."""
        name, span = request.path_params["name"], request.query_params.get("span", "hour")
        if span not in SPANS:
            raise ServiceError(
                400, "malformed", f"span is none that is kept; give one of {', '.join(SPANS)}", field="span"
            )
        told = await self._service.statistics(name, span)
        model = await self._service.show(name)
        return _json({**told, "model": model, "traffic": self._traffic.show(name, time.time())})

    async def report(self, request: Request) -> Response:
        """By how much the model is ahead of its control group, of chance and of the constants."""
        told = await self._service.statistics(request.path_params["name"], "hour")
        return _json({name: told[name] for name in ("rewards", "level", "value", "control", "others")})

    async def live(self, _: Request) -> Response:
        """Whoever reads this was answered."""
        return _json({"live": True})

    async def ready(self, _: Request) -> Response:
        """200, or 503 and why."""
        health = self._service.health()
        return Response(_encode(health), 200 if health.ready else 503, None if health.ready else _RETRY, JSON)

    async def metrics(self, request: Request) -> Response:
        """All counters, for keys that are for all models."""
        request.state.caller.check_for_all()
        return Response(self._metrics.text(), media_type=_METRICS)


def _json(value: Any) -> Response:
    return Response(_encode(value), media_type=JSON)
