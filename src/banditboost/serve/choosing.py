"""What is shown, and why: the model's choice, or a baseline's in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from banditboost.decision import Decision
from banditboost.errors import BanditBoostError, FeatureError, LabelError
from banditboost.serve import making
from banditboost.serve.arms import arm_of, shown_by_baseline
from banditboost.serve.inputs import read_features, read_options
from banditboost.serve.messages import Arm, DecisionRequest, Label, Place
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings


class Chosen(NamedTuple):
    """What is shown, and why."""

    arm: Arm
    label: Label
    probability: float
    explored: bool
    ranking: list[Place]
    choices: int  # how many labels could have been shown
    decision: Decision | None  # of the model; None if a baseline chose among labels
    made: bytes | None = None
    """In its place, of a branch: the decision in JSON; empty if a baseline chose."""


class Chooser:
    """Chooses for requests.

    Args:
        settings: of the model, as they are now.
        model: of the library.
        limits: of the service.
    """

    def __init__(self, settings: ModelSettings, model: Any, limits: Limits) -> None:
        self.settings, self.model, self.limits = settings, model, limits

    def choose(self, id_: str, request: DecisionRequest) -> Chosen:
        """What is shown to a request with this id; a ServiceError if it is refused."""
        x = read_features(request.features, self.limits)
        options = self._options(request, self.limits)
        arm = arm_of(self.settings, self.model.seed, id_)
        try:
            if arm == "model":
                return self._chosen_by_model(x, options, request)
            return self._chosen_by_baseline(arm, id_, (x, options), request)
        except FeatureError as error:
            raise ServiceError(422, "bad-features", str(error), field="features") from None
        except LabelError as error:
            field = "options" if request.allowed is None else "allowed"
            raise ServiceError(422, "bad-label", str(error), field=field) from None
        except BanditBoostError as error:
            raise ServiceError(422, "refused", str(error)) from None

    def _options(self, request: DecisionRequest, limits: Limits) -> dict[str, Any] | None:
        if making.chooses_among_options(self.model):
            if request.options is None:
                raise ServiceError(
                    422,
                    "no-options",
                    f"options is missing; {self.settings.learner} chooses among options that come with each "
                    "decision: give an object {id: features}",
                    field="options",
                )
            return read_options(request.options, limits)
        if request.options is not None:
            raise ServiceError(
                422,
                "bad-options",
                f"options is given, but {self.settings.learner} chooses among its labels; leave it out, or "
                "serve an OptionBoost",
                field="options",
            )
        return None

    def _chosen_by_model(self, x: Any, options: dict[str, Any] | None, request: DecisionRequest) -> Chosen:
        decision = self._decision(x, options, request.allowed)
        ranking = self._ranking(decision, request.ranking) if request.ranking else []
        label: Any = decision.label
        choices = self._n_choices(options, request)
        return Chosen("model", label, decision.probability, decision.explored, ranking, choices, decision)

    def _n_choices(self, options: dict[str, Any] | None, request: DecisionRequest) -> int:
        return len(request.allowed or options or self.settings.labels)

    def _decision(self, x: Any, options: Any, allowed: list[Label] | None) -> Decision:
        if options is None:
            made: Decision = self.model.decide(x, allowed)
        else:
            made = self.model.decide(x, options, allowed)
        return made

    def _ranking(self, decision: Decision, n: int) -> list[Place]:
        return [
            Place(place.label, place.probability)  # type: ignore[arg-type]
            for place in decision.ranking(None if n < 0 else n)
        ]

    def _chosen_by_baseline(
        self, arm: Arm, id_: str, given: tuple[Any, dict[str, Any] | None], request: DecisionRequest
    ) -> Chosen:
        allowed = self._allowed(given[1], request.allowed)
        if request.baseline is not None and request.baseline not in allowed:
            raise ServiceError(
                422,
                "bad-label",
                "baseline is not one of the labels that can be shown; give one of them",
                field="baseline",
            )
        shown = shown_by_baseline(self.settings, self.model.seed, id_, allowed, request.baseline)
        return self._shown(arm, given, request, (shown.label, shown.probability))

    def _shown(
        self,
        arm: Arm,
        given: tuple[Any, dict[str, Any] | None],
        request: DecisionRequest,
        shown: tuple[Label, float],
    ) -> Chosen:
        """What the model thinks of what a baseline shows; with options, how it is to learn it."""
        x, options = given
        looked = (x,) if options is None else (x, options)
        n = None if request.ranking < 0 else max(request.ranking, 1)
        places = self.model.rank(*looked, n=n, allowed=request.allowed)
        ranking = [Place(place.label, place.probability) for place in places] if request.ranking else []
        decision = None if options is None else self._decision(x, options, [shown[0]])
        choices = self._n_choices(options, request)
        return Chosen(arm, *shown, shown[0] != places[0].label, ranking, choices, decision)

    def _allowed(self, options: dict[str, Any] | None, allowed: list[Label] | None) -> Sequence[Label]:
        there: Sequence[Label] = self.settings.labels if options is None else list(options)
        if allowed is None:
            return there
        for label in allowed:
            if label not in there:
                raise LabelError(f"allowed has {str(label)[:80]!r}, which cannot be shown; give what can")
        if not allowed:
            raise LabelError("allowed is empty; give at least one label, or leave it out to allow all")
        return allowed
