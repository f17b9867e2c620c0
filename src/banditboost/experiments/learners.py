"""From a learner's name and plain parameters to a model."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from banditboost import baselines
from banditboost.boosting.adaptive import AdaBandit
from banditboost.models.model import Model as Booster
from banditboost.boosting.binary import BinBandit
from banditboost.boosting.full_information import AdaFull, OptFull
from banditboost.boosting.gap.booster import GapBoost
from banditboost.boosting.booster import Booster as WithLearners
from banditboost.boosting.optimal import OptBandit
from banditboost.errors import ParameterError
from banditboost.experiments.errors import ExperimentError
from banditboost.rows.schema import Schema
from banditboost.weak_learners.hoeffding import HoeffdingTree

LEARNERS: Mapping[str, type[Booster]] = MappingProxyType(
    {booster.__name__: booster for booster in (OptBandit, AdaBandit, BinBandit, GapBoost, OptFull, AdaFull)}
    | {name: getattr(baselines, name) for name in baselines.__all__}
)
_TREE = tuple(item.name for item in fields(HoeffdingTree))
_NOT_PLAIN = {"self", "labels", "weak_learner", "schema", "seed", "parameters"}


def parameters_of(name: str) -> tuple[str, ...]:
    """What `make` takes for a learner: its own parameters, then those of its trees if it has any.

    >>> parameters_of("OptFull")[:2]
    ('edge', 'n_learners')
    >>> parameters_of("Banditron")
    ('exploration',)
    """
    booster = _booster(name)
    own = (parameter for names in _signatures(booster) for parameter in names if parameter not in _NOT_PLAIN)
    return *dict.fromkeys(own), *(_TREE if issubclass(booster, WithLearners) else ())


def _signatures(booster: type[Booster]) -> Iterator[Mapping[str, inspect.Parameter]]:
    """Parameters of the class and of those above it, as far up as they are handed on."""
    for base in booster.__mro__[:-1]:
        if "__init__" in vars(base):
            parameters = inspect.signature(vars(base)["__init__"]).parameters
            yield parameters
            if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
                return


def make(name: str, labels: Iterable[Hashable], schema: Schema | None, parameters: Mapping[str, Any], seed: int) -> Booster:
    """A model. `parameters` is plain data; a range is a list of two numbers.

    >>> make("AdaBandit", ["yes", "no"], None, {"n_learners": 3, "grace_period": [5, 20]}, seed=4)
    AdaBandit(2 labels, n_learners=3, rounds=0, seed=4)
    """
    known = parameters_of(name)
    for given in parameters:
        if given not in known:
            raise ParameterError(f"{given!r} is no parameter of {name}; it has {', '.join(known)}")
    ranges: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    tree = {key: ranges.pop(key) for key in _TREE if key in ranges}
    if tree:
        ranges["weak_learner"] = replace(_booster(name).default_tree, **tree)
    return _booster(name)(labels, schema=schema, seed=seed, **ranges)


def _booster(name: str) -> type[Booster]:
    if name not in LEARNERS:
        raise ExperimentError(f"unknown learner {name!r}: the known ones are {', '.join(LEARNERS)}")
    return LEARNERS[name]
