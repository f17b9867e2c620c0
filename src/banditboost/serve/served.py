"""One served model: a state that changes by the events of its log, and by nothing else.

A request makes an event and the change that the event stands for; `apply` makes the same change again from
the event alone. Nothing here waits, reads a clock or writes to a disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from banditboost.decision import Decision
from banditboost.errors import BanditBoostError, FeatureError, LabelError
from banditboost.rewards import share_told
from banditboost.serve import making, verdicts
from banditboost.serve.arms import arm_of, shown_by_baseline
from banditboost.serve.events import (
    Activated,
    AnyEvent,
    Closed,
    Decided,
    Judged,
    Replaced,
    Settled,
    chained,
    encode,
    key_of,
)
from banditboost.serve.inputs import content_of, read_features, read_options
from banditboost.serve.messages import (
    Arm,
    DecisionAnswer,
    DecisionRequest,
    Label,
    ModelInfo,
    Place,
    VerdictAnswer,
    VerdictRequest,
)
from banditboost.serve.problems import ServiceError
from banditboost.serve.settings import Limits, ModelSettings
from banditboost.serve.store.base import StoredEvent, StoredModel
from banditboost.serve.windows import OpenDecision, OpenDecisions

_FIXED = ("learner", "parameters", "rewards", "seed")
"""Settings that a model was made with."""


class DiffersError(Exception):
    """What comes out again is not what the log tells."""


class Chosen(NamedTuple):
    """What is shown, and why."""

    arm: Arm
    label: Label
    probability: float
    explored: bool
    ranking: list[Place]
    decision: Decision | None


class Served:
    """A model in memory.

    Args:
        stored: its name and number in the store.
        settings: as they are now.
        model: of the library.
        limits: of the service.
        history: finds the events about a decision that are on disk.
    """

    def __init__(
        self,
        stored: StoredModel,
        settings: ModelSettings,
        model: Any,
        limits: Limits,
        history: Callable[[str], Sequence[AnyEvent]],
    ) -> None:
        self.stored, self.settings, self.model = stored, settings, model
        self.limits, self._history = limits, history
        self.n, self.chain, self.at = 0, 0, stored.created
        self.open = OpenDecisions()
        self.fresh: list[StoredEvent] = []
        """Events that nobody has taken to the store yet."""
        self.finished: list[str] = []
        """Decisions that are done, and can be forgotten when these events are on disk."""

    # Decisions

    def decide(self, request: DecisionRequest, now: float) -> DecisionAnswer:
        """Decide, or answer again what was decided with this id."""
        content = content_of(request)
        if request.id is None:
            id_ = new_id(now)
        else:
            id_ = request.id
            if (told := self._decided_before(id_, content)) is not None:
                return told
        if len(self.open) >= self.limits.open:
            raise ServiceError(
                503,
                "too-many-open",
                f"{self.limits.open} decisions of this model wait for a verdict; tell verdicts, or give a "
                "shorter window",
                retry_after=self.settings.window,
            )
        at = max(now, self.at)
        chosen = self._choose(id_, request)
        version = self._version()
        expires = at + self.settings.window
        answer = DecisionAnswer(
            id=id_,
            label=chosen.label,
            probability=chosen.probability,
            explored=chosen.explored,
            arm=chosen.arm,
            version=version,
            deferred=request.deferred,
            expires=expires,
            ranking=chosen.ranking,
        )
        self._log(_event_of(answer, request), at)
        self._keep(answer, content, chosen.decision, request)
        return answer

    def _version(self) -> str:
        return f"{self.model.model_id}.{self.n}"

    def _decided_before(self, id_: str, content: int) -> DecisionAnswer | None:
        if not 0 < len(id_) <= self.limits.id:
            raise ServiceError(
                422,
                "bad-id",
                f"id has {len(id_)} characters; give 1 to {self.limits.id}, or none",
                field="id",
            )
        known = self.open.get(id_)
        if known is not None:
            answer, before = known.answer, known.content
        else:
            decided = next((event for event in self._history(id_) if isinstance(event, Decided)), None)
            if decided is None:
                return None
            answer, before = _answer_of(decided), content_of(_request_of(decided))
        if content != before:
            raise ServiceError(
                409,
                "other-content",
                "id names a decision with other features, options or allowed labels; give each decision an "
                "id of its own",
                field="id",
            )
        return msgspec.structs.replace(answer, repeated=True)

    def _choose(self, id_: str, request: DecisionRequest) -> Chosen:
        x = read_features(request.features, self.limits)
        options = self._options(request)
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

    def _options(self, request: DecisionRequest) -> dict[str, Any] | None:
        if making.chooses_among_options(self.model):
            if request.options is None:
                raise ServiceError(
                    422,
                    "no-options",
                    f"options is missing; {self.settings.learner} chooses among options that come with each "
                    "decision: give an object {id: features}",
                    field="options",
                )
            return read_options(request.options, self.limits)
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
        return Chosen("model", label, decision.probability, decision.explored, ranking, decision)

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
        return Chosen(arm, *shown, shown[0] != places[0].label, ranking, decision)

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

    def _keep(
        self, answer: DecisionAnswer, content: int, decision: Decision | None, request: DecisionRequest
    ) -> None:
        one = OpenDecision(answer, content, self.settings.window)
        if decision is not None:
            one.decision = decision._for_a_store()
        else:
            one.features, one.allowed = request.features, request.allowed
        self.open.add(one)

    # Verdicts

    def judge(self, request: VerdictRequest, now: float) -> VerdictAnswer:
        """Do with a verdict what the settings say."""
        reward = self._reward(request)
        at, one = max(now, self.at), self.open.get(request.id)
        if one is None:
            outcome = verdicts.outcome_of_past(self._history(self._checked_id(request.id)))
        else:
            outcome = verdicts.outcome_of(one, at, self.settings)
            if outcome == "learned" and not self._teach(one, reward):
                outcome = "logged"
        self._log(Judged(request.id, reward, outcome), at)
        if one is not None:
            self._hear(one, reward, outcome)
        return VerdictAnswer(id=request.id, outcome=outcome)

    def _reward(self, request: VerdictRequest) -> float:
        low, high = self.settings.rewards
        if request.reward is None and type(request.correct) is bool:
            return high if request.correct else low
        try:
            share_told(request.correct, request.reward, (low, high))
        except BanditBoostError as error:
            field = "correct" if request.reward is None else "reward"
            raise ServiceError(422, "bad-reward", str(error), field=field) from None
        assert request.reward is not None
        return float(request.reward)

    def _checked_id(self, id_: str) -> str:
        if not 0 < len(id_) <= self.limits.id:
            raise ServiceError(
                422, "bad-id", f"id has {len(id_)} characters; give 1 to {self.limits.id}", field="id"
            )
        return id_

    def _teach(self, one: OpenDecision, reward: float) -> bool:
        """Let the model learn what a decision has earned; False if it cannot."""
        try:
            if one.decision is not None:
                self.model.learn(one.decision, reward=reward)
            else:
                self._teach_shown(one, reward)
        except BanditBoostError:
            return False
        return True

    def _teach_shown(self, one: OpenDecision, reward: float) -> None:
        """What a baseline has shown; a label may have been removed since."""
        assert one.features is not None
        x = read_features(one.features, self.limits)
        shown = one.answer
        self.model.learn_logged(x, shown.label, reward, shown.probability, allowed=one.allowed)

    def _hear(self, one: OpenDecision, reward: float, outcome: str) -> None:
        if outcome in verdicts.COUNTED:
            self._finish(one, "duplicate")
        elif outcome in ("added", "held"):
            one.heard += 1
            one.sum += reward

    def activate(self, id_: str, now: float) -> VerdictAnswer:
        """A deferred decision was shown."""
        at, one = max(now, self.at), self.open.get(id_)
        if one is None:
            return VerdictAnswer(
                id=id_, outcome=verdicts.outcome_of_past(self._history(self._checked_id(id_)))
            )
        outcome = verdicts.activated(one, at, self.settings)
        if outcome in ("duplicate", "late"):
            return VerdictAnswer(id=id_, outcome=outcome)
        if outcome == "learned" and not self._teach(one, one.sum):
            outcome = "logged"
        self._log(Activated(id_, outcome), at)
        self._show(one, outcome)
        return VerdictAnswer(id=id_, outcome=outcome)

    def _show(self, one: OpenDecision, outcome: str) -> None:
        one.waiting = False
        if outcome in verdicts.COUNTED:
            self._finish(one, "duplicate")

    def end_windows(self, now: float, most: int = 1_000) -> bool:
        """Close decisions whose window has ended, so many at most; False if none is left."""
        at = max(now, self.at)
        ended = self.open.ended(at, most)
        for one in ended:
            reward = verdicts.earned(one, self.settings)
            if reward is not None and not self._teach(one, reward):
                reward = None
            self._log(Closed(one.answer.id, reward), at)
            self._finish(one, "late")
        return len(ended) == most

    def _finish(self, one: OpenDecision, answer: str) -> None:
        self.open.finish(one, answer)
        self.finished.append(one.answer.id)

    def forget(self, ids: Sequence[str]) -> None:
        """What has finished these decisions is on disk."""
        for id_ in ids:
            self.open.forget(id_)

    # The model

    def change(self, changes: dict[str, Any], now: float) -> None:
        """Change settings by name. If an exception comes, the model is to be thrown away."""
        self.settle(self._changed(changes), now)

    def _changed(self, changes: dict[str, Any]) -> ModelSettings:
        told = msgspec.to_builtins(self.settings)
        try:
            settings = msgspec.convert({**told, **changes}, ModelSettings)
        except msgspec.ValidationError as error:
            raise ServiceError(422, "bad-setting", str(error)) from None
        for name in _FIXED:
            if getattr(settings, name) != getattr(self.settings, name):
                raise ServiceError(
                    422,
                    "fixed-setting",
                    f"{name} cannot change once the model is made; make another model, or upload a file",
                    field=name,
                )
        settings = making.checked(settings, self.limits)
        if settings.labels != self.settings.labels and self.model.labels_are_fixed:
            raise ServiceError(
                422,
                "fixed-setting",
                f"labels of {settings.learner} cannot change; make another model",
                field="labels",
            )
        return settings

    def settle(self, settings: ModelSettings, now: float) -> None:
        """From now on these are the settings."""
        self._take_settings(settings)
        self._log(Settled(msgspec.to_builtins(settings)), max(now, self.at))

    def _take_settings(self, settings: ModelSettings) -> None:
        if not self.model.labels_are_fixed:
            removed = set(self.model.removed_labels)
            shown = [label for label in self.model.labels if label not in removed]
            for label in settings.labels:
                if label not in shown:
                    self.model.add_label(label)
            for label in shown:
                if label not in settings.labels:
                    self.model.remove_label(label)
        self.settings = settings

    def replace(self, why: str, settings: ModelSettings, model: Any, now: float) -> None:
        """Another model takes its place: verdicts on what was decided before come late."""
        self._log(Replaced(why, msgspec.to_builtins(settings)), max(now, self.at))
        self._take_model(settings, model)

    def _take_model(self, settings: ModelSettings, model: Any) -> None:
        for one in list(self.open):
            self._finish(one, "late")
        self.settings, self.model = settings, model

    @property
    def memory_usage(self) -> int:
        """Bytes, of open decisions, too."""
        return int(self.model.memory_usage) + self.open.memory_usage

    def info(self) -> ModelInfo:
        """What the service shows of it."""
        model = self.model
        return ModelInfo(
            name=self.stored.name,
            id=model.model_id,
            settings=msgspec.to_builtins(self.settings),
            events=self.n,
            rounds=model.rounds,
            verdicts=model.verdicts,
            open=len(self.open),
            created=self.stored.created,
            changed=self.at,
            labels=self.settings.labels,
        )

    # The log

    def _log(self, event: AnyEvent, at: float) -> None:
        body = encode(event)
        self.n += 1
        self.at = at
        self.chain = chained(self.chain, self.n, at, body)
        self.fresh.append(StoredEvent(self.n, key_of(event), at, self.chain, body))

    def take(self) -> tuple[list[StoredEvent], list[str]]:
        """The events that are to be written, and the decisions to be forgotten after that."""
        taken = self.fresh, self.finished
        self.fresh, self.finished = [], []
        return taken

    def apply(self, stored: StoredEvent, event: AnyEvent) -> None:
        """Do again what an event tells; a DiffersError if something else comes out.

        What replaced the model is not in the event: `replay` reads it.
        """
        version, self.n, self.chain = self._version(), stored.n, stored.chain
        self.at = stored.at
        if isinstance(event, Decided):
            self._decide_again(event, version)
        elif isinstance(event, Settled):
            self._take_settings(msgspec.convert(event.settings, ModelSettings))
        elif not isinstance(event, Replaced):
            self._hear_again(event)
        self.forget(self.finished)
        self.finished.clear()

    def _decide_again(self, event: Decided, version: str) -> None:
        request = _request_of(event)
        decision = self._decision_again(event, request, version)
        self._keep(_answer_of(event), content_of(request), decision, request)

    def _decision_again(self, event: Decided, request: DecisionRequest, version: str) -> Decision | None:
        if event.made is not None:  # by a branch
            return Decision.from_dict(msgspec.json.decode(event.made), self.model.labels)
        x = read_features(request.features, self.limits)
        options = self._options(request)
        try:
            if event.arm == "model":
                chosen = self._chosen_by_model(x, options, request)
            else:
                chosen = self._shown(event.arm, (x, options), request, (event.label, event.probability))  # type: ignore[arg-type]
        except BanditBoostError as error:
            raise DiffersError(f"decision {event.id!r} is refused now: {error}") from error
        now = chosen.label, chosen.probability, chosen.explored, version
        told = event.label, event.probability, event.explored, event.version
        if now != told:
            raise DiffersError(f"decision {event.id!r} comes out as {now}, and the log tells {told}")
        return chosen.decision

    def _hear_again(self, event: Judged | Activated | Closed) -> None:
        one = self.open.get(event.id)
        if one is None:
            return
        reward = event.reward if isinstance(event, (Judged, Closed)) else one.sum
        outcome = "learned" if isinstance(event, Closed) else event.outcome
        if outcome == "learned" and reward is not None and not self._teach(one, reward):
            raise DiffersError(f"what decision {event.id!r} has earned cannot be learned now")
        if isinstance(event, Closed):
            self._finish(one, "late")
        elif isinstance(event, Activated):
            self._show(one, outcome)
        else:
            self._hear(one, event.reward, outcome)


def new_id(now: float) -> str:
    """32 hexadecimal digits, of which 20 are drawn by lot; later ones come behind earlier ones, so that what
    a store keeps of them lies close together.
    """
    return f"{int(now * 1000) & 0xFFFFFFFFFFFF:012x}{os.urandom(10).hex()}"


def _event_of(answer: DecisionAnswer, request: DecisionRequest) -> Decided:
    return Decided(
        answer.id,
        request.features,
        request.options,
        request.allowed,
        answer.arm,
        answer.label,
        answer.probability,
        answer.explored,
        answer.deferred,
        answer.expires,
        answer.version,
        [(place.label, place.probability) for place in answer.ranking],
    )


def _answer_of(event: Decided) -> DecisionAnswer:
    return DecisionAnswer(
        id=event.id,
        label=event.label,
        probability=event.probability,
        explored=event.explored,
        arm=event.arm,  # type: ignore[arg-type]
        version=event.version,
        deferred=event.deferred,
        expires=event.expires,
        ranking=[Place(*place) for place in event.ranking],
    )


def _request_of(event: Decided) -> DecisionRequest:
    return DecisionRequest(
        features=event.features,
        options=event.options,
        allowed=event.allowed,
        id=event.id,
        deferred=event.deferred,
    )
