"""What a served model is made with, and what the service is."""

from __future__ import annotations

import sys
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from banditboost.serve.messages import Label

Some = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a served model is made with, and how its verdicts count."""

    learner: str = "GapBoost"
    labels: list[Label] = []  # none for OptionBoost, whose options come with each decision
    parameters: dict[str, Any] = {}  # of the learner
    rewards: tuple[float, float] = (0.0, 1.0)
    seed: int | None = None  # None: drawn once, and kept
    window: Annotated[float, Meta(gt=0.0)] = 600.0  # seconds; verdicts count until then
    silence: Literal["wrong", "reward", "nothing"] = "nothing"  # what a decision without verdict has earned
    silence_reward: float | None = None
    counting: Literal["first", "sum"] = "first"
    mode: Literal["online", "apprentice", "logging"] = "online"
    control: Share = 0.0  # the share of decisions that the baseline takes
    baseline: Literal["uniform", "first"] = "uniform"  # "first": of the allowed, or what the caller names
    notes: dict[str, Any] = {}  # what doors keep with the model, such as the evaluations that were asked for


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Beyond these the service refuses, with the status 4xx, or 503 and Retry-After."""

    body: Some = 4 << 20  # bytes of a request
    file: Some = 256 << 20  # bytes of a model's file that is uploaded
    batch: Some = 1_000  # decisions or verdicts
    id: Some = 256  # characters
    name: Some = 128
    label: Some = 256
    labels: Some = 10_000
    options: Some = 10_000
    features: Some = 10_000  # of a row
    depth: Some = 8  # of nested features
    open: Some = 1_000_000  # decisions of a model that wait for a verdict
    models: Some = 100_000
    under_way: Some = 200  # requests that are answered at once
    queue: Some = 10_000  # requests that wait for the disk
    memory: Some = 1 << 30  # bytes, of all models that are loaded


UNLIMITED = Limits(**dict.fromkeys(Limits.__struct_fields__, sys.maxsize))
"""Of the past: what was taken once is read again, whatever the limits are by now."""


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may do what: the SHA-256 of a key, and its roles."""

    hash: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    roles: list[Literal["decide", "learn", "read", "admin"]]
    models: list[str] | None = None  # names; None for all
    name: str = ""


class Personalizer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The dialects of Azure Personalizer: which model answers at `/personalizer`."""

    model: str = "personalizer"


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole service."""

    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535)] = 8730
    store: str = ""  # a folder, or postgresql://...; empty: a folder in the user's data directory
    sync: Literal["full", "normal"] = "full"
    keys: list[Key] = []
    limits: Limits = Limits()
    models: dict[str, ModelSettings] = {}  # made at the start if they are not there
    personalizer: Personalizer | None = Personalizer()
    snapshot_every: Some = 100_000  # events of a model
    metrics_models: Annotated[int, Meta(ge=0, le=10_000)] = 50  # that have lines of their own at /metrics
    log_level: Literal["debug", "info", "warning", "error"] = "warning"  # of the JSON lines on stderr
    wait: Annotated[float, Meta(ge=0.0, le=1.0)] = (
        0.0  # seconds that a commit waits for more; 0 takes what came while the disk was busy
    )
