"""Refusals of the service as exceptions of the library, which hold what the service told."""

from __future__ import annotations

from typing import Any

from banditboost.errors import (
    BanditBoostError,
    DecisionError,
    FeatureError,
    LabelError,
    ModelFileError,
    ParameterError,
)


class UnreachableError(BanditBoostError, ConnectionError):
    """The service did not answer, however often it was asked."""


class ServiceRefusal(BanditBoostError):  # noqa: N818
    """The service refused a call; nothing has changed.

    `status` is HTTP's, `code` a short name that programs can compare, `field` where in the request, `remedy`
    what helps.
    """

    def __init__(self, problem: dict[str, Any]) -> None:
        self.status = int(problem.get("status", 0))
        self.code = str(problem.get("code", ""))
        self.field = str(problem.get("field", ""))
        self.remedy = str(problem.get("remedy", ""))
        super().__init__("; ".join(filter(None, (str(problem.get("detail", "")), self.remedy))))


class RefusedFeatures(ServiceRefusal, FeatureError):  # noqa: N818
    """A FeatureError of the service's model."""


class RefusedLabel(ServiceRefusal, LabelError):  # noqa: N818
    """A LabelError of the service's model."""


class RefusedDecision(ServiceRefusal, DecisionError):  # noqa: N818
    """A DecisionError of the service's model."""


class RefusedParameter(ServiceRefusal, ParameterError):  # noqa: N818
    """A ParameterError of the service's model."""


class RefusedFile(ServiceRefusal, ModelFileError):  # noqa: N818
    """A ModelFileError of the service."""


_BY_FIELD: dict[str, type[ServiceRefusal]] = {
    "features": RefusedFeatures,
    "options": RefusedFeatures,
    "allowed": RefusedLabel,
    "baseline": RefusedLabel,
    "labels": RefusedLabel,
    "id": RefusedDecision,
    "correct": RefusedDecision,
    "reward": RefusedDecision,
    "parameters": RefusedParameter,
    "file": RefusedFile,
}


def refusal(problem: dict[str, Any]) -> ServiceRefusal:
    """The exception for a problem that the service told."""
    field = str(problem.get("field", ""))
    parts = [part.partition("[")[0] for part in field.split(".") if not part.startswith("[")]
    return _BY_FIELD.get(parts[0] if parts else "", ServiceRefusal)(problem)
