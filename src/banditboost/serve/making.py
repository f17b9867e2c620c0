"""Models of the library as the service makes, keeps and brings them back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from banditboost.errors import BanditBoostError
from banditboost.loading import from_bytes
from banditboost.models.bandit import BanditModel
from banditboost.models.offering import OfferingModel
from banditboost.models.saving import to_bytes
from banditboost.registry import ALL_MODELS, model_class
from banditboost.serve.problems import ServiceError, shape_of
from banditboost.serve.settings import Limits, ModelSettings

_FIXED = ("learner", "parameters", "rewards", "seed")
"""Settings that a model was made with."""
_WHOLE = 2**63  # what a log can hold
_RESERVED = ("labels", "rewards", "seed", "schema")  # parameters that settings name themselves


def check_name(name: str, limits: Limits) -> None:
    """A ServiceError if no model can have this name."""
    if not 0 < len(name) <= limits.name:
        raise ServiceError(
            422, "bad-name", f"name has {len(name)} characters; give 1 to {limits.name}", field="name"
        )
    if "\0" in name:
        raise ServiceError(422, "bad-name", "name has a NUL; give one without", field="name")


def check_number(there: int, limits: Limits) -> None:
    """A ServiceError if there can be no more models."""
    if there >= limits.models:
        raise ServiceError(
            422, "too-many-models", f"there are {limits.models} models; delete one", field="name"
        )


def kind_of(learner: str) -> Any:
    """The class of this name, if it can be served."""
    if learner in ALL_MODELS:
        kind = model_class(learner)
        if issubclass(kind, BanditModel):
            return kind
        remedy = "it is told the right label, not a verdict; give a bandit learner, such as GapBoost"
    else:
        remedy = f"give one of {', '.join(ALL_MODELS)}"
    raise ServiceError(422, "bad-learner", f"learner is {learner[:80]!r}; {remedy}", field="learner")


def chooses_among_options(model: Any) -> bool:
    """Whether options come with each decision."""
    return isinstance(model, OfferingModel)


def checked(settings: ModelSettings, limits: Limits) -> ModelSettings:
    """Settings that a model can be served with, the seed drawn if none is given; a ServiceError else."""
    kind = kind_of(settings.learner)
    _check_labels(settings, kind, limits)
    low, high = settings.rewards
    silence = settings.silence_reward
    for name in _RESERVED:
        if name in settings.parameters:
            _refuse("parameters", f"has {name!r}; give it as a setting of its own, not as a parameter")
    if not low < high:
        _refuse("rewards", f"is [{low:g}, {high:g}]; give the least and the largest one")
    if not 0.0 < settings.window <= 10 * 365 * 86_400.0:
        _refuse("window", f"is {settings.window:g}; give seconds, above 0 and at most ten years")
    if not 0.0 <= settings.control <= 1.0:
        _refuse("control", f"is {settings.control:g}; give a share from 0 to 1")
    if settings.silence == "reward" and (silence is None or not low <= silence <= high):
        _refuse("silence_reward", f"is {silence}; give a number from {low:g} to {high:g}")
    if settings.seed is None:
        return msgspec.structs.replace(settings, seed=int.from_bytes(os.urandom(4), "big"))
    return settings


def changed(settings: ModelSettings, changes: dict[str, Any], limits: Limits) -> ModelSettings:
    """Settings after a change of some by name; a ServiceError if they cannot be."""
    for name in changes:
        if name not in ModelSettings.__struct_fields__:
            _refuse(name[:80], f"is no setting; give some of {', '.join(ModelSettings.__struct_fields__)}")
    try:
        made = msgspec.convert({**msgspec.to_builtins(settings), **changes}, ModelSettings)
    except msgspec.ValidationError as error:
        wrong, field = shape_of(str(error))
        raise ServiceError(
            422, "bad-setting", f"{field}: {wrong}; see /openapi.json for its shape", field=field
        ) from None
    for name in _FIXED:
        if getattr(made, name) != getattr(settings, name):
            raise ServiceError(
                422,
                "fixed-setting",
                f"{name} cannot change once the model is made; make another model, or upload a file",
                field=name,
            )
    made = checked(made, limits)
    if made.labels != settings.labels and kind_of(made.learner).labels_are_fixed:
        raise ServiceError(
            422,
            "fixed-setting",
            f"labels of {made.learner} cannot change; make another model",
            field="labels",
        )
    return made


def _check_labels(settings: ModelSettings, kind: Any, limits: Limits) -> None:
    labels = settings.labels
    if issubclass(kind, OfferingModel):
        if labels:
            _refuse(
                "labels", f"is given, but options come with each decision of {settings.learner}; leave it out"
            )
    elif not all(type(label) is str or _can_be_logged(label) for label in labels):
        _refuse("labels", "has a whole number beyond 64 bits; give it as a string")
    elif len(labels) < 2 or len(set(labels)) < len(labels):
        _refuse("labels", f"has {len(labels)} labels; give at least two, each once")
    if _too_long(labels, limits):
        _refuse("labels", f"is too long; give {limits.labels} at most, of {limits.label} characters")


def _can_be_logged(label: object) -> bool:
    return type(label) is int and -_WHOLE <= label < _WHOLE


def _too_long(labels: Sequence[object], limits: Limits) -> bool:
    return len(labels) > limits.labels or any(len(str(label)) > limits.label for label in labels)


def _refuse(field: str, what: str) -> None:
    raise ServiceError(422, "bad-setting", f"{field} {what}", field=field)


def make(settings: ModelSettings) -> Any:
    """A model that has learned nothing yet; what it decides from now on is of one run, whoever loads it."""
    kind = kind_of(settings.learner)
    given = () if issubclass(kind, OfferingModel) else (settings.labels,)
    try:
        model = kind(*given, rewards=settings.rewards, seed=settings.seed, **settings.parameters)
    except (BanditBoostError, TypeError) as error:
        about = str(error).split(" ", 1)[0]
        field = about if about in _RESERVED else "parameters"
        raise ServiceError(422, "bad-setting", f"{settings.learner}: {error}", field=field) from None
    return begun(model)


_ready: set[type] = set()


def prepare(kind: Any) -> None:
    """Load the kernels of a learner, or compile them, before anybody waits for it. Takes long the first
    time: not to be called in the event loop.
    """
    if kind in _ready:
        return
    x: dict[str, Any] = {"number": 1.0, "name": "a"}
    among = issubclass(kind, OfferingModel)
    model = kind(seed=0) if among else kind(["a", "b"], seed=0)
    given = (x, {"a": x, "b": x}) if among else (x,)
    model.learn(model.decide(*given), reward=1.0)
    model.rank(*given, n=1)
    _ready.add(kind)


def begun(model: Any) -> Any:
    """Let the model's run begin before it is written for the first time."""
    model._prepare_to_play(1)
    return model


def unpacked(file: bytes, name: str) -> Any:
    """The model that goes on in the run in which it was written; the store has looked at its checksum.

    That is safe for the service alone: no decision has left it that its log does not tell.
    """
    model: Any = from_bytes(file, name, intact=True)
    model._identity.go_on()
    return model


def packed(model: Any, name: str) -> bytes:
    """The model as the contents of a file."""
    return to_bytes(model, name)


def uploaded(file: bytes, name: str, limits: Limits) -> BanditModel:
    """A model that comes from outside; it begins a run of its own."""
    try:
        model = from_bytes(file, name)
    except BanditBoostError as error:
        raise ServiceError(422, "bad-file", str(error), field="file") from None
    if not isinstance(model, BanditModel):
        raise ServiceError(
            422,
            "bad-file",
            f"{type(model).__name__} is told the right label, not a verdict; give a bandit learner",
            field="file",
        )
    if model._identity.branch:
        raise ServiceError(
            422, "bad-file", "this is a branch of a model; give the model itself", field="file"
        )
    labels = [] if chooses_among_options(model) else model.labels
    if not all(type(label) is str or _can_be_logged(label) for label in labels):
        raise ServiceError(
            422,
            "bad-file",
            "its labels are not all strings or whole numbers of 64 bits; give a model whose labels are",
            field="file",
        )
    if _too_long(labels, limits):
        raise ServiceError(
            422,
            "bad-file",
            f"its labels are too long; give {limits.labels} at most, of {limits.label} characters",
            field="file",
        )
    prepare(type(model))
    begun(model)
    return model


def settings_for(model: Any, settings: ModelSettings) -> ModelSettings:
    """Settings that tell of a model that was uploaded."""
    removed = set(model.removed_labels)
    labels = [] if chooses_among_options(model) else [label for label in model.labels if label not in removed]
    parameters = {
        name: value
        for name, value in model.parameters.items()
        if name not in _RESERVED and type(value) in (bool, int, float, str)
    }
    return msgspec.structs.replace(
        settings,
        learner=type(model).__name__,
        labels=labels,
        rewards=model.rewards,
        seed=model.seed,
        parameters=parameters,
    )
