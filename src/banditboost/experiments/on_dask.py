"""Tasks on a Dask cluster, through joblib's back end for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError
from distributed.comm import get_address_host_port
from joblib._dask import DaskDistributedBackend

from banditboost.experiments.engine import TIMEOUT, Engine, Workers, first_line, reach
from banditboost.experiments.errors import ExperimentError


class Backend(DaskDistributedBackend):  # type: ignore[misc]
    """Joblib's back end for Dask, with two changes.

    Joblib's own would wait for ever for a call that Dask has given up, and not use a cluster with one worker.
    """

    def effective_n_jobs(self, n_jobs: int) -> int:
        return max(2, int(super().effective_n_jobs(n_jobs)))

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
        future = super().submit(func, callback)
        future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
        return future


@contextmanager
def connect(engine: Engine) -> Iterator[Workers]:
    """Connect to a Dask cluster.

    Dask itself does again what a lost worker had in hand, until a call has lost several workers: then it
    gives it up.
    """
    address = str(engine.address)
    try:
        host, port = get_address_host_port(address)
    except ValueError as error:
        raise ExperimentError(
            f"address is {address!r}: {error}; give that of a Dask scheduler, such as tcp://127.0.0.1:8786"
        ) from None
    reach("Dask scheduler", address, host, port)
    try:
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except OSError as error:
        raise ExperimentError(
            f"no Dask scheduler at {address!r}: {first_line(error)}; start one, or give its address"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=TIMEOUT)
        except TimeoutError:
            raise ExperimentError(f"the Dask scheduler at {address!r} has no workers; start some") from None
        # All workers may be gone for a while: then joblib says TimeoutError.
        settings = {
            "backend": Backend(client=client),
            "n_jobs": -1,
            "pre_dispatch": engine.jobs or "2*n_jobs",
        }
        try:
            yield Workers(settings, (KilledWorker, TimeoutError))
        except FutureCancelledError as error:
            raise ExperimentError(
                f"the connection to {address!r} is lost: {first_line(error)}; finished tasks are kept, "
                "run again"
            ) from error
