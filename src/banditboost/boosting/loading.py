"""`load`: a model from its file, after a look at everything that learning will rely on."""

from __future__ import annotations

import os
import warnings
from typing import Any

from banditboost import baselines
from banditboost.boosting.adaptive import AdaBandit
from banditboost.boosting.base import Booster
from banditboost.boosting.binary import BinBandit
from banditboost.boosting.full_information import AdaFull, OptFull
from banditboost.boosting.gap import GapBoost
from banditboost.boosting.optimal import OptBandit
from banditboost.errors import BanditBoostError, ModelFileError
from banditboost.io.container import Array
from banditboost.io.header import ModelHeader
from banditboost.io.upgrades import read_current
from banditboost.io.values import UnreadableError
from banditboost.schema import Schema
from banditboost.weak_learners.custom import PythonCommittee
from banditboost.weak_learners.forest import TreeCommittee
from banditboost.weak_learners.hoeffding import HoeffdingTree

BOOSTERS: dict[str, type[Booster]] = {kind.__name__: kind for kind in (AdaBandit, OptBandit, BinBandit, GapBoost, AdaFull, OptFull)}


def load(path: str | os.PathLike[str], *, weak_learner: Any = None) -> Any:
    """The model that `model.save` wrote: it goes on as if it had never stopped, to the last bit. Nothing in a file is ever executed.

    Args:
        path: the file.
        weak_learner: what the model was made with, if its weak learners are Python objects: a file holds what they learned, not their code.

    >>> import banditboost, tempfile
    >>> model = banditboost.AdaBandit(["yes", "no"], n_learners=5, seed=1)
    >>> decision = model.decide({"age": 31})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model.bb")
    ...     copy = banditboost.load(f"{folder}/model.bb")
    >>> copy.learn(decision, correct=True)
    >>> copy.verdicts
    1
    """
    try:
        contents = read_current(path)
        header = ModelHeader.from_json(contents.header, contents.arrays)
        model = _make(header, weak_learner)
        _restore(model, header, contents.arrays)
    except UnreadableError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from None
    except BanditBoostError as error:
        raise ModelFileError(f"{os.fspath(path)}: no model can be made with what it holds ({error}); load an intact copy") from error
    return model


def _make(header: ModelHeader, weak_learner: Any) -> Booster:
    """A model that has learned nothing yet: its class checks the parameters."""
    kind = _kind(header.kind)
    if weak_learner is not None and not kind.has_learners:
        raise UnreadableError(f"a {header.kind} has no weak learners; leave weak_learner out")
    try:
        learner = {"weak_learner": _weak_learner(header, weak_learner)} if kind.has_learners else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever made the model was warned
            return kind(header.labels, schema=Schema.from_dict(header.schema), **{**header.parameters, **learner})
    except TypeError as error:
        raise UnreadableError(f"the parameters are not those of {header.kind} ({error}); load an intact copy") from None


def _kind(name: str) -> type[Booster]:
    if name not in BOOSTERS and name not in baselines.__all__:
        raise UnreadableError(f"class {name[:40]!r} is unknown; it may come from a newer version: upgrade banditboost")
    kind: type[Booster] = BOOSTERS[name] if name in BOOSTERS else getattr(baselines, name)
    return kind


def _weak_learner(header: ModelHeader, given: Any) -> Any:
    stored = header.parameters.get("weak_learner")
    if not isinstance(stored, dict) or not isinstance(stored.get("class"), str):
        raise UnreadableError("the header does not say which weak learner was used; load an intact copy")
    if stored["class"] == "HoeffdingTree" and "module" not in stored:
        if given is not None:
            raise UnreadableError(f"its weak learners are trees, not {given!r}; leave weak_learner out")
        return HoeffdingTree(**{name: value for name, value in stored.items() if name != "class"})
    if given is None:
        name = f"{stored.get('module')}.{stored['class']}"
        raise UnreadableError(f"its weak learners are Python objects, and a file holds no code; give load(path, weak_learner={name[:80]})")
    return given


def _restore(model: Booster, header: ModelHeader, arrays: dict[str, Array]) -> None:
    model.model_id, model.rounds = header.model_id, header.rounds
    model._settings["verdicts"] = header.verdicts
    model._restore(arrays)
    committee, n_learners = model._committee, model._n_learners_made()
    if isinstance(committee, TreeCommittee):
        committee.restore(arrays, n_learners)
    elif isinstance(committee, PythonCommittee):
        committee.restore(header.learners, n_learners)
