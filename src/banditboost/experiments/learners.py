"""From a learner's name and plain parameters to a model."""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from banditboost.errors import BanditBoostError, ParameterError
from banditboost.experiments.errors import ExperimentError
from banditboost.experiments.references import is_reference, resolve, typed_name
from banditboost.models.model import Model
from banditboost.models.offering import OfferingModel
from banditboost.registry import MODELS, model_class
from banditboost.rewards import Range
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.weak_learners.hoeffding import HoeffdingTree

LEARNERS: Mapping[str, type[Model]] = MappingProxyType({name: model_class(name) for name in MODELS})
TREE_PARAMETERS = tuple(item.name for item in fields(HoeffdingTree))
_NOT_PLAIN = {"self", "labels", "schema", "seed", "rewards"}


def learner_class(name: str) -> type[Model]:
    """The class that a name stands for.

    It is a booster or baseline of the package, or one of the user's as "module:Class".

    >>> learner_class("GapBoost").__name__
    'GapBoost'
    >>> learner_class("banditboost.baselines.majority:Majority").__name__
    'Majority'
    """
    if isinstance(name, str) and name in LEARNERS:
        return LEARNERS[name]
    if not isinstance(name, str) or not is_reference(name):
        raise ExperimentError(
            f"unknown learner {quoted(name)}: the known ones are {', '.join(LEARNERS)}; or module:Class"
        )
    found = resolve(name)
    if not isinstance(found, type) or not issubclass(found, Model):
        raise ExperimentError(
            f"{name!r} is {found!r}, which is no booster; derive it from one (docs/guide-booster.md)"
        )
    return found


def parameters_of(name: str) -> tuple[str, ...]:
    """What `make` takes for a learner: its own parameters, then those of its trees if it has any.

    >>> parameters_of("OptFull")[:2]
    ('edge', 'n_learners')
    >>> parameters_of("Banditron")
    ('exploration',)
    """
    return _parameters(learner_class(name))


def _parameters(booster: type[Model]) -> tuple[str, ...]:
    taken = tuple(inspect.signature(booster).parameters)
    own = [argument for argument in taken if argument not in _NOT_PLAIN]
    return *own, *(TREE_PARAMETERS if "weak_learner" in taken else ())


def _arguments(booster: type[Model]) -> tuple[str, ...]:
    return tuple(inspect.signature(booster).parameters)


def learns_rewards(name: str) -> bool:
    """Whether a learner hears rewards, and not the right label.

    >>> learns_rewards("GapBoost"), learns_rewards("AdaFull")
    (True, False)
    """
    return "rewards" in _arguments(learner_class(name))


def make(
    name: str,
    labels: Iterable[Hashable],
    schema: Schema | None,
    parameters: Mapping[str, Any],
    seed: int,
    rewards: Range | None = None,
) -> Model:
    """Make a model of plain data.

    Args:
        name: a learner of ours, or a class of the user's as "module:Class".
        labels: what to choose from.
        schema: the features, if they are declared.
        parameters: by name. A range is a list of two numbers; `weak_learner` is a reference, "module:Class".
        seed: of the model.
        rewards: the least and the largest reward, if there are rewards.

    >>> make("AdaBandit", ["yes", "no"], None, {"n_learners": 3, "grace_period": [5, 20]}, seed=4)
    AdaBandit(2 labels, n_learners=3, rounds=0, seed=4)
    """
    booster: Any = learner_class(name)
    own = _checked(name, booster, parameters)
    if rewards is not None:
        if not learns_rewards(name):
            raise ParameterError(
                f"{name} is told right labels and learns no rewards; choose a bandit learner, such as "
                "GapBoost"
            )
        own["rewards"] = rewards
    try:
        model: Model = booster(labels, schema=schema, seed=seed, **own)
    except BanditBoostError:
        raise
    except Exception as error:
        if name in LEARNERS and "weak_learner" not in parameters:
            raise
        raise ExperimentError(
            f"{typed_name(name, parameters)} cannot be made: {type(error).__name__}: {error}; mend the "
            "class, and give its own arguments defaults: a weak learner is made without any"
        ) from error
    return model


def make_for_options(name: str, parameters: Mapping[str, Any], seed: int, rewards: Range) -> OfferingModel:
    """The same for a model without labels, which chooses among options.

    >>> make_for_options("OptionBoost", {"n_learners": 3}, seed=4, rewards=(0.0, 30.0)).rewards
    (0.0, 30.0)
    """
    booster: Any = model_class(name)
    made: OfferingModel = booster(seed=seed, rewards=rewards, **_checked(name, booster, parameters))
    return made


def _checked(name: str, booster: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a class, from plain parameters of its own and of its trees."""
    known = _parameters(booster)
    if not isinstance(parameters, Mapping):
        raise ParameterError(f"parameters is {quoted(parameters)}; give a dict")
    for given in parameters:
        if given not in known:
            raise ParameterError(
                f"{quoted(given)} is no parameter of {name}; it has {', '.join(known) or 'none'}"
            )
    plain = {key: tuple(value) if isinstance(value, list) else value for key, value in parameters.items()}
    own: dict[str, Any] = {key: value for key, value in plain.items() if key not in TREE_PARAMETERS}
    tree: dict[str, Any] = {key: value for key, value in plain.items() if key in TREE_PARAMETERS}
    if own.get("weak_learner") is not None:
        own["weak_learner"] = _weak_learner(own["weak_learner"], tree)
    elif tree:
        own["weak_learner"] = replace(booster.default_tree, **tree)
    return own


def _weak_learner(reference: Any, tree: Mapping[str, Any]) -> Any:
    if tree:
        raise ParameterError(
            f"{next(iter(tree))!r} is a parameter of the built-in trees, "
            f"and weak_learner is {quoted(reference)}; leave one of them out"
        )
    if not isinstance(reference, str):
        raise ParameterError(f"weak_learner is {quoted(reference)}; give a class of yours as module:Class")
    return resolve(reference)
