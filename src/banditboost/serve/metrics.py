"""What Prometheus reads at /metrics. A model has lines of its own only if it is among the first ones."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
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
        self.under_way = 0
        self._requests = Counts(
            "banditboost_requests", "Requests that were answered", "method", "path", "status"
        )
        self._seconds = Durations(
            "banditboost_request_seconds", "Seconds until a request was answered", "method", "path"
        )
        self._decisions = Counts("banditboost_decisions", "Decisions that were answered", "model", "arm")
        self._verdicts = Counts("banditboost_verdicts", "Verdicts by what became of them", "model", "outcome")
        self._refused = Counts("banditboost_refused", "Requests and items that were refused", "code")
        for counts in (self, self._requests, self._seconds, self._decisions, self._verdicts, self._refused):
            self._registry.register(counts)
        self._registry.register(_Own(health))
        ProcessCollector(registry=self._registry)

    def collect(self) -> Iterator[Metric]:
        """What is under way, for the registry."""
        yield GaugeMetricFamily(
            "banditboost_requests_under_way", "Requests that are being answered", self.under_way
        )

    def begin(self) -> None:
        """A request has come."""
        self.under_way += 1

    def end(self, method: str, path: str, status: int, seconds: float) -> None:
        """It was answered; the path is that of a route, with its braces."""
        self.under_way -= 1
        self._requests.counts[method, path, str(status)] += 1
        self._seconds.add((method, path), seconds)

    def decided(self, model: str, arm: str) -> None:
        self._decisions.counts[self._line(model), arm] += 1

    def judged(self, model: str, outcome: str) -> None:
        self._verdicts.counts[self._line(model), outcome] += 1

    def refused(self, code: str) -> None:
        self._refused.counts[code,] += 1

    def _line(self, model: str) -> str:
        found = self._models.get(model)
        if found is None and len(self._models) < self._most:
            found = self._models[model] = visible(model)
        return found or OTHERS

    def text(self) -> bytes:
        """All of it in Prometheus's format."""
        return generate_latest(self._registry)


class Counts:
    """A counter with labels. All is counted in the event loop: it needs no lock."""

    def __init__(self, name: str, tells: str, *labels: str) -> None:
        self._name, self._tells, self._labels = name, tells, labels
        self.counts: defaultdict[tuple[str, ...], int] = defaultdict(int)

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        family = CounterMetricFamily(self._name, self._tells, labels=self._labels)
        for labels, count in list(self.counts.items()):
            family.add_metric(labels, count)
        yield family


class Durations:
    """A histogram of seconds with labels."""

    def __init__(self, name: str, tells: str, *labels: str) -> None:
        self._name, self._tells, self._labels = name, tells, labels
        self._bars: defaultdict[tuple[str, ...], list[int]] = defaultdict(lambda: [0] * (len(EDGES) + 1))
        self._sums: defaultdict[tuple[str, ...], float] = defaultdict(float)

    def add(self, labels: tuple[str, ...], seconds: float) -> None:
        """One more."""
        self._bars[labels][bisect_left(EDGES, seconds)] += 1
        self._sums[labels] += seconds

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        family = HistogramMetricFamily(self._name, self._tells, labels=self._labels)
        ends = [*map(str, EDGES), "+Inf"]
        for labels, bars in list(self._bars.items()):
            counts = zip(ends, accumulate(bars), strict=True)
            family.add_metric(labels, list(counts), self._sums[labels])
        yield family


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
