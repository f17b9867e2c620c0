"""The service on a Ray cluster: `serve run banditboost.serve.on_ray:app config=site.toml`.

Each replica is a process of one service, as `banditboost serve --store postgresql://...` starts them: the
log, snapshots and leases are in the database. Ray starts, places and replaces replicas, and holds nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ray import serve
from ray.serve import Application
from starlette.types import ASGIApp

from banditboost.errors import ConfigurationError
from banditboost.serve.configuration import configured
from banditboost.serve.http.app import create_app
from banditboost.serve.launch import DATABASES, prepare, service_for
from banditboost.serve.settings import ServiceSettings

NAME = "banditboost"
_REPLICAS = 2
_STOPS_WITHIN = 20.0  # seconds that a replica has to write snapshots and to give its leases back


def app(given: Mapping[str, Any]) -> Application:
    """What `serve run` and Serve's files run; a ConfigurationError if it cannot be.

    Args:
        given: `config`, a TOML file; `replicas`, how many processes; other settings by their names, such as
            `store`. Settings come from the file, from variables such as BANDITBOOST_SERVE_STORE, and from
            here; the later win. File and variables are read where this is called.
    """
    told = dict(given)
    config, replicas = told.pop("config", None), _number_of(told.pop("replicas", _REPLICAS))
    settings = configured(None if config is None else Path(config), os.environ, told)
    _check(settings)
    deployed = serve.deployment(
        _ingress(settings),
        name=NAME,
        num_replicas=replicas,
        # The service itself refuses what is too much, with a Retry-After: its limit is to be reached first.
        max_ongoing_requests=2 * settings.limits.queue,
        max_queued_requests=2 * settings.limits.queue,
        graceful_shutdown_timeout_s=_STOPS_WITHIN,
        logging_config={"enable_access_log": False},  # a line for each request costs more than the request
    )
    return deployed.bind()


def _number_of(replicas: Any) -> int:
    if not str(replicas).isascii() or not str(replicas).isdigit() or int(replicas) < 1:
        raise ConfigurationError(f"replicas is {replicas!r}; give a whole number from 1 on")
    return int(replicas)


def _check(settings: ServiceSettings) -> None:
    if not settings.store.startswith(DATABASES):
        raise ConfigurationError(
            f"store is {settings.store!r}, but replicas on a cluster need a database that all of them reach; "
            "give postgresql://..."
        )
    if not settings.keys:
        raise ConfigurationError(
            "there is no key, and a cluster can be reached by others; make one with `banditboost serve key` "
            "and configure its hash"
        )


def _ingress(settings: ServiceSettings) -> Any:
    """The class of replicas."""

    def started() -> ASGIApp:
        """Called in the replica, which starts and stops the service with the application."""
        prepare(settings)
        return create_app(service_for(settings))

    @serve.ingress(started)
    class Replica:
        """A process of the service."""

    return Replica
