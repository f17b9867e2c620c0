"""The service on a cluster of Ray: what is refused at once, and two nodes of which one loses its replica."""

from __future__ import annotations

import importlib
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import yaml

from banditboost.errors import ConfigurationError
from banditboost.serve.events import Decided
from banditboost.serve.http.auth import hash_of
from tests.serve.postgresql import free_port, running
from tests.serve.shared.processes import Clients
from tests.serve.shared.reading import assert_same, log_of, one_learner

ray = pytest.importorskip("ray", reason="needs Ray")
pytest.importorskip("ray.serve", reason="needs banditboost[ray-serve]")

from ray.cluster_utils import Cluster  # noqa: E402

from banditboost.serve import on_ray  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs/serve/ray.md"
KEY = "secret"
GIVEN: dict[str, Any] = {
    "store": "postgresql://nobody@nowhere/none",
    "keys": [{"hash": hash_of(KEY), "roles": ["admin"]}],
    "models": {"news": {"labels": ["red", "green", "blue"], "seed": 3}},
}


def test_an_application_is_bound_from_a_file_the_environment_and_what_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "site.toml"
    file.write_text(f'[[keys]]\nhash = "{hash_of(KEY)}"\nroles = ["admin"]\n[limits]\nqueue = 70\n')
    monkeypatch.setenv("BANDITBOOST_SERVE_STORE", "postgresql://nobody@nowhere/none")
    bound = on_ray.app({"config": str(file), "replicas": "3"})._bound_deployment
    assert bound.name == "banditboost"
    assert bound.num_replicas == 3
    assert bound.max_ongoing_requests == 140


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"store": "/tmp/folder"}, "need a database that all of them reach; give postgresql://"),
        ({"keys": []}, "banditboost serve key"),
        ({"replicas": "none"}, "replicas is 'none'; give a whole number from 1 on"),
        ({"replicas": 0}, "give a whole number from 1 on"),
        ({"stor": "x"}, "did you mean 'store'"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_deployed(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        on_ray.app(GIVEN | given)


def test_the_files_on_the_page_are_taken(tmp_path: Path) -> None:
    site, serve_file = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (application,) = yaml.safe_load(serve_file)["applications"]
    module, _, builder = application["import_path"].partition(":")
    assert getattr(importlib.import_module(module), builder) is on_ray.app
    file = tmp_path / Path(application["args"]["config"]).name
    file.write_text(site, encoding="utf-8")
    assert on_ray.app(application["args"] | {"config": str(file)})._bound_deployment.num_replicas == 4


class Site(NamedTuple):
    """Two nodes with a replica each, and what proxies of the cluster answer at."""

    address: str
    url: str

    def replicas(self) -> dict[int, str]:
        """The node of each process that runs a replica."""
        from ray.util.state import list_actors

        found = list_actors(filters=[("state", "=", "ALIVE")], limit=1000, detail=True)
        return {actor.pid: actor.node_id for actor in found if actor.class_name.startswith("ServeReplica")}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    # Both nodes are on this machine, with one proxy, which would prefer the replica of its own node.
    monkeypatch.setenv("RAY_SERVE_PROXY_PREFER_LOCAL_NODE_ROUTING", "0")
    port = free_port()
    with running() as database:
        few = {"num_cpus": 1, "object_store_memory": 100 << 20}
        cluster = Cluster(initialize_head=True, head_node_args={**few, "include_dashboard": True})
        cluster.add_node(**few)
        try:
            ray.init(address=cluster.address, log_to_driver=False)
            ray.serve.start(http_options={"host": "127.0.0.1", "port": port, "location": "HeadOnly"})
            ray.serve.run(on_ray.app(GIVEN | {"store": database.url()}))
            yield Site(f"http://127.0.0.1:{port}", database.url())
            ray.serve.shutdown()
        finally:
            ray.shutdown()
            cluster.shutdown()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of Ray
def test_two_nodes_are_one_service_and_lose_nothing_with_a_replica(site: Site, tmp_path: Path) -> None:
    there = site.replicas()
    assert len(set(there.values())) == 2
    with Clients("news", [site], key=KEY, unready=(500, 503)) as clients:
        clients.wait_for(100)
        lost = next(iter(there))
        os.kill(lost, signal.SIGKILL)
        clients.wait_for(100)
        until = time.monotonic() + 60
        while len(again := set(site.replicas()) - {lost}) < 2:
            assert time.monotonic() < until, "no replica takes its place"
            time.sleep(0.2)
        clients.wait_for(100)
    clients.check(site.url)
    assert len(branches(site.url)) >= 2, "each process decides with a branch of its own"
    assert again != set(there)
    assert_same(one_learner(site.url, "news", tmp_path), learned_file(site), tmp_path)


def branches(url: str) -> set[Any]:
    """Which branches of the model have decided."""
    made = (
        json.loads(event.made) for event in log_of(url, "news") if isinstance(event, Decided) and event.made
    )
    return {one["branch"] for one in made}


def learned_file(site: Site) -> bytes:
    """The model's file when its whole log was learned."""
    head, until = len(log_of(site.url, "news")), time.monotonic() + 60
    at = f"{site.address}/v1/models/news"
    with httpx.Client(headers={"Authorization": f"Bearer {KEY}"}, timeout=10) as client:
        while client.get(at).raise_for_status().json()["events"] < head:
            assert time.monotonic() < until, "it is not learned to the end"
            time.sleep(0.05)
        return client.get(f"{at}/file").raise_for_status().content
