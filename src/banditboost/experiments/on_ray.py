"""Tasks on a Ray cluster, through Ray's back end for joblib."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import ray
from ray.exceptions import RayActorError, WorkerCrashedError
from ray.util.joblib.ray_backend import RayBackend

from banditboost.experiments.engine import Engine, Workers, first_line
from banditboost.experiments.errors import ExperimentError


class Backend(RayBackend):  # type: ignore[misc]
    """Ray's, whose outcomes come by callback as each call is done: so they can be had one by one, which it does not say of itself."""

    supports_return_generator = True


@contextmanager
def connect(engine: Engine) -> Iterator[Workers]:
    """An existing connection is used and left open."""
    ours = not ray.is_initialized()
    if ours:
        try:
            ray.init(address=engine.address, logging_level=logging.ERROR, log_to_driver=False)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ExperimentError(
                f"no Ray cluster answers at {engine.address!r}: {first_line(error)}; start it, or give its address"
            ) from None
    try:
        yield Workers({"backend": Backend(), "n_jobs": engine.jobs or -1, "pre_dispatch": "n_jobs"}, (RayActorError, WorkerCrashedError))
    finally:
        if ours:
            ray.shutdown()
