"""The service configuration of Personalizer as settings of a model, and back.

What a model of ours does not have is refused if somebody would miss it (logs that are deleted, mirrored or
searched), and otherwise taken with a remark: the answer tells what is so.
"""

from __future__ import annotations

import datetime
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from banditboost.serve.http.personalizer.reading import SHAPE, Body, refused
from banditboost.serve.http.reading import decoded
from banditboost.serve.messages import ModelInfo
from banditboost.serve.settings import ModelSettings

SHORTEST, LONGEST = datetime.timedelta(seconds=5), datetime.timedelta(days=2)
_MODES = {"Online": "online", "Apprentice": "apprentice", "LoggingOnly": "logging"}
_COUNTING = {"earliest": "first", "sum": "sum"}
_REQUIRED = {
    "reward_wait_time": "rewardWaitTime",
    "default_reward": "defaultReward",
    "reward_aggregation": "rewardAggregation",
    "exploration_percentage": "explorationPercentage",
    "model_export_frequency": "modelExportFrequency",
    "log_retention_days": "logRetentionDays",
}
_NOT_USED = {
    "exploration_percentage": "explorationPercentage is not used: the model decides how much to explore",
    "model_export_frequency": "modelExportFrequency is not used: a reward counts from the next Rank on",
    "model_retrain_days": "modelRetrainDays is not used: a model is never trained again",
}


def personalizer_settings() -> ModelSettings:
    """A model with the defaults of a new Personalizer resource."""
    return ModelSettings(
        learner="OptionBoost",
        rewards=(-1.0, 1.0),
        window=600.0,
        silence="reward",
        silence_reward=0.0,
        counting="first",
        baseline="first",
    )


class ServiceConfiguration(Body, frozen=True, omit_defaults=True):
    """What a client sends and gets; what is not there is UNSET."""

    reward_wait_time: datetime.timedelta | UnsetType = UNSET
    default_reward: float | UnsetType | None = UNSET  # None: a decision without reward teaches nothing
    reward_aggregation: Literal["earliest", "sum"] | UnsetType = UNSET
    exploration_percentage: float | UnsetType | None = UNSET
    model_export_frequency: datetime.timedelta | UnsetType = UNSET
    model_retrain_days: int | UnsetType | None = UNSET
    log_retention_days: int | UnsetType = UNSET
    log_mirror_enabled: bool | UnsetType | None = UNSET
    log_mirror_sas_uri: str | UnsetType | None = UNSET
    last_configuration_edit_date: datetime.datetime | UnsetType | None = UNSET
    learning_mode: Literal["Online", "Apprentice", "LoggingOnly"] | UnsetType | None = UNSET
    is_auto_optimization_enabled: bool | UnsetType | None = UNSET
    auto_optimization_frequency: datetime.timedelta | UnsetType | None = UNSET
    auto_optimization_start_date: datetime.datetime | UnsetType | None = UNSET
    latest_apprentice_mode_metrics: Any = UNSET


_decoder = msgspec.json.Decoder(ServiceConfiguration)


def shown(info: ModelInfo) -> ServiceConfiguration:
    """The configuration that a model's settings are."""
    settings = msgspec.convert(info.settings, ModelSettings)
    return ServiceConfiguration(
        reward_wait_time=datetime.timedelta(seconds=settings.window),
        default_reward=_default_reward(settings),
        reward_aggregation="sum" if settings.counting == "sum" else "earliest",
        exploration_percentage=None,
        model_export_frequency=datetime.timedelta(0),
        model_retrain_days=0,
        log_retention_days=-1,
        log_mirror_enabled=False,
        learning_mode=_mode_told(settings.mode),
        is_auto_optimization_enabled=False,
    )


def instant(at: float) -> datetime.datetime:
    """A time of the service as clients are told it."""
    return datetime.datetime.fromtimestamp(at, datetime.UTC)


def _default_reward(settings: ModelSettings) -> float | None:
    if settings.silence == "wrong":
        return settings.rewards[0]
    return settings.silence_reward if settings.silence == "reward" else None


def _mode_told(mode: str) -> Literal["Online", "Apprentice", "LoggingOnly"]:
    if mode == "online":
        return "Online"
    return "Apprentice" if mode == "apprentice" else "LoggingOnly"


def read_configuration(body: bytes, *, whole: bool) -> ServiceConfiguration:
    """The configuration that a body tells, after a look at its ranges.

    Args:
        body: JSON.
        whole: whether all that Personalizer requires must be there, as for PUT.
    """
    given = decoded(_decoder, body, remedy=SHAPE)
    missing = [name for field, name in _REQUIRED.items() if getattr(given, field) is UNSET]
    if whole and missing:
        raise refused(missing[0], "is missing; give the whole configuration, as GET tells it")
    _check_ranges(given)
    _check_kept(given)
    return given


def changes_of(given: ServiceConfiguration) -> dict[str, Any]:
    """The changes of a model's settings that a configuration means."""
    changes: dict[str, Any] = {}
    if isinstance(given.reward_wait_time, datetime.timedelta):
        changes["window"] = given.reward_wait_time.total_seconds()
    if given.default_reward is None:
        changes.update(silence="nothing", silence_reward=None)
    elif given.default_reward is not UNSET:
        changes.update(silence="reward", silence_reward=given.default_reward)
    if isinstance(given.reward_aggregation, str):
        changes["counting"] = _COUNTING[given.reward_aggregation]
    if isinstance(given.learning_mode, str):
        changes["mode"] = _MODES[given.learning_mode]
    return changes


def remarks(given: ServiceConfiguration) -> list[str]:
    """What was given and is not used."""
    return [remark for field, remark in _NOT_USED.items() if getattr(given, field) not in (UNSET, None)]


def _check_ranges(given: ServiceConfiguration) -> None:
    wait = given.reward_wait_time
    if isinstance(wait, datetime.timedelta) and not SHORTEST <= wait <= LONGEST:
        raise refused(
            "rewardWaitTime", f"is {wait}; give a duration from PT5S, five seconds, to P2D, two days"
        )
    _check_number("defaultReward", given.default_reward, -1.0)
    _check_number("explorationPercentage", given.exploration_percentage, 0.0)


def _check_number(field: str, number: Any, least: float) -> None:
    if isinstance(number, float) and not least <= number <= 1.0:
        raise refused(field, f"is {number:g}; give a number from {least:g} to 1")


def _check_kept(given: ServiceConfiguration) -> None:
    """Refuse what somebody would miss."""
    if given.log_retention_days not in (UNSET, -1):
        raise refused(
            "logRetentionDays",
            f"is {given.log_retention_days}; give -1: the log is kept, for the model is made from it. To "
            "forget it, delete the model",
            "InvalidLogRetentionDays",
        )
    if given.log_mirror_enabled is True:
        raise refused("logMirrorEnabled", "is true; give false, and read the log as a stream instead")
    if given.is_auto_optimization_enabled is True:
        raise refused("isAutoOptimizationEnabled", "is true; give false: the model tunes itself as it learns")
