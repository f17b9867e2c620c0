"""Sizes of the data sets, against the data and against what was printed."""

from pathlib import Path

import pytest

from banditboost import datasets
from banditboost.datasets.summary import SUMMARY


def sizes(dataset: datasets.Dataset) -> tuple[int, int, int]:
    return dataset.n_rows, len(dataset.features), len(dataset.labels)


@pytest.mark.parametrize("name", ["balance", "car", "nursery"])
def test_built_in_sets_have_these_sizes(name: str) -> None:
    row = SUMMARY[name]
    assert sizes(datasets.load(name)) == (row.rows, row.features, row.n_labels)
    assert len(datasets.load(name, variant="raw").features) == row.raw_features


@pytest.mark.parametrize("name", ["movement", "mice", "isolet"])
def test_files_have_these_sizes(name: str, data_directory: Path) -> None:
    row = SUMMARY[name]
    assert sizes(datasets.load(name, directory=data_directory)) == (row.rows, row.features, row.n_labels)
    assert len(datasets.load(name, variant="raw", directory=data_directory).features) == row.raw_features


def test_all_sets_are_there_in_their_order() -> None:
    assert tuple(SUMMARY) == datasets.names()


def test_columns_of_the_printed_table_are_mixed_up() -> None:
    """See the authors' LaTeX, "Data Set Summary"."""
    assert {name: row.misprints for name, row in SUMMARY.items()} == {
        "balance": (),
        "car": ("Dimension",),
        "nursery": ("Dimension", "k"),
        "movement": ("Size", "k"),
        "mice": ("Dimension",),
        "isolet": (),
    }
