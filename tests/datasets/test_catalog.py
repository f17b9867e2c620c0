"""Names, variants, and what is said about unknown ones."""

from pathlib import Path

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import DatasetError
from banditboost.datasets.origin import ORIGINS
from banditboost.errors import BanditBoostError


def test_names_in_the_order_of_the_tables() -> None:
    assert datasets.names() == ("balance", "car", "nursery", "movement", "mice", "isolet")


def test_unknown_name() -> None:
    with pytest.raises(
        DatasetError, match="unknown data set 'cars': the known ones are balance, car, nursery"
    ):
        datasets.load("cars")


def test_unknown_variant() -> None:
    with pytest.raises(
        DatasetError, match="unknown variant 'plain' of 'car': it is 'paper', 'text' or 'raw'"
    ):
        datasets.load("car", variant="plain")  # type: ignore[arg-type]


def test_errors_are_the_packages_own() -> None:
    assert issubclass(DatasetError, BanditBoostError)


@pytest.mark.parametrize("name", ["balance", "car", "nursery"])
@pytest.mark.parametrize("variant", ["paper", "text", "raw"])
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


def test_info_of_each_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BANDITBOOST_DATA", raising=False)
    monkeypatch.setenv("BANDITBOOST_CACHE", str(tmp_path))
    facts = {fact.name: fact for fact in datasets.info()}
    assert tuple(facts) == datasets.names()
    assert [fact.copy for fact in facts.values()] == ["built in"] * 3 + ["not here yet"] * 3
    mice = facts["mice"]
    assert (mice.rows, mice.features, mice.classes, mice.licence) == (1080, 77, 8, "CC BY 4.0")
    assert mice.source.endswith("https://doi.org/10.24432/C50S3Z")
    (tmp_path / "isolet.zip").write_bytes(b"")
    assert datasets.info(tmp_path)[-1].copy == str(tmp_path / "isolet.zip")


def test_info_agrees_with_the_generated_data() -> None:
    for fact in datasets.info()[:3]:
        dataset = datasets.load(fact.name)
        assert (*dataset.X.shape, len(dataset.labels)) == (fact.rows, fact.features, fact.classes)
        assert datasets.load(fact.name, "raw").X.shape == (fact.rows, fact.raw_features)


@pytest.mark.parametrize("name", ["movement", "mice", "isolet"])
def test_info_agrees_with_the_files(name: str, data_directory: Path) -> None:
    fact = next(fact for fact in datasets.info(data_directory) if fact.name == name)
    assert fact.path == data_directory / f"{name}.csv.gz"
    dataset = datasets.load(name, directory=data_directory)
    assert (*dataset.X.shape, len(dataset.labels)) == (fact.rows, fact.features, fact.classes)
    assert datasets.load(name, "raw", data_directory).X.shape == (fact.rows, fact.raw_features)


def test_download_of_a_built_in_set_is_nothing_to_do() -> None:
    assert datasets.download("car") is None
    with pytest.raises(DatasetError, match="unknown data set 'cars'"):
        datasets.download("cars")
