"""What a served model is made with, and what the service is."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from banditboost.serve.messages import Label


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a served model is made with, and how its verdicts count."""

    learner: str = "GapBoost"
    labels: list[Label] = []  # none for OptionBoost, whose options come with each decision
    parameters: dict[str, Any] = {}  # of the learner
    rewards: tuple[float, float] = (0.0, 1.0)
    seed: int | None = None  # None: drawn once, and kept
    window: float = 600.0  # seconds; verdicts count until then
    silence: Literal["wrong", "reward", "nothing"] = "nothing"  # what a decision without verdict has earned
    silence_reward: float | None = None
    counting: Literal["first", "sum"] = "first"
    mode: Literal["online", "apprentice", "logging"] = "online"
    control: float = 0.0  # the share of decisions that the baseline takes
    baseline: Literal["uniform", "first"] = "uniform"  # "first": of the allowed, or what the caller names


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Beyond these the service refuses, with the status 4xx, or 503 and Retry-After."""

    body: int = 4 << 20  # bytes of a request
    file: int = 256 << 20  # bytes of a model's file that is uploaded
    batch: int = 1_000  # decisions or verdicts
    id: int = 256  # characters
    name: int = 128
    label: int = 256
    labels: int = 10_000
    options: int = 10_000
    features: int = 10_000  # of a row
    depth: int = 8  # of nested features
    open: int = 1_000_000  # decisions of a model that wait for a verdict
    models: int = 100_000
    queue: int = 10_000  # requests that wait for the disk
    memory: int = 1 << 30  # bytes, of all models that are loaded


class Key(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who may do what: the SHA-256 of a key, and its roles."""

    hash: str
    roles: list[Literal["decide", "learn", "read", "admin"]]
    models: list[str] | None = None  # names; None for all
    name: str = ""


class Personalizer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The dialects of Azure Personalizer: which model answers at `/personalizer`."""

    model: str = "personalizer"


class ServiceSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole service."""

    host: str = "127.0.0.1"
    port: int = 8730
    store: str = ""  # a folder, or postgresql://...; empty: a folder in the user's data directory
    sync: Literal["full", "normal"] = "full"
    keys: list[Key] = []
    limits: Limits = Limits()
    models: dict[str, ModelSettings] = {}  # made at the start if they are not there
    personalizer: Personalizer | None = Personalizer()
    snapshot_every: int = 100_000  # events of a model
    wait: float = 0.0  # seconds that a commit waits for more; 0 takes what came while the disk was busy
