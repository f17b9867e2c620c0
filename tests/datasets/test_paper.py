"""The authors' preprocessing, and that of the paper's text."""

from pathlib import Path

import numpy as np
import pytest

from banditboost import datasets
from banditboost.datasets import paper, to_the_letter


def column(dataset: datasets.Dataset, feature: str) -> np.ndarray:
    return dataset.X[:, dataset.features.index(feature)]


def test_balance_is_the_raw_data() -> None:
    assert (datasets.load("balance").X == datasets.load("balance", variant="raw").X).all()


def test_car_has_two_numeric_columns() -> None:
    car = datasets.load("car")
    assert [name for name, kind in zip(car.features, car.kinds, strict=True) if kind == "numeric"] == [
        "doors",
        "persons",
    ]
    assert np.unique(column(car, "doors")).tolist() == [2, 3, 4, 5]
    assert np.unique(column(car, "persons")).tolist() == [2, 4, 6]
    assert car.values[0] == ("vhigh", "high", "med", "low")
    assert car.values[2] is None


def test_nursery_has_one_numeric_column_and_all_classes() -> None:
    nursery = datasets.load("nursery")
    assert [
        name for name, kind in zip(nursery.features, nursery.kinds, strict=True) if kind == "numeric"
    ] == ["children"]
    assert np.unique(column(nursery, "children")).tolist() == [1, 2, 3, 4]
    assert len(nursery.labels) == 5


def test_numbers_keep_their_rows() -> None:
    spelled = {"2": 2, "3": 3, "4": 4, "5more": 5}
    pairs = zip(datasets.load("car").records(), datasets.load("car", variant="raw").records(), strict=True)
    assert all(numeric["doors"] == spelled[str(raw["doors"])] for (numeric, _), (raw, _) in pairs)


def test_mice_missing_is_zero(data_directory: Path) -> None:
    raw, played = (datasets.load("mice", variant=v, directory=data_directory) for v in ("raw", "paper"))
    assert (played.X[np.isnan(raw.X)] == 0).all()
    assert (played.X[~np.isnan(raw.X)] == raw.X[~np.isnan(raw.X)]).all()


def test_movement_sensors(data_directory: Path) -> None:
    movement = datasets.load("movement", directory=data_directory)
    assert movement.features == ("x1", "y1", "z1", "x2", "y2", "z2", "x3", "y3", "z3", "x4", "y4", "z4")
    assert set(movement.kinds) == {"numeric"}
    assert movement.X[122_076].tolist() == [-8, 101, -120, -13, 91, -101, 17, 123, -108, -207, -82, -144]
    assert not np.isnan(movement.X).any()


def test_isolet_components(data_directory: Path) -> None:
    raw, played = (datasets.load("isolet", variant=v, directory=data_directory) for v in ("raw", "paper"))
    assert played.X.shape == (7797, 50)
    explained = played.X.var(axis=0).sum() / raw.X.var(axis=0).sum()
    assert explained == pytest.approx(0.835, abs=0.0005)
    assert (np.diff(played.X.var(axis=0)) < 0).all()


def test_components_do_not_depend_on_the_solver() -> None:
    """The same scores from the eigenvectors of the covariance: rounding hides what solvers differ in."""
    random = np.random.default_rng(3)
    matrix = random.normal(size=(300, 8)) * np.arange(1, 9)
    centred = matrix - matrix.mean(axis=0)
    vectors = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :3]
    vectors *= np.sign(vectors[np.abs(vectors).argmax(axis=0), range(3)])
    assert np.array_equal(paper.principal_components(matrix, 3), np.round(centred @ vectors, 4) + 0.0)


def test_components_are_centred_and_uncorrelated() -> None:
    random = np.random.default_rng(4)
    scores = paper.principal_components(random.normal(size=(500, 6)) * np.arange(1, 7), 4)
    covariance = np.cov(scores.T)
    assert np.abs(scores.mean(axis=0)).max() < 1e-4
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 1e-3


def test_the_text_keeps_80_percent_of_the_variance_of_standardised_columns(data_directory: Path) -> None:
    raw, played = (datasets.load("isolet", variant=v, directory=data_directory) for v in ("raw", "text"))
    assert played.X.shape == (7797, 50)
    assert played.features == datasets.load("isolet", directory=data_directory).features
    whole = (raw.X.var(axis=0) / raw.X.var(axis=0)).sum()  # each standardised column has variance 1
    assert played.X.var(axis=0).sum() / whole == pytest.approx(0.804, abs=0.0005)
    assert (played.y == raw.y).all()


def test_the_text_removes_the_one_row_of_movement_that_lacks_a_value(data_directory: Path) -> None:
    whole, text = (datasets.load("movement", variant=v, directory=data_directory) for v in ("paper", "text"))
    assert (whole.n_rows, text.n_rows) == (165_633, 165_632)  # the paper prints 165,631
    assert np.array_equal(text.X, np.delete(whole.X, 122_076, axis=0))
    assert np.array_equal(text.y, np.delete(whole.y, 122_076))
    assert (text.features, text.kinds) == (whole.features, whole.kinds)


@pytest.mark.parametrize("name", ["balance", "car", "nursery", "mice"])
def test_the_text_has_the_other_four_as_the_authors_played_them(
    name: str, request: pytest.FixtureRequest
) -> None:
    directory = request.getfixturevalue("data_directory") if name == "mice" else None
    played, text = (datasets.load(name, variant=v, directory=directory) for v in ("paper", "text"))
    assert np.array_equal(played.X, text.X)
    assert (played.kinds, played.values) == (text.kinds, text.values)


def test_standardised_columns_have_mean_0_and_variance_1() -> None:
    random = np.random.default_rng(5)
    scaled = to_the_letter.standardised(random.normal(3.0, 2.0, size=(400, 5)) * np.arange(1, 6))
    assert np.abs(scaled.mean(axis=0)).max() < 1e-12
    assert np.abs(scaled.var(axis=0) - 1).max() < 1e-12
