"""The tasks behind the paper's tables and figures.

Tables 1 and 2 and Figures 1 and 2 show the same runs: accuracy over the last fifth, over all rounds, and as
it grows. Figure 1 has Car and Isolet, Figure 2 the other four, and neither shows BinBandit. Table 4 has the
exploration rates that a grid search chose on shorter streams. Two more artefacts belong to sentences of the
text that have no table: `estimators` plays equation (3) in place of (4), and `learners` is the choice of N.
All of it is there in both modes of `protocol`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any, Final

from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.protocol import ALGORITHMS, DATA, STREAMS, Mode, setting
from banditboost.experiments.task import Source, Task
from banditboost.experiments.tune import Search
from banditboost.text import quoted
from banditboost.validation import check_count

FIRST_SEED: Final = 4
BANDITS: Final = ("OptBandit", "AdaBandit", "BinBandit")
ESTIMATING: Final = ("OptBandit", "AdaBandit")
"""Those that are built on the estimated loss: equations (3) and (4) are theirs."""
_DRAWN: Final = ("OptBandit", "AdaBandit", "OptFull", "AdaFull")


@dataclass(frozen=True)
class Artefact:
    """A table or figure: the data sets and algorithms that it shows."""

    datasets: tuple[str, ...]
    algorithms: tuple[str, ...]


ARTEFACTS: Final[Mapping[str, Artefact]] = {
    "table1": Artefact(tuple(STREAMS), ALGORITHMS),
    "table2": Artefact(tuple(STREAMS), ALGORITHMS),
    "table4": Artefact(tuple(STREAMS), BANDITS),
    "figure1": Artefact(("car", "isolet"), _DRAWN),
    "figure2": Artefact(("balance", "nursery", "movement", "mice"), _DRAWN),
    "estimators": Artefact(tuple(STREAMS), ESTIMATING),
    "learners": Artefact(tuple(STREAMS), ESTIMATING),
}

SEARCH_REPEAT: Final[Mapping[str, int]] = {
    "balance": 4,
    "car": 4,
    "nursery": 1,
    "movement": 1,
    "mice": 4,
    "isolet": 5,
}
"""How often the rows were repeated for Table 4.

That gives its column Count (2 more for Movement, whose odd row we keep).
"""
RATES: Final = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""The grid of exploration rates.

Ours: the paper does not give its own, only the rates it chose, 0.001 and 0.1.
"""
SEARCH_SEEDS: Final = 5
"""The paper searched on one stream; several give intervals."""

SIZES: Final = (5, 10, 15, 20, 25, 30, 35, 40)
"""The numbers of learners to choose from: the paper has multiples of five, and chose 5 to 20."""

Seeds = int | Iterable[int] | None


def artefact_tasks(
    artefact: str,
    datasets: Sequence[str] = (),
    algorithms: Sequence[str] = (),
    seeds: Seeds = None,
    mode: Mode = "ours",
) -> list[Task]:
    """The tasks of a table or figure in a mode, kept to some data sets and algorithms if these are named.

    >>> len(artefact_tasks("table1")), len(artefact_tasks("figure1", seeds=2))
    (500, 16)
    """
    if not isinstance(artefact, str) or artefact not in ARTEFACTS:
        raise ExperimentError(f"unknown table or figure {quoted(artefact)}: there are {', '.join(ARTEFACTS)}")
    shown = ARTEFACTS[artefact]
    wanted = (
        _known("data set", datasets, STREAMS) or shown.datasets,
        _known("algorithm", algorithms, ALGORITHMS) or shown.algorithms,
    )
    some = (
        [name for name in shown.datasets if name in wanted[0]],
        [name for name in shown.algorithms if name in wanted[1]],
    )
    return _TASKS.get(artefact, paper_tasks)(*some, seeds, mode=mode)


def paper_tasks(
    datasets: Iterable[str] = tuple(STREAMS),
    algorithms: Iterable[str] = ALGORITHMS,
    seeds: Seeds = None,
    *,
    mode: Mode = "ours",
) -> list[Task]:
    """The runs of Tables 1 and 2 and of the figures.

    `seeds` is how many (from 4 on), or which; None is as many as in the paper: 20, and 10 for Isolet and
    Movement.
    """
    return [
        Task(whole_stream(name, mode), algorithm, paper_parameters(name, algorithm, mode), seed)
        for name, algorithm in _cells(datasets, algorithms, ALGORITHMS)
        for seed in _seeds(seeds, len(STREAMS[name].seeds))
    ]


def exploration_tasks(
    datasets: Iterable[str] = tuple(STREAMS),
    algorithms: Iterable[str] = BANDITS,
    seeds: Seeds = None,
    rates: Sequence[float] = RATES,
    *,
    mode: Mode = "ours",
) -> list[Task]:
    """The grid search of Table 4.

    Every rate is played on the shorter streams, all other parameters are as in Tables 1 and 2.
    """
    rates = _listed("rates", rates, "give a list of numbers")
    return [
        Task(
            short_stream(name, mode),
            algorithm,
            {**paper_parameters(name, algorithm, mode), "exploration": rate},
            seed,
        )
        for name, algorithm in _cells(datasets, algorithms, BANDITS)
        for rate in rates
        for seed in _seeds(seeds, SEARCH_SEEDS)
    ]


def estimator_tasks(
    datasets: Iterable[str] = tuple(STREAMS),
    algorithms: Iterable[str] = ESTIMATING,
    seeds: Seeds = None,
    *,
    mode: Mode = "ours",
) -> list[Task]:
    """Equation (4), the runs of Tables 1 and 2, and then the same runs with equation (3) in its place."""
    played = paper_tasks(
        datasets, _known("booster with an estimate", algorithms, ESTIMATING), seeds, mode=mode
    )
    return played + [replace(task, parameters={**task.parameters, "estimator": 3}) for task in played]


def learner_tasks(
    datasets: Iterable[str] = tuple(STREAMS),
    algorithms: Iterable[str] = ESTIMATING,
    seeds: Seeds = None,
    *,
    mode: Mode = "ours",
) -> list[Task]:
    """The choice of N among multiples of five, on the shorter streams and with the rates of Table 4."""
    return [
        task
        for name, algorithm in _cells(datasets, algorithms, ESTIMATING)
        for search in [size_search(name, algorithm, tuple(_seeds(seeds, SEARCH_SEEDS)), mode)]
        for candidate in search.candidates()
        for task in search.tasks(candidate)
    ]


def size_search(dataset: str, algorithm: str, seeds: Sequence[int], mode: Mode = "ours") -> Search:
    """What `learner_tasks` plays, as `tune` takes it."""
    fixed = paper_parameters(dataset, algorithm, mode)
    del fixed["n_learners"]
    return Search(short_stream(dataset, mode), algorithm, {"n_learners": SIZES}, fixed, seeds)


_TASKS: Final = {"table4": exploration_tasks, "estimators": estimator_tasks, "learners": learner_tasks}


def whole_stream(dataset: str, mode: Mode = "ours") -> Source:
    """The rounds of Tables 1 and 2."""
    return Source(dataset, variant=DATA[mode], repeat=STREAMS[dataset].repeat)


def short_stream(dataset: str, mode: Mode = "ours") -> Source:
    """The rounds of Table 4."""
    return Source(dataset, variant=DATA[mode], repeat=SEARCH_REPEAT[dataset])


def paper_parameters(dataset: str, algorithm: str, mode: Mode = "ours") -> dict[str, Any]:
    """What the paper's experiments set, as `learners.make` takes it.

    >>> paper_parameters("car", "AdaBandit")["grace_period"]
    [5, 20]
    """
    given = setting(dataset, algorithm, mode)
    parameters: dict[str, Any] = {
        "n_learners": given.n_learners,
        "clip": given.clip,
        "importance_scale": given.importance_scale,
    }
    if given.exploration is not None:
        parameters["exploration"] = given.exploration
    if not algorithm.startswith("Ada"):
        parameters["edge"] = given.edge
    if given.lesson is not None:
        parameters["lesson"] = given.lesson
    return parameters | {name: list(values) for name, values in asdict(given.trees).items()}


def _cells(
    datasets: Iterable[str], algorithms: Iterable[str], known: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Each data set with each algorithm; unknown ones are refused."""
    what = "algorithm" if known is ALGORITHMS else "bandit algorithm"
    return product(_known("data set", datasets, STREAMS), _known(what, algorithms, known))


def _seeds(seeds: Seeds, usual: int) -> Iterable[int]:
    if seeds is None:
        seeds = usual
    if isinstance(seeds, int):
        return range(FIRST_SEED, FIRST_SEED + check_count("seeds", seeds, 1))
    return _listed("seeds", seeds, "say how many, or which")


def _listed(what: str, given: Any, remedy: str) -> tuple[Any, ...]:
    try:
        found = None if isinstance(given, (str, bytes)) else tuple(given)
    except TypeError:
        found = None
    if found is None:
        raise ExperimentError(f"{what} is {quoted(given)}; {remedy}")
    return found


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    given = _listed(f"{what}s", names, "give a list of names")
    for name in given:
        if not isinstance(name, str) or name not in known:
            raise ExperimentError(f"unknown {what} {quoted(name)}: the paper has {', '.join(known)}")
    return given
