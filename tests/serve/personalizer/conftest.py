"""A service with its store behind a real socket, as clients of Personalizer find it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from banditboost.serve.http.app import create_app
from banditboost.serve.settings import Key, ModelSettings, ServiceSettings
from banditboost.serve.solo import SoloService
from banditboost.serve.store.sqlite import SQLiteStore
from tests.serve.calling import calling
from tests.serve.personalizer.offering import OfferingService
from tests.serve.serving import serving

Start = Callable[..., str]


@pytest.fixture
def store(tmp_path: Path) -> SQLiteStore:
    """What the service writes to; others may read it meanwhile."""
    return SQLiteStore(tmp_path / "store", "normal")


@pytest.fixture
def start(store: SQLiteStore) -> Iterator[Start]:
    """Starts a service and tells its address. `app` may put something before the application."""
    with ExitStack() as running:

        def started(
            app: Callable[[Any], Any] = lambda app: app, keys: Sequence[Key] = (), **models: ModelSettings
        ) -> str:
            settings = ServiceSettings(models=models, keys=list(keys))
            service = SoloService(settings, store)
            return running.enter_context(serving(app(create_app(service))))

        yield started


@pytest.fixture
def service() -> OfferingService:
    """A service that notes what it is asked."""
    return OfferingService()


@pytest.fixture
def client(service: OfferingService) -> Iterator[Any]:
    """A caller of that service, without a socket."""
    with calling(create_app(service)) as caller:
        yield caller
