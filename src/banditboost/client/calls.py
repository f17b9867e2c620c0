"""What is sent for each call, and what its answer means: the same for both clients."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from urllib.parse import quote

import msgspec

from banditboost.client.refusals import ServiceRefusal, refusal
from banditboost.serve.messages import DecisionAnswer, Label, ModelInfo, Outcome, VerdictAnswer

T = TypeVar("T")
Features = Mapping[str, Any] | Sequence[float]
Decision = DecisionAnswer | str
"""A decision that the service answered, or its id."""
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class Call(Generic[T]):
    """A request, and how its answer is read."""

    method: str
    path: str
    read: Callable[[bytes], T]
    content: bytes | None = None
    query: Mapping[str, str] | None = None


class Wanted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of many decisions that are asked for at once.

    >>> Wanted(features={"hour": 21}, allowed=["news"]).features
    {'hour': 21}
    """

    features: Any
    options: Any = None
    allowed: list[Label] | None = None
    id: str | None = None
    deferred: bool = False
    baseline: Label | None = None
    ranking: int = 0


def decide(
    model: str,
    features: Features,
    *,
    options: Mapping[str, Any] | None = None,
    allowed: Sequence[Label] | None = None,
    id: str | None = None,
    deferred: bool = False,
    baseline: Label | None = None,
    ranking: int = 0,
) -> Call[DecisionAnswer]:
    """Decide.

    Args:
        model: its name.
        features: what is known, as the library's `decide` takes it.
        options: what can be chosen, if options come with each decision: ids and their features.
        allowed: the labels that may be shown; None for all.
        id: a name of your own; the same gives the same answer. None makes one.
        deferred: learn nothing of it before it is activated.
        baseline: what you would show without a model.
        ranking: how many places of the ranking to answer; -1 for all.
    """
    wanted = Wanted(
        features=features,
        options=options,
        allowed=None if allowed is None else list(allowed),
        id=id,
        deferred=deferred,
        baseline=baseline,
        ranking=ranking,
    )
    return Call("POST", f"{_at(model)}/decisions", _DECISION.decode, _encode(_with_id(wanted)))


def decide_many(model: str, wanted: Sequence[Wanted]) -> Call[list[DecisionAnswer | ServiceRefusal]]:
    """Decide for many at once: an answer, or a refusal, for each, in their order."""
    content = _encode([_with_id(one) for one in wanted])
    return Call("POST", f"{_at(model)}/decisions", lambda body: _items(body, DecisionAnswer), content)


def learn(
    model: str,
    decision: Decision,
    correct: bool | None = None,
    *,
    reward: float | None = None,
    once: str | None = None,
) -> Call[Outcome]:
    """Tell whether a decision was right, or what it earned. Returns what the service did with it.

    Args:
        model: its name.
        decision: what `decide` returned, or its id.
        correct: whether the label was right.
        reward: in place of it, a number within the model's rewards.
        once: a name of this verdict; None makes one. Where verdicts are added up, one that comes twice under
            the same name is added once.
    """
    told = {"correct": correct, "reward": reward, "once": once or _token()}
    content = _encode({name: value for name, value in told.items() if value is not None})
    return Call("POST", f"{_decision(model, decision)}/verdict", _outcome, content)


def learn_many(
    model: str, verdicts: Sequence[tuple[Decision, bool | float]]
) -> Call[list[VerdictAnswer | ServiceRefusal]]:
    """Tell of many decisions at once: True and False are verdicts, numbers are rewards."""
    told = [
        {"id": _id(one), "correct" if isinstance(heard, bool) else "reward": heard, "once": _token()}
        for one, heard in verdicts
    ]
    return Call("POST", f"{_at(model)}/verdicts", lambda body: _items(body, VerdictAnswer), _encode(told))


def activate(model: str, decision: Decision) -> Call[Outcome]:
    """Tell that a deferred decision was shown."""
    return Call("POST", f"{_decision(model, decision)}/activate", _outcome)


def create(model: str, /, labels: Sequence[Label] = (), **settings: Any) -> Call[ModelInfo]:
    """Make a model; to ask for the same again changes nothing.

    Args:
        model: its name.
        labels: what can be shown.
        settings: such as learner="OptionBoost", window=3600 or parameters={"n_learners": 40}.
    """
    return Call("PUT", _at(model), _MODEL.decode, _encode({"labels": list(labels), **settings}))


def show(model: str) -> Call[ModelInfo]:
    """A model and its settings."""
    return Call("GET", _at(model), _MODEL.decode)


def models(_: str, after: str = "", limit: int = 1000) -> Call[list[str]]:
    """Names of models in order, those after a name, so many at most."""
    query = {"after": after, "limit": str(limit)}
    return Call("GET", "/v1/models", lambda body: list(_OBJECT.decode(body)["models"]), query=query)


def change(model: str, /, **changes: Any) -> Call[ModelInfo]:
    """Change settings of a model, such as window=60 or labels=[...]."""
    return Call("PATCH", _at(model), _MODEL.decode, _encode(changes))


def delete(model: str) -> Call[None]:
    """Delete a model and its log."""
    return Call("DELETE", _at(model), lambda _: None)


def download(model: str) -> Call[bytes]:
    """The model's file, as `banditboost.load` reads it."""
    return Call("GET", f"{_at(model)}/file", bytes)


def upload(model: str, file: bytes) -> Call[ModelInfo]:
    """Replace the model by a file that `save` wrote."""
    return Call("PUT", f"{_at(model)}/file", _MODEL.decode, file)


def reset(model: str) -> Call[ModelInfo]:
    """Forget what was learned; settings and the log stay."""
    return Call("POST", f"{_at(model)}/reset", _MODEL.decode)


def statistics(model: str) -> Call[dict[str, Any]]:
    """What the page shows of a model."""
    return Call("GET", f"{_at(model)}/statistics", _OBJECT.decode)


def report(model: str) -> Call[dict[str, Any]]:
    """Is the model better than its control group: by how much, since when?"""
    return Call("GET", f"{_at(model)}/report", _OBJECT.decode)


def log(model: str, form: str = "jsonl") -> Call[bytes]:
    """The log as a file: "jsonl" or "parquet" tell decisions and what they earned, as `banditboost.logs.read`
    reads them, and "events" every event.
    """
    return Call("GET", f"{_at(model)}/log", bytes, query={"form": form})


_DECISION = msgspec.json.Decoder(DecisionAnswer)
_VERDICT = msgspec.json.Decoder(VerdictAnswer)
_MODEL = msgspec.json.Decoder(ModelInfo)
_OBJECT: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_RAW = msgspec.json.Decoder(list[dict[str, Any]])


def _at(model: str) -> str:
    return f"/v1/models/{_part(model)}"


def _decision(model: str, decision: Decision) -> str:
    return f"{_at(model)}/decisions/{_part(_id(decision))}"


def _part(name: str) -> str:
    """A name as one part of a path; what consists of dots only would be taken for a step up."""
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")


def _id(decision: Decision) -> str:
    return decision if isinstance(decision, str) else decision.id


def _token() -> str:
    return uuid.uuid4().hex


def _with_id(wanted: Wanted) -> Wanted:
    return wanted if wanted.id is not None else msgspec.structs.replace(wanted, id=_token())


def _outcome(body: bytes) -> Outcome:
    return _VERDICT.decode(body).outcome


def _items(body: bytes, kind: type[T]) -> list[T | ServiceRefusal]:
    return [refusal(one) if "code" in one else msgspec.convert(one, kind) for one in _RAW.decode(body)]
