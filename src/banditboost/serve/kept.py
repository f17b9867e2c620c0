"""A served model as a snapshot, and back."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import numpy as np

from banditboost._version import __version__
from banditboost.compiled.store import arithmetic
from banditboost.decision import Decision
from banditboost.decision.labels import indices_in
from banditboost.serve import making
from banditboost.serve.events import Settled, chained, encode
from banditboost.serve.messages import DecisionAnswer, DecisionRequest
from banditboost.serve.served import Served
from banditboost.serve.settings import ModelSettings
from banditboost.serve.statistics import ModelStatistics
from banditboost.serve.store.base import Snapshot, StoredEvent
from banditboost.serve.windows import OpenDecision


class KeptDecision(msgspec.Struct, array_like=True, frozen=True):
    """An open decision. `numbers` are those that the model learns it by."""

    answer: DecisionAnswer
    at: float
    window: float
    content: int
    choices: int
    assigned: float
    waiting: bool
    heard: int
    sum: float
    names: tuple[str, ...]
    asked: DecisionRequest | None
    numbers: bytes | None
    n_labels: int
    mask: bytes
    made: bytes | None = None  # in their place: of a branch


class Kept(msgspec.Struct, array_like=True, frozen=True):
    """What the service keeps beside a model's file."""

    settings: dict[str, Any]
    at: float
    chain: int
    open: list[KeptDecision]
    statistics: dict[str, Any]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Kept).decode


def written_by() -> str:
    """The version of a snapshot that is written here: of banditboost, and where it computes the same."""
    return f"{__version__} {arithmetic()}"


class Taken:
    """A served model as it is now, at rest: to write it takes longer, and can be done in another thread."""

    def __init__(self, served: Served) -> None:
        self.n = served.n
        self._model, self._name = copy.deepcopy(served.model), served.stored.name
        self._state = Kept(
            msgspec.to_builtins(served.settings),
            served.at,
            served.chain,
            [_kept(one) for one in served.open],
            served.statistics.to_plain(),
        )

    def snapshot(self) -> Snapshot:
        """As a store keeps it."""
        return Snapshot(self.n, making.packed(self._model, self._name), _encode(self._state), written_by())


def _kept(one: OpenDecision) -> KeptDecision:
    decision = one.decision
    return KeptDecision(
        one.answer,
        one.at,
        one.window,
        one.content,
        one.choices,
        one.assigned,
        one.waiting,
        one.heard,
        one.sum,
        tuple(one.names),
        one.asked,
        None if decision is None else decision._memo.tobytes(),
        0 if decision is None else len(decision._labels),
        b"" if decision is None else decision._mask.to_bytes(-(-decision._mask.bit_length() // 8), "big"),
        one.made,
    )


def first(settings: ModelSettings, model: Any, name: str, at: float) -> tuple[Snapshot, StoredEvent]:
    """Snapshot 0 of a new model, and the first event of its log: its settings."""
    snapshot = Snapshot(0, making.packed(model, name), begun(settings, at, 0), written_by())
    body = encode(Settled(msgspec.to_builtins(settings)))
    return snapshot, StoredEvent(1, "", at, chained(0, 1, at, body), body)


def begun(settings: ModelSettings, at: float, chain: int) -> bytes:
    """What is kept beside a model in which nothing has happened yet."""
    return _encode(Kept(msgspec.to_builtins(settings), at, chain, [], ModelStatistics().to_plain()))


def state_of(snapshot: Snapshot) -> Kept:
    """What the service keeps beside the model's file."""
    return _decode(snapshot.state)


def restore(served: Served, snapshot: Snapshot, state: Kept) -> None:
    """Go on from a snapshot; the model and the settings are there."""
    served.n, served.at, served.chain = snapshot.n, state.at, state.chain
    served.snapshot_n = snapshot.n
    served.statistics = ModelStatistics.from_plain(state.statistics)
    for kept in state.open:
        served.open.add(_open(kept, served))


def settings_of(state: Kept) -> ModelSettings:
    """The settings at the time of a snapshot."""
    return msgspec.convert(state.settings, ModelSettings)


def _open(kept: KeptDecision, served: Served) -> OpenDecision:
    one = OpenDecision(kept.answer, kept.at, kept.window, kept.content)
    one.choices, one.assigned, one.made, one.asked = kept.choices, kept.assigned, kept.made, kept.asked
    one.waiting, one.heard, one.sum = kept.waiting, kept.heard, kept.sum
    one.names = dict.fromkeys(kept.names)
    if kept.numbers is not None:
        one.decision = _decision(kept, served)
    return one


def _decision(kept: KeptDecision, served: Served) -> Decision:
    """The decision of the model's run. With options it is learned by its numbers alone."""
    model, labels = served.model, served.model.labels
    if making.chooses_among_options(model):
        labels = (kept.answer.label,) * kept.n_labels
    elif kept.n_labels < len(labels):
        labels = labels[: kept.n_labels]
    mask = int.from_bytes(kept.mask, "big")
    memo = np.frombuffer(kept.numbers or b"", np.float64).copy()
    return Decision._of(model._identity.origin, labels, memo, indices_in(mask))
