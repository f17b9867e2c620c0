"""Files of the real data when BANDITBOOST_DATA names them; a cache directory that is the tests' own."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """The directory of the real files, or a skip."""
    where = os.environ.get("BANDITBOOST_DATA")
    if not where:
        pytest.skip("BANDITBOOST_DATA is not set: the UCI files are not at hand")
    return Path(where)


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(shared_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is read from or written to the user's cache."""
    monkeypatch.setenv("BANDITBOOST_CACHE", str(shared_cache))
    return shared_cache
