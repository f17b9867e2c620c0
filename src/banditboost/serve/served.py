"""One served model: a state that changes by the events of its log, and by nothing else.

A request makes an event and the change that the event stands for; `apply` makes the same change again from
the event alone. Nothing here waits, reads a clock or writes to a disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from banditboost.decision import Decision
from banditboost.errors import BanditBoostError
from banditboost.serve import making
from banditboost.serve.choosing import Chooser, Chosen
from banditboost.serve.course import Course, new_id, request_of
from banditboost.serve.events import Activated, AnyEvent, Closed, Decided, Judged, Replaced, Settled
from banditboost.serve.inputs import content_of, read_features, read_options
from banditboost.serve.messages import DecisionAnswer, DecisionRequest, ModelInfo
from banditboost.serve.settings import UNLIMITED, Limits, ModelSettings
from banditboost.serve.statistics import ModelStatistics
from banditboost.serve.store.base import StoredEvent, StoredModel
from banditboost.serve.windows import OpenDecision


class DiffersError(Exception):
    """What comes out again is not what the log tells."""


class Served(Course, Chooser):
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
        Course.__init__(self, settings, limits, history)
        self.stored, self.model, self.at = stored, model, stored.created
        self.statistics = ModelStatistics()
        self.snapshot_n = 0
        """The event of the snapshot that it was made from."""
        self._watch()

    def decide(self, request: DecisionRequest, now: float) -> DecisionAnswer:
        """Decide, or answer again what was decided with this id."""
        if request.id is None:
            id_ = new_id(now)
        else:
            id_ = request.id
            if (told := self.decided_before(id_, content_of(request))) is not None:
                return told
        self.refuse_more()
        return self.decided(id_, request, self.choose(id_, request), self._version(), now)

    def _version(self) -> str:
        return f"{self.model.model_id}.{self.n}"

    def _teach(self, one: OpenDecision, reward: float) -> bool:
        """Let the model learn what a decision has earned; False if it cannot."""
        try:
            if one.decision is not None:
                self.model.learn(one.decision, reward=reward)
            elif one.made is not None:
                made = Decision.from_dict(msgspec.json.decode(one.made))
                self.model.learn(made, reward=reward)
            else:
                self._teach_shown(one, reward)
        except BanditBoostError:
            return False
        return True

    def _teach_shown(self, one: OpenDecision, reward: float) -> None:
        """What a baseline has shown; a label may have been removed since."""
        assert one.asked is not None
        asked = one.asked
        x = read_features(asked.features, UNLIMITED)  # it was taken once
        offered = {} if asked.options is None else {"options": read_options(asked.options, UNLIMITED)}
        self.model.learn_logged(x, one.label, reward, one.probability, allowed=asked.allowed, **offered)

    def _teach_again(self, one: OpenDecision, reward: float) -> None:
        if not self._teach(one, reward) and one.made is None:
            self._differ(f"what decision {one.answer.id!r} has earned cannot be learned now")

    # The model

    def change(self, changes: dict[str, Any], now: float) -> None:
        """Change settings by name. If an exception comes, the model is to be thrown away."""
        self.settle(making.changed(self.settings, changes, self.limits), now)

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
        self.replaced(why, settings, now)
        self.model = model

    def _take_model(self, settings: ModelSettings, model: Any) -> None:
        self._finish_all()
        self.leave()
        self.settings, self.model = settings, model
        self._watch()

    # The statistics

    def _watch(self) -> None:
        """Count the changes that the model notices."""
        self.model.on_change = lambda change: self.statistics.noticed(self.at, change)

    def leave(self) -> None:
        """The model is not served any more."""
        self.model.on_change = None

    def _note(self, event: AnyEvent, one: OpenDecision | None, learned: float | None) -> None:
        is_sum = type(event) is Closed and one is not None and one.heard > 0
        clipped = is_sum and one is not None and learned is not None and one.sum != learned
        self.statistics.note(self.at, event, one, learned, clipped)

    # Looks

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

    def apply(self, stored: StoredEvent, event: AnyEvent) -> None:
        """Do again what an event tells; a DiffersError if something else comes out.

        What replaced the model is not in the event: `replay` reads it.
        """
        version, self.n, self.chain = self._version(), stored.n, stored.chain
        self.at = stored.at
        if isinstance(event, Judged | Activated | Closed):
            self.hear_again(event)
        else:
            self._do_again(event, version)
            self._note(event, None, None)
        self.forget(self.finished)
        self.finished.clear()

    def _do_again(self, event: Decided | Settled | Replaced, version: str) -> None:
        if isinstance(event, Decided):
            self._decide_again(event, version)
        elif isinstance(event, Settled):
            self._take_settings(msgspec.convert(event.settings, ModelSettings))

    def _decide_again(self, event: Decided, version: str) -> None:
        if event.made is not None:  # by a branch, or by a baseline in another process
            chosen = self._chosen_elsewhere(event)
        else:
            chosen = self._choose_again(event, request_of(event), version)
        self.decided_again(event, chosen)

    def _choose_again(self, event: Decided, request: DecisionRequest, version: str) -> Chosen:
        x = read_features(request.features, UNLIMITED)
        options = self._options(request, UNLIMITED)
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
            self._differ(f"decision {event.id!r} comes out as {now}, and the log tells {told}")
        return chosen

    def _differ(self, what: str) -> None:
        """Something else has come out than the log tells."""
        raise DiffersError(what)

    def _chosen_elsewhere(self, event: Decided) -> Chosen:
        options = None if event.options is None else read_options(event.options, UNLIMITED)
        return Chosen(
            event.arm,  # type: ignore[arg-type]
            event.label,
            event.probability,
            event.explored,
            [],
            self._n_choices(options, request_of(event)),
            None,
            event.made,
        )
