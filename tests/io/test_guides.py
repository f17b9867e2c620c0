"""The page on files names all there is."""

from __future__ import annotations

from pathlib import Path

from banditboost.io import container
from banditboost.trees.layout import Forest
from tests.io.models import raw_header, trained

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_names_every_key_and_array(tmp_path: Path) -> None:
    text = (DOCS / "format.md").read_text()
    trained("BinBandit").save(tmp_path / "a")
    for name in [*raw_header(tmp_path / "a"), *container.read(tmp_path / "a").arrays, *Forest._fields[:-1]]:
        assert f"`{name}`" in text, name
    assert container.MAGIC.hex(" ").upper() in text
    assert f"**format {container.FORMAT}**" in text
