"""A model as one process decides with it: a branch of what was published last."""

from __future__ import annotations

from typing import Any

import msgspec

from banditboost.loading import from_bytes
from banditboost.serve import making
from banditboost.serve.choosing import Chooser, Chosen
from banditboost.serve.course import refuse_more
from banditboost.serve.events import Replaced, Settled, decode
from banditboost.serve.messages import DecisionRequest
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.shared.about import About
from banditboost.serve.store.base import StoredModel
from banditboost.serve.store.postgres import PostgresStore


class Deciding(Chooser):
    """A branch of a model, and the settings in force.

    Args:
        stored: name and number in the store.
        settings: as they are now.
        branch: what decides.
        limits: of the service.
        n: the last event that the model had learned.
        n_open: how many decisions waited for a verdict then.
    """

    def __init__(
        self,
        stored: StoredModel,
        settings: ModelSettings,
        branch: Any,
        limits: Limits,
        n: int,
        n_open: int,
    ) -> None:
        super().__init__(settings, branch, limits)
        self.stored, self.n, self.n_open = stored, n, n_open

    @property
    def version(self) -> str:
        """The model that decides."""
        return f"{self.model.model_id}.{self.n}"

    @property
    def memory_usage(self) -> int:
        """Bytes."""
        return int(self.model.memory_usage)

    def chosen(self, id_: str, request: DecisionRequest) -> Chosen:
        """What is shown, with the decision as the learner reads it."""
        refuse_more(self.n_open, self.settings, self.limits)
        chosen = self.choose(id_, request)
        decision = chosen.decision
        made = b"" if decision is None else msgspec.json.encode(decision.to_dict())
        return chosen._replace(decision=None, made=made)

    def take_over(self, fresh: Deciding) -> None:
        """Decide with what was published since, as the same branch unless it is another model."""
        if fresh.model.model_id == self.model.model_id:
            fresh.model.go_on_as(self.model)
        self.settings, self.model = fresh.settings, fresh.model
        self.n, self.n_open = fresh.n, fresh.n_open

    def leave(self) -> None:
        """It is put away; nobody has to be told."""


def published(store: PostgresStore, stored: StoredModel, limits: Limits) -> Deciding:
    """What was published last, as a new branch. Raises StoreError, and a KeyError if it was deleted."""
    event = decode(store.settled(stored.number))
    assert isinstance(event, (Settled, Replaced))
    settings = msgspec.convert(event.settings, ModelSettings)
    found = store.published(stored.number)
    if found is None:
        snapshot = store.snapshot(stored.number)
        n, file, n_open = snapshot.n, snapshot.file, 0
    else:
        n, file, about = found
        n_open = msgspec.msgpack.decode(about, type=About).info.open
    model: Any = from_bytes(file, f"{stored.name} after event {n}")
    making.prepare(type(model))
    return Deciding(stored, settings, model.branch(), limits, n, n_open)
