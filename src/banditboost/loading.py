"""`load`: a model from its file, after a look at everything that learning will rely on."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from banditboost.boosting.booster import Booster
from banditboost.boosting.full_information import FullInformationBooster
from banditboost.errors import BanditBoostError, ModelFileError
from banditboost.io.container import Contents, read_from
from banditboost.io.header import ModelHeader
from banditboost.io.upgrades import read_current, upgraded
from banditboost.io.values import UnreadableError, demand
from banditboost.models.bandit import BanditModel
from banditboost.models.ledger import REMEMBERED
from banditboost.models.model import Model
from banditboost.registry import ALL_MODELS, model_class
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import check_path
from banditboost.weak_learners.hoeffding import HoeffdingTree

_LONGEST_ROW = 1 << 24  # of rows without names; what tells them by names makes as many


def load(path: str | os.PathLike[str], *, weak_learner: Any = None) -> BanditModel | FullInformationBooster:
    """The model that `model.save` wrote: it goes on as if it had never stopped, to the last bit.

    Nothing in a file is ever executed.

    Args:
        path: the file.
        weak_learner: what the model was made with, if its weak learners are Python objects: a file holds what
            they learned, not their code.

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
    path = check_path("path", path)
    return _loaded(path, lambda: read_current(path), weak_learner)


def from_bytes(data: bytes, name: str, *, intact: bool = False) -> BanditModel | FullInformationBooster:
    """What `load` makes of a file with these bytes; errors call it by the name.

    Whoever has held them against a checksum already says that they are intact.
    """
    return _loaded(name, lambda: upgraded(read_from(io.BytesIO(data), len(data), intact=intact)), None)


def _loaded(
    path: str, read: Callable[[], Contents], weak_learner: Any
) -> BanditModel | FullInformationBooster:
    try:
        contents = read()
        header = ModelHeader.from_json(contents.header, contents.arrays)
        model = _make(header, weak_learner)
        _restore(model, header, contents.arrays)
    except UnreadableError as error:
        raise ModelFileError(f"{path}: {error}") from None
    except MemoryError:
        raise ModelFileError(
            f"{path}: there is too little memory for a model of its labels and features; load it "
            "on a larger machine"
        ) from None
    except BanditBoostError as error:
        raise ModelFileError(
            f"{path}: no model can be made with what it holds ({error}); load an intact copy"
        ) from error
    return model


def _make(header: ModelHeader, weak_learner: Any) -> BanditModel | FullInformationBooster:
    """A model that has learned nothing yet: its class checks the parameters."""
    kind: Any = _kind(header.kind)
    has_learners = issubclass(kind, Booster)
    if weak_learner is not None and not has_learners:
        raise UnreadableError(f"a {header.kind} has no weak learners; leave weak_learner out")
    try:
        learner = {"weak_learner": _weak_learner(header, weak_learner)} if has_learners else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever made the model was warned
            schema = Schema.from_dict(header.schema)
            demand((header.schema.get("positions") or 0) <= _LONGEST_ROW, "rows are longer than any can be")
            made: BanditModel | FullInformationBooster = kind._of_file(
                header.labels, schema=schema, **{**header.parameters, **learner}
            )
            return made
    except TypeError as error:
        raise UnreadableError(
            f"the parameters are not those of {header.kind} ({error}); load an intact copy"
        ) from None


def _kind(name: str) -> type[Model]:
    if name not in ALL_MODELS:
        raise UnreadableError(
            f"class {name[:40]!r} is unknown; it may come from a newer version: upgrade banditboost"
        )
    return model_class(name)


def _weak_learner(header: ModelHeader, given: Any) -> Any:
    stored = header.parameters.get("weak_learner")
    if not isinstance(stored, dict) or not isinstance(stored.get("class"), str):
        raise UnreadableError("the header does not say which weak learner was used; load an intact copy")
    if stored["class"] == "HoeffdingTree" and "module" not in stored:
        if given is not None:
            raise UnreadableError(f"its weak learners are trees, not {quoted(given)}; leave weak_learner out")
        given = {name: value for name, value in stored.items() if name != "class"}
        return HoeffdingTree(**{"max_columns": None, **given})  # files from before it do not tell it
    if given is None:
        name = f"{stored.get('module')}.{stored['class']}"
        raise UnreadableError(
            "its weak learners are Python objects, and a file holds no code; give load(path, "
            f"weak_learner={name[:80]})"
        )
    return given


def _restore(model: Model, header: ModelHeader, arrays: dict[str, Array]) -> None:
    model.model_id = header.model_id
    model._counts.rounds, model._counts.logged = header.rounds, header.logged
    model._counts.verdicts = header.verdicts + header.logged
    model._restore(arrays)
    model._restore_removed(header.removed)
    model._restore_identity(header.identity, arrays)
    model._restore_learners(arrays, header.learners)
    if isinstance(model, BanditModel):
        _check_ledger(model, header, arrays["ledger"])
    model._renew()


def _check_ledger(model: BanditModel, header: ModelHeader, bits: Array) -> None:
    """Of the decisions of this branch, those learned are no more than its verdicts, and these than all."""
    made = header.rounds - model._identity.ledger.first
    verdicts = header.verdicts - model._identity.verdicts_elsewhere
    learned = int(np.bitwise_count(bits).sum())
    demand(verdicts <= made, "there are more verdicts than decisions")
    demand(made > REMEMBERED or learned <= verdicts, "the ledger has more verdicts than were learned")
