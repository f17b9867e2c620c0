"""A real Dask cluster and a real Ray, each with two worker processes: the same records as here, also if a
worker is killed.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from banditboost.experiments.engine import Engine
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.results import Results
from banditboost.experiments.run import run_task
from banditboost.experiments.runner import Progress, run_tasks
from tests.experiments.tasks import outcome, outcomes, small_tasks
from tests.experiments.test_engine import die_once

WorkerIds = Callable[[], list[int]]


@pytest.fixture(scope="module")
def dask_cluster() -> Iterator[tuple[str, WorkerIds]]:
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'banditboost[dask]'"
    )
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address, lambda: [worker.pid for worker in cluster.workers.values()]


@pytest.fixture(scope="module")
def ray_cluster() -> Iterator[tuple[str, WorkerIds]]:
    ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'banditboost[ray]'")
    psutil = pytest.importorskip("psutil")
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 2, "object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=node)

    def workers() -> list[int]:
        raylets = [process.process.pid for process in cluster.head_node.all_processes["raylet"]]
        children = [child for pid in raylets for child in psutil.Process(pid).children(recursive=True)]
        return [child.pid for child in children if any("PoolActor" in part for part in child.cmdline())]

    yield cluster.address, workers
    ray.shutdown()
    cluster.shutdown()


def process_id(_: int) -> int:
    return os.getpid()


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, Any]]:
    return {task.id: outcome(run_task(task)) for task in small_tasks()}


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_records_are_the_same_and_a_killed_worker_costs_nothing_but_time(
    engine: str, expected: dict[str, dict[str, Any]], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address, workers = request.getfixturevalue(f"{engine}_cluster")
    results, killed = Results(tmp_path / "results.jsonl"), []

    def kill_a_worker(event: Progress) -> None:
        assert len(results.records()) == event.done, "each record is there as soon as its task is done"
        if event.done == 2:
            killed.append(workers()[0])
            os.kill(killed[0], signal.SIGKILL)

    tasks = small_tasks()
    assert run_tasks(tasks, results, engine=engine, address=address, progress=kill_a_worker) == len(tasks)
    assert len(killed) == 1
    assert outcomes(results.records()) == expected


def test_a_dask_cluster_with_one_worker_is_used(tmp_path: Path) -> None:
    """Joblib, told that there is one, would do the work in this process."""
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'banditboost[dask]'"
    )
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", local_directory=tmp_path
    ) as cluster:
        processes = {
            process
            for _, process in Engine("dask", address=cluster.scheduler_address).outcomes(process_id, range(3))
        }
    assert len(processes) == 1
    assert os.getpid() not in processes


def test_what_dask_has_given_up_is_tried_again(tmp_path: Path) -> None:
    """Told to give a call up with the first worker that it costs; joblib's own back end would wait for it for
    ever.
    """
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'banditboost[dask]'"
    )
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        ) as cluster,
    ):
        found = dict(
            Engine("dask", address=cluster.scheduler_address).outcomes(partial(die_once, tmp_path), range(6))
        )
    assert [found[number][0] for number in range(6)] == list(range(6))
    assert sorted(flag.name for flag in tmp_path.iterdir()) == ["3", "5"]


@pytest.mark.parametrize("jobs", [1, 3])
def test_ray_needs_two_jobs_and_has_two_cores(jobs: int, ray_cluster: tuple[str, WorkerIds]) -> None:
    with pytest.raises(
        ExperimentError,
        match=rf"{jobs} jobs on a Ray cluster with 2 cores; give from 2 to 2, or use engine 'local'",
    ):
        list(Engine("ray", jobs, ray_cluster[0]).outcomes(process_id, range(3)))


@pytest.mark.parametrize(
    ("engine", "address", "message"),
    [
        ("dask", "tcp://127.0.0.1:1", r"no Dask scheduler at 'tcp://127.0.0.1:1': .*refused; start one"),
        ("dask", "somewhere", r"address is 'somewhere': missing port number.*such as tcp://"),
        ("ray", "127.0.0.1:1", r"no Ray cluster at '127.0.0.1:1': .*refused; start one"),
        ("ray", "somewhere", r"no Ray cluster at 'somewhere': Invalid address format.*; start one"),
    ],
)
def test_where_no_cluster_is(engine: str, address: str, message: str, tmp_path: Path) -> None:
    pytest.importorskip(
        {"dask": "distributed", "ray": "ray"}[engine], reason=f"pip install 'banditboost[{engine}]'"
    )
    results = Results(tmp_path / "results.jsonl")
    with pytest.raises(ExperimentError, match=message):
        run_tasks(small_tasks(), results, engine=engine, address=address)
    assert results.records() == []
