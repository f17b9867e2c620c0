"""The tests of CSV files run twice: through pyarrow, and through Python's own reader."""

from collections.abc import Callable
from pathlib import Path

import pytest

from banditboost.datasets.tables import paths

Writer = Callable[..., Path]


@pytest.fixture(params=["pyarrow", "python"])
def csv_reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(paths, "_pyarrow", lambda: None)
    return str(request.param)


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    """Write a file of the test's own."""

    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write
