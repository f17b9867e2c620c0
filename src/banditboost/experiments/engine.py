"""Where functions run: processes of this machine, or a Dask or Ray cluster, all three through joblib.

Knows nothing of boosting.
"""

from __future__ import annotations

import multiprocessing.resource_tracker
import signal
import socket
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from banditboost.experiments.errors import ExperimentError
from banditboost.text import quoted
from banditboost.validation import check_choice, check_count

ENGINES = {"local": "cli", "dask": "dask", "ray": "ray"}
"""Each engine, and the extra that installs what it needs."""
TIMEOUT = 20
"""Seconds to wait for a cluster to answer."""
_MOST_LOSSES = 5
_CAN_BLOCK = hasattr(signal, "pthread_sigmask")  # not on Windows

_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")


@dataclass(frozen=True)
class Engine:
    """Which workers play tasks.

    On 'local' there are `jobs` processes, on the cluster at `address` as many calls at a time; None is all
    there are.
    """

    name: str = "local"
    jobs: int | None = None
    address: str | None = None

    def __post_init__(self) -> None:
        check_choice("engine", self.name, ENGINES)
        if self.jobs is not None:
            check_count("jobs", self.jobs, 1, hint="None uses all cores")
        if self.name == "local" and self.address is not None:
            raise ExperimentError(
                f"address is {quoted(self.address)}, but engine 'local' has none; give engine 'dask' or 'ray'"
            )
        if self.name != "local" and self.address is None:
            raise ExperimentError(
                f"engine {self.name!r} needs the address of a running cluster; give it, or engine 'local'"
            )

    def outcomes(
        self, function: Callable[[_Item], _Outcome], items: Sequence[_Item]
    ) -> Generator[tuple[int, _Outcome], None, None]:
        """Position and outcome of each item as it is done, begun in the order given.

        What a lost worker had in hand is done again.
        """
        waiting = dict(enumerate(items))
        losses = 0
        with self._connect() as workers:
            while waiting:
                try:
                    with workers.running(_Positioned(function), list(waiting.items())) as outcomes:
                        for position, outcome in outcomes:
                            del waiting[position]
                            yield position, outcome
                except workers.lost as error:
                    losses += 1
                    if losses > _MOST_LOSSES:
                        raise ExperimentError(
                            f"workers were lost {losses} times, last: {first_line(error)}; "
                            "if memory is short, give fewer jobs"
                        ) from error

    def _connect(self) -> AbstractContextManager[Workers]:
        """Each engine's packages are imported when it is asked for."""
        try:
            if self.name == "dask":
                from banditboost.experiments import on_dask

                return on_dask.connect(self)
            if self.name == "ray":
                from banditboost.experiments import on_ray

                return on_ray.connect(self)
            return _connect_locally(self)
        except ImportError as error:
            raise ExperimentError(
                f"engine {self.name!r} cannot be used: {error}; install it with pip install "
                f"'banditboost[{ENGINES[self.name]}]'"
            ) from None


@dataclass(frozen=True)
class Workers:
    """What joblib is to be told, and how it says that a worker was lost."""

    settings: Mapping[str, Any]
    lost: tuple[type[Exception], ...]

    @contextmanager
    def running(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[Iterator[Any]]:
        """The outcomes of the calls as they come; those that are not waited for are given up."""
        from joblib import Parallel, delayed

        with _deaf_children():
            # One call a batch: an outcome must not wait for its neighbours.
            outcomes = Parallel(return_as="generator_unordered", batch_size=1, **self.settings)(
                delayed(function)(*call) for call in calls
            )
        try:
            yield outcomes
        finally:
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore"
                )  # joblib warns that calls under way are given up: that is what closing means
                outcomes.close()


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that start meanwhile do not hear Ctrl-C, not even before they have a handler.

    This process does, afterwards, and ends them.
    """
    if not _CAN_BLOCK:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@dataclass(frozen=True)
class _Positioned:
    function: Callable[[Any], Any]

    def __call__(self, position: int, item: Any) -> tuple[int, Any]:
        return position, self.function(item)


def _connect_locally(engine: Engine) -> AbstractContextManager[Workers]:
    from joblib.externals.loky.backend import resource_tracker
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    if _CAN_BLOCK:
        for tracker in (resource_tracker, multiprocessing.resource_tracker):
            tracker.ensure_running()  # before signals are blocked: when it starts, it lets them through again
    return nullcontext(Workers({"backend": "loky", "n_jobs": engine.jobs or -1}, (TerminatedWorkerError,)))


def reach(what: str, address: str, host: str, port: int) -> None:
    """Refuse an address where nobody listens.

    The clusters' own clients wait for minutes, and some then end the process.
    """
    try:
        socket.create_connection((host, port), TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise ExperimentError(
            f"no {what} at {address!r}: {first_line(error)}; start one, or give its address"
        ) from None


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
