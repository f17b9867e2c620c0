"""Names, variants, and what is said about unknown ones."""

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.origin import ORIGINS
from banditboost.errors import BanditBoostError


def test_names_in_the_order_of_the_tables() -> None:
    assert datasets.names() == ("balance", "car", "nursery", "movement", "mice", "isolet")


def test_unknown_name() -> None:
    with pytest.raises(DatasetError, match="unknown data set 'cars': the known ones are balance, car, nursery"):
        datasets.load("cars")


def test_unknown_variant() -> None:
    with pytest.raises(DatasetError, match="unknown variant 'plain' of 'car': it is 'paper' or 'raw'"):
        datasets.load("car", variant="plain")  # type: ignore[arg-type]


def test_errors_are_the_packages_own() -> None:
    assert issubclass(DatasetError, BanditBoostError)


@pytest.mark.parametrize("name", ["balance", "car", "nursery"])
@pytest.mark.parametrize("variant", ["paper", "raw"])
def test_arrays_are_what_the_kernels_take(name: str, variant: datasets.catalog.Variant) -> None:
    dataset = datasets.load(name, variant=variant)
    assert (dataset.X.dtype, dataset.y.dtype) == (np.float64, np.int64)
    assert dataset.X.flags.c_contiguous
    assert len(dataset.features) == len(dataset.kinds) == len(dataset.values) == dataset.X.shape[1]
    for kind, values, codes in zip(dataset.kinds, dataset.values, dataset.X.T, strict=True):
        assert (values is None) == (kind == "numeric")
        if values is not None:
            assert set(codes) == set(range(len(values)))


def test_licence_and_source() -> None:
    car = datasets.load("car")
    assert car.licence == "CC BY 4.0"
    assert car.source.startswith("Car Evaluation, ")
    assert car.source.endswith("https://doi.org/10.24432/C5JP48")
    assert ORIGINS["movement"].source.endswith("https://archive.ics.uci.edu/dataset/250")
