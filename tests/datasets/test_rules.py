"""Balance, Car and Nursery by rule equal the UCI files."""

import csv
import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import Dataset

FILE_NAMES = {"balance": "balance-scale.csv.gz", "car": "car.csv.gz", "nursery": "nursery.csv.gz"}
SHA256_OF_TEXT = {
    "balance": "e4bfbdc020c1dc6ffa6a0aa1d34217c548d26c6615011452dc08632faf8826d1",
    "car": "831154499329ed5f8c13d66ccca749d803f11a0f538565aa058aef9111742588",
    "nursery": "bfac201aaaeafd9e29ecd4e61c46baaec98400de69d80b2c227c0fd6824539a0",
}
CLASS_COUNTS = {
    "balance": {"L": 288, "B": 49, "R": 288},
    "car": {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65},
    "nursery": {"not_recom": 4320, "spec_prior": 4044, "priority": 4266, "very_recom": 328, "recommend": 2},
}


def as_rows(dataset: Dataset) -> list[list[str]]:
    """The data set as the cells of its CSV file, header first."""
    rows = [
        [*(str(cell if isinstance(cell, str) else int(cell)) for cell in row.values()), label]
        for row, label in dataset.records()
    ]
    return [[*dataset.features, "label"], *rows]


@pytest.mark.parametrize("name", FILE_NAMES)
def test_text_has_the_checksum_of_the_file(name: str) -> None:
    text = "".join(",".join(row) + "\n" for row in as_rows(datasets.load(name, variant="raw")))
    assert hashlib.sha256(text.encode()).hexdigest() == SHA256_OF_TEXT[name]


@pytest.mark.parametrize("name", FILE_NAMES)
def test_rows_equal_the_file(name: str, data_directory: Path) -> None:
    path = data_directory / FILE_NAMES[name]
    if not path.is_file():
        pytest.skip(f"no {path.name} in BANDITBOOST_DATA")
    with gzip.open(path, "rt", newline="") as file:
        assert as_rows(datasets.load(name, variant="raw")) == list(csv.reader(file))


@pytest.mark.parametrize("name", FILE_NAMES)
@pytest.mark.parametrize("variant", ["paper", "raw"])
def test_class_counts(name: str, variant: datasets.catalog.Variant) -> None:
    assert datasets.load(name, variant=variant).class_counts == CLASS_COUNTS[name]


@pytest.mark.parametrize("name", FILE_NAMES)
def test_every_row_once(name: str) -> None:
    dataset = datasets.load(name)
    assert len(np.unique(dataset.X, axis=0)) == len(dataset.y)


def test_raw_kinds() -> None:
    assert set(datasets.load("balance", variant="raw").kinds) == {"numeric"}
    assert set(datasets.load("car", variant="raw").kinds) == {"nominal"}
    assert set(datasets.load("nursery", variant="raw").kinds) == {"nominal"}
