"""docs/data.md: its tables are those of the code."""

import re
from pathlib import Path

from banditboost.datasets import files
from banditboost.datasets.summary import SUMMARY
from banditboost.datasets.tables import paths
from banditboost.datasets.tables.cells import MISSING_WORDS

GUIDE = Path(__file__).parents[2] / "docs" / "data.md"


def test_summary_table() -> None:
    rows = re.findall(r"^\| (\w+) \| (\d.*?) \| (.*?) \| (.*?) \|$", GUIDE.read_text(), re.MULTILINE)
    for name, *cells in rows:
        row = SUMMARY[name]
        right = row.rows, row.features, row.n_labels
        assert cells == [
            f"{ours}" if ours == theirs else f"{ours} ({theirs})"
            for ours, theirs in zip(right, row.printed, strict=True)
        ]
    assert [name for name, *_ in rows] == list(SUMMARY)


def test_what_is_understood_is_named() -> None:
    text = GUIDE.read_text()
    named = {*paths._TEXT, *paths._BINARY, *MISSING_WORDS, *(file.filename for file in files.FILES.values())}
    named |= {file.archive for file in files.FILES.values()}
    assert {name for name in named if f"`{name}`" not in text} == set()
