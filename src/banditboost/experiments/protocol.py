"""The paper's experiments as data: streams, parameters in two modes, printed results.

The mode "text" plays what the text says wherever it speaks; "ours" is what the package does. The text leaves
out the ranges of the trees, N of the full-information boosters, Isolet's importance scale and more:
`reading.py` lists every such place with the choice made. What the published program did there was collected
separately, by reading and running it; only those facts were used here, and no line of it was read for this
package.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from banditboost.experiments.errors import ExperimentError
from banditboost.text import quoted

Mode = Literal["text", "ours"]
MODES: Final[tuple[Mode, ...]] = get_args(Mode)

ALGORITHMS: Final = ("OptBandit", "AdaBandit", "BinBandit", "OptFull", "AdaFull")
BANDIT: Final = frozenset({"OptBandit", "AdaBandit", "BinBandit"})
EDGE: Final = 0.1
"""gamma, everywhere."""
CLIP: Final = 100.0
"""Entries of cost vectors are clipped at this."""
LAST_FRACTION: Final = 0.2
"""Table 1 scores the last int(0.2 T) rounds; the figures average over windows of that many."""
FULL_INFORMATION_LEARNERS: Final = 20
MOVEMENT_ROWS: Final = 165_632
"""Movement in the mode "text": without the row that lacks a value. The paper prints 165,631."""
BINARY_LEARNERS: Final = 10
"""BinBandit's trees, for each label."""


@dataclass(frozen=True)
class StreamPlan:
    """How a data set becomes a stream."""

    n_labels: int
    rows: int
    repeat: int
    seeds: range

    @property
    def rounds(self) -> int:
        return self.rows * self.repeat


STREAMS: Final[Mapping[str, StreamPlan]] = {
    "balance": StreamPlan(3, 625, 10, range(4, 24)),
    "car": StreamPlan(4, 1_728, 6, range(4, 24)),
    "nursery": StreamPlan(5, 12_960, 4, range(4, 24)),
    "movement": StreamPlan(5, 165_633, 1, range(4, 14)),
    "mice": StreamPlan(8, 1_080, 8, range(4, 24)),
    "isolet": StreamPlan(26, 7_797, 15, range(4, 14)),
}
DATA: Final[Mapping[Mode, str]] = {"text": "text", "ours": "paper"}
"""The variant of the data sets that each mode plays; it tells records of one mode from those of the other."""
EXPLORATION: Final[Mapping[str, float]] = {
    "balance": 0.001,
    "car": 0.001,
    "nursery": 0.001,
    "movement": 0.001,
    "mice": 0.1,
    "isolet": 0.1,
}
"""rho, of the three bandit boosters."""
_LEARNERS: Final[Mapping[str, Mapping[str, int]]] = {
    "OptBandit": {"balance": 20, "car": 15, "nursery": 10, "movement": 10, "mice": 10, "isolet": 10},
    "AdaBandit": {"balance": 15, "car": 15, "nursery": 5, "movement": 20, "mice": 20, "isolet": 20},
}


@dataclass(frozen=True)
class TreeRanges:
    """Each tree draws its own parameters: grace period uniform, the other two log-uniform."""

    grace_period: tuple[float, float]
    tie_threshold: tuple[float, float]
    split_confidence: tuple[float, float]


EAGER: Final = TreeRanges((5, 20), (0.01, 0.9), (0.01, 0.9))
"""OptBandit and AdaBandit on Balance, Car, Nursery, Movement."""
PATIENT: Final = TreeRanges((300, 301), (0.7, 0.8), (1e-11, 1e-10))
"""OptBandit and AdaBandit on Mice, Isolet."""
STEADY: Final = TreeRanges((50, 200), (0.01, 0.9), (1e-11, 0.9))
"""BinBandit, AdaFull, OptFull everywhere."""


@dataclass(frozen=True)
class Setting:
    """One algorithm on one data set."""

    dataset: str
    algorithm: str
    n_learners: int
    """N; for BinBandit the number for each label."""
    exploration: float | None
    """rho; None in full information."""
    trees: TreeRanges
    importance_scale: float = 1.0
    """Weights handed to the trees are multiplied by this."""
    edge: float = EDGE
    clip: float | None = CLIP
    """None is unclipped."""
    lesson: str | None = None
    """How a cost vector becomes a label and a weight; None is the booster's own way."""


def setting(dataset: str, algorithm: str, mode: Mode = "ours") -> Setting:
    """The paper's parameters, as its text has them or as we play them.

    >>> from banditboost.experiments import protocol
    >>> protocol.setting("mice", "AdaBandit").n_learners
    20
    >>> protocol.setting("mice", "AdaBandit", "text").lesson
    'text'
    """
    check_mode(mode)
    if dataset not in STREAMS or algorithm not in ALGORITHMS:
        raise ExperimentError(
            f"no {algorithm!r} on {dataset!r} in the paper: it has {', '.join(ALGORITHMS)} on "
            f"{', '.join(STREAMS)}"
        )
    return Setting(
        dataset,
        algorithm,
        n_learners=_n_learners(dataset, algorithm),
        exploration=EXPLORATION[dataset] if algorithm in BANDIT else None,
        trees=_trees(dataset, algorithm),
        importance_scale=_importance_scale(dataset, algorithm),
        clip=None if algorithm == "BinBandit" else CLIP,
        lesson="text" if mode == "text" and algorithm != "BinBandit" else None,
    )


def rows(dataset: str, mode: Mode = "ours") -> int:
    """How many rows a data set has in a mode.

    >>> rows("movement", "ours"), rows("movement", "text")
    (165633, 165632)
    """
    check_mode(mode)
    return MOVEMENT_ROWS if mode == "text" and dataset == "movement" else STREAMS[dataset].rows


def check_mode(mode: str) -> None:
    """Refuse a mode that is none."""
    if not isinstance(mode, str) or mode not in MODES:
        raise ExperimentError(f"mode is {quoted(mode)}; give {' or '.join(map(repr, MODES))}")


def _n_learners(dataset: str, algorithm: str) -> int:
    if algorithm in _LEARNERS:
        return _LEARNERS[algorithm][dataset]
    return BINARY_LEARNERS if algorithm == "BinBandit" else FULL_INFORMATION_LEARNERS


def _importance_scale(dataset: str, algorithm: str) -> float:
    """Isolet's weights were scaled, says the text, without the factor."""
    k = STREAMS[dataset].n_labels
    return 1 / (k - 1) if dataset == "isolet" and algorithm in _LEARNERS else 1.0


def _trees(dataset: str, algorithm: str) -> TreeRanges:
    if algorithm not in _LEARNERS:
        return STEADY
    return PATIENT if dataset in ("mice", "isolet") else EAGER


@dataclass(frozen=True)
class Printed:
    """A cell of Table 1 (accuracy over the last fifth) and the same cell of Table 2 (total accuracy)."""

    last: float
    total: float


PRINTED: Final[Mapping[str, Mapping[str, Printed]]] = {
    dataset: {algorithm: Printed(*cell) for algorithm, cell in zip(ALGORITHMS, cells, strict=True)}
    for dataset, cells in {
        "balance": ((0.89, 0.83), (0.97, 0.91), (0.80, 0.73), (0.76, 0.71), (0.93, 0.85)),
        "car": ((0.88, 0.82), (0.98, 0.93), (0.84, 0.78), (0.84, 0.80), (0.96, 0.93)),
        "nursery": ((0.93, 0.89), (0.95, 0.92), (0.92, 0.89), (0.94, 0.91), (0.98, 0.95)),
        "movement": ((0.94, 0.89), (0.97, 0.95), (0.89, 0.84), (0.92, 0.87), (0.97, 0.95)),
        "mice": ((0.73, 0.53), (0.87, 0.71), (0.81, 0.62), (0.81, 0.65), (0.96, 0.84)),
        "isolet": ((0.48, 0.32), (0.66, 0.51), (0.66, 0.52), (0.84, 0.74), (0.90, 0.78)),
    }.items()
}
"""Data set -> algorithm -> the paper's figures."""
PROGRAM: Final[Mapping[str, Mapping[str, Printed]]] = {
    "balance": {
        "OptBandit": Printed(0.875, 0.835),
        "AdaBandit": Printed(0.980, 0.920),
        "BinBandit": Printed(0.854, 0.782),
        "OptFull": Printed(0.688, 0.635),
        "AdaFull": Printed(0.921, 0.860),
    },
    "car": {
        "AdaBandit": Printed(0.974, 0.929),
        "BinBandit": Printed(0.726, 0.725),
        "OptFull": Printed(0.808, 0.788),
        "AdaFull": Printed(0.947, 0.909),
    },
    "nursery": {"AdaBandit": Printed(0.971, 0.939), "BinBandit": Printed(0.919, 0.884)},
    "mice": {"BinBandit": Printed(0.799, 0.603)},
}
"""The authors' program as it was measured, where it was: no mode, a third column.

Balance with seeds 4 to 6, the others with seed 4 alone; Car with doors and persons numeric, Nursery with four
classes and all columns nominal.
"""
