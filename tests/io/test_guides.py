"""What the pages on files and late verdicts show is what happens."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from banditboost.io import container
from banditboost.kernels.layout import Forest
from tests.io.models import raw_header, trained

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["format.md", "guide-late-verdicts.md"])
def test_every_example_runs(page: str) -> None:
    result = doctest.testfile(str(DOCS / page), module_relative=False)
    assert result.attempted >= 10
    assert result.failed == 0


def test_the_page_names_every_key_and_array(tmp_path: Path) -> None:
    text = (DOCS / "format.md").read_text()
    trained("BinBandit").save(tmp_path / "a")
    for name in [*raw_header(tmp_path / "a"), *container.read(tmp_path / "a").arrays, *Forest._fields]:
        assert f"`{name}`" in text, name
    assert container.MAGIC.hex(" ").upper() in text
    assert f"**format {container.FORMAT}**" in text
