"""What Prometheus reads at /metrics. A model has lines of its own only if it is among the first ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric

from banditboost._version import __version__
from banditboost.serve.health import Health
from banditboost.serve.traffic import EDGES
from banditboost.text import visible

OTHERS = "(others)"
_GAUGES = {
    "models": ("banditboost_models", "Models that the store knows"),
    "loaded": ("banditboost_models_loaded", "Models that are in memory"),
    "memory": ("banditboost_models_bytes", "Bytes of the models in memory, estimated"),
    "open": ("banditboost_open_decisions", "Decisions of the models in memory that wait for a verdict"),
    "waiting": ("banditboost_waiting_requests", "Requests that wait for the disk"),
}
_COUNTERS = {
    "commits": ("banditboost_commits", "Transactions that were written"),
    "committed": ("banditboost_committed_events", "Events that were written"),
    "commit_seconds": ("banditboost_commit_seconds", "Seconds that transactions took"),
    "failed_commits": ("banditboost_failed_commits", "Transactions that could not be written"),
    "snapshots": ("banditboost_snapshots", "Snapshots that were written"),
}


class Metrics:
    """The counters of one process.

    Args:
        health: how the service is now; asked whenever somebody reads.
        models: how many models have lines of their own.
    """

    def __init__(self, health: Callable[[], Health], models: int) -> None:
        self._registry = CollectorRegistry()
        self._models, self._most = dict[str, str](), models
        self._requests = self._counter(
            "banditboost_requests", "Requests that were answered", "method", "path", "status"
        )
        self._seconds = Histogram(
            "banditboost_request_seconds",
            "Seconds until a request was answered",
            ("method", "path"),
            buckets=EDGES,
            registry=self._registry,
        )
        self._under_way = Gauge(
            "banditboost_requests_under_way", "Requests that are being answered", registry=self._registry
        )
        self._decisions = self._counter(
            "banditboost_decisions", "Decisions that were answered", "model", "arm"
        )
        self._verdicts = self._counter(
            "banditboost_verdicts", "Verdicts by what became of them", "model", "outcome"
        )
        self._refused = self._counter("banditboost_refused", "Requests and items that were refused", "code")
        self._registry.register(_Own(health))
        ProcessCollector(registry=self._registry)

    def _counter(self, name: str, tells: str, *labels: str) -> Counter:
        return Counter(name, tells, labels, registry=self._registry)

    def begin(self) -> None:
        """A request has come."""
        self._under_way.inc()

    def end(self, method: str, path: str, status: int, seconds: float) -> None:
        """It was answered; the path is that of a route, with its braces."""
        self._under_way.dec()
        self._requests.labels(method, path, str(status)).inc()
        self._seconds.labels(method, path).observe(seconds)

    def decided(self, model: str, arm: str) -> None:
        self._decisions.labels(self._line(model), arm).inc()

    def judged(self, model: str, outcome: str) -> None:
        self._verdicts.labels(self._line(model), outcome).inc()

    def refused(self, code: str) -> None:
        self._refused.labels(code).inc()

    def _line(self, model: str) -> str:
        found = self._models.get(model)
        if found is None and len(self._models) < self._most:
            found = self._models[model] = visible(model)
        return found or OTHERS

    def text(self) -> bytes:
        """All of it in Prometheus's format."""
        return generate_latest(self._registry)


class _Own:
    """What the service counts itself, read when it is asked for."""

    def __init__(self, health: Callable[[], Health]) -> None:
        self._health = health

    def collect(self) -> Iterator[Metric]:
        yield from _metrics(self._health())

    def describe(self) -> Iterable[Metric]:
        return _metrics(Health())


def _metrics(health: Health) -> Iterator[Metric]:
    info = GaugeMetricFamily("banditboost_info", "The version that answers", labels=["version"])
    info.add_metric([__version__], 1.0)
    yield info
    yield GaugeMetricFamily("banditboost_ready", "Whether requests are answered", float(health.ready))
    parts = GaugeMetricFamily("banditboost_part_ok", "Whether a part of the service is well", labels=["part"])
    for name, part in health.parts.items():
        parts.add_metric([name], float(part.ok))
    yield parts
    for field, (metric, tells) in _GAUGES.items():
        yield GaugeMetricFamily(metric, tells, getattr(health.numbers, field))
    for field, (metric, tells) in _COUNTERS.items():
        yield CounterMetricFamily(metric, tells, getattr(health.numbers, field))
