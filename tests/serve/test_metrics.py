"""What Prometheus reads is what was counted."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from banditboost.serve.health import Health
from banditboost.serve.metrics import OTHERS, Metrics

_ORDER = ["method", "path", "model", "arm", "outcome", "code", "status", "le", "part", "version"]


def _samples(metrics: Metrics) -> dict[tuple[str, ...], float]:
    return {
        (
            sample.name,
            *(sample.labels[name] for name in sorted(sample.labels, key=_ORDER.index)),
        ): sample.value
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
        if set(sample.labels) <= set(_ORDER)
    }


def test_counts_and_durations() -> None:
    metrics = Metrics(Health, 1)
    for seconds in (0.0001, 0.0003, 100.0):
        metrics.begin()
        metrics.end("POST", "/a/{b}", 200, seconds)
    metrics.begin()
    metrics.end("GET", "/a", 404, 0.1)
    metrics.begin()
    metrics.decided("first\n", "model")
    metrics.decided("second", "model")
    metrics.judged("third", "learned")
    metrics.refused("no-key")
    told = _samples(metrics)
    assert told["banditboost_requests_under_way",] == 1
    assert told["banditboost_requests_total", "POST", "/a/{b}", "200"] == 3
    assert told["banditboost_requests_total", "GET", "/a", "404"] == 1
    assert told["banditboost_request_seconds_bucket", "POST", "/a/{b}", "0.00025"] == 1
    assert told["banditboost_request_seconds_bucket", "POST", "/a/{b}", "0.0005"] == 2
    assert told["banditboost_request_seconds_bucket", "POST", "/a/{b}", "+Inf"] == 3
    assert told["banditboost_request_seconds_count", "POST", "/a/{b}"] == 3
    assert told["banditboost_request_seconds_sum", "POST", "/a/{b}"] == 100.0004
    assert told["banditboost_decisions_total", OTHERS, "model"] == 1
    assert told["banditboost_verdicts_total", OTHERS, "learned"] == 1
    assert told["banditboost_refused_total", "no-key"] == 1
    assert sum(value for name, value in told.items() if name[0] == "banditboost_decisions_total") == 2
