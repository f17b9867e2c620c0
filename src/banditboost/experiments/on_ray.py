"""Tasks on a Ray cluster, through Ray's back end for joblib."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import ray
from ray.exceptions import RayActorError, WorkerCrashedError
from ray.util.joblib.ray_backend import RayBackend

from banditboost.experiments.engine import Engine, Workers, first_line, reach
from banditboost.experiments.errors import ExperimentError


class Backend(RayBackend):  # type: ignore[misc]
    """Ray's back end, whose outcomes can be had one by one.

    They come by callback as each call is done, which the back end does not say of itself.
    """

    supports_return_generator = True


@contextmanager
def connect(engine: Engine) -> Iterator[Workers]:
    """An existing connection is used and left open."""
    ours = not ray.is_initialized()
    if ours:
        _join(str(engine.address))
    try:
        jobs = _jobs(engine)
        yield Workers(
            {"backend": Backend(), "n_jobs": jobs, "pre_dispatch": jobs}, (RayActorError, WorkerCrashedError)
        )
    finally:
        if ours:
            ray.shutdown()


def _join(address: str) -> None:
    host, _, port = address.rpartition("/")[2].rpartition(":")
    if port.isdecimal():
        reach("Ray cluster", address, host, int(port))
    try:
        ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ExperimentError(
            f"no Ray cluster at {address!r}: {first_line(error)}; start one, or give its address"
        ) from None


def _jobs(engine: Engine) -> int:
    """How many calls at a time: as many as asked for, or as there are cores.

    There are at least two, for Ray's back end does the work of a single one in this process.
    """
    cores = int(ray.cluster_resources()["CPU"])
    jobs = engine.jobs or cores
    if not 2 <= jobs <= cores:
        raise ExperimentError(
            f"{jobs} jobs on a Ray cluster with {cores} cores; give from 2 to {cores}, or use engine 'local'"
        )
    return jobs
