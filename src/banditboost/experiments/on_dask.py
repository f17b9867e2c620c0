"""Tasks on a Dask cluster, through joblib's back end for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, KilledWorker
from joblib._dask import DaskDistributedBackend

from banditboost.experiments.engine import TIMEOUT, Engine, Workers, first_line
from banditboost.experiments.errors import ExperimentError


class Backend(DaskDistributedBackend):  # type: ignore[misc]
    """Joblib's, which waits for ever for a call that Dask has given up: this one says so."""

    def submit(self, func: Any, callback: Callable[[Any], None]) -> Any:
        future = super().submit(func, callback)
        future.add_done_callback(lambda done: callback(done.exception()) if done.exception() else None)
        return future


@contextmanager
def connect(engine: Engine) -> Iterator[Workers]:
    """Dask itself does again what a lost worker had in hand, until a call has lost several: then it gives it up."""
    try:
        client = Client(engine.address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ExperimentError(
            f"no Dask scheduler answers at {engine.address!r}: {first_line(error)}; start it, or give its address"
        ) from None
    with client:
        yield Workers({"backend": Backend(client=client), "n_jobs": -1, "pre_dispatch": engine.jobs or "2*n_jobs"}, (KilledWorker,))
