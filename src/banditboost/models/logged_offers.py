"""What models that choose among options learn from logs: the option that was shown, and what it earned."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

from banditboost.errors import BanditBoostError, LabelError
from banditboost.memo import PROBABILITY
from banditboost.models.calls import LOGGED
from banditboost.models.locking import locked
from banditboost.models.logged import Lesson, column
from banditboost.models.offering import OfferingModel, each_allowed, each_offer
from banditboost.rows.many import rows_of
from banditboost.rows.offered import admit, encode_if_known
from banditboost.rows.options import Options, places_of, read_context, read_options
from banditboost.rows.schema import Schema
from banditboost.text import quoted
from banditboost.types import Array
from banditboost.validation import is_hashable


class _Shown(NamedTuple):
    """A context and the option that was shown, alone."""

    x: Mapping[Any, Any]
    option: Options


class LoggedOfferingModel(OfferingModel):
    """A model that learns options which another policy has shown, too.

    It learns from the shown one's features and id, as from a decision that could be no other one.
    """

    def learn_logged(  # type: ignore[override]
        self,
        x: Any,
        label: Hashable,
        reward: float,
        probability: float | None = None,
        *,
        options: Any,
        allowed: Iterable[Hashable] | None = None,
    ) -> None:
        """Learn a row of a log: what was known, which option another policy has shown, and what it earned.

        It is no verdict on a decision of this model: `logged` counts it, not `verdicts`, and the summary
        tells it apart.

        Args:
            x: the context, as in `decide`.
            label: the id of the option that was shown.
            reward: a number within the model's `rewards`; True stands for the largest, False for the least.
            probability: with which it was chosen; not needed.
            options: what was offered, as in `decide`, or the shown one alone: of others nothing is learned.
            allowed: the ids it was chosen from, if not all.

        >>> from banditboost import OptionBoost
        >>> model = OptionBoost(seed=7)
        >>> for hour in range(24):
        ...     shop = {"tea": {"hot": True}, "juice": {"hot": False}}
        ...     model.learn_logged({"hour": hour}, "tea", reward=hour < 12, options=shop)
        >>> model.logged, model.verdicts
        (24, 0)
        """
        self._learn_offers([(x, label, reward, probability, options, allowed)], is_alone=True)
        self._tell_changes()

    def learn_logged_many(  # type: ignore[override]
        self,
        X: Any,
        labels: Iterable[Hashable],
        rewards: Any,
        probabilities: Any = None,
        *,
        options: Any,
        allowed: Iterable[Iterable[Hashable] | None] | None = None,
    ) -> None:
        """Learn many rows of a log in their order, as if one by one. If any is refused, none was learned.

        Args:
            X: a list of contexts, a matrix, or a frame (pandas, polars, pyarrow).
            labels: the id of the option that was shown, for each row.
            rewards: what it earned.
            probabilities: with which it was chosen; None if the log does not tell.
            options: a list with what was offered for each context, or one dict {id: features} for all.
            allowed: for each row the ids it was chosen from, or None for all.
        """
        contexts = rows_of(X)
        told = {"labels": labels, "rewards": rewards, "probabilities": probabilities}
        columns = [column(name, given, len(contexts)) for name, given in told.items()]
        offers = each_offer(options, contexts), each_allowed(allowed, contexts)
        self._learn_offers(list(zip(contexts, *columns, *offers, strict=True)), is_alone=False)
        self._tell_changes()

    @locked
    def _learn_offers(self, rows: list[tuple[Any, ...]], *, is_alone: bool) -> None:
        schema = self._schema.copy()
        lessons = []
        for t, row in enumerate(rows):
            try:
                lessons.append(self._offer_told(schema, *row))
            except BanditBoostError as error:
                if is_alone:
                    raise
                raise type(error)(f"row {t} of {len(rows)}: {error}") from None
        self._check_room_for(len(lessons))
        if lessons:
            self._learn_lessons(lessons)

    def _offer_told(
        self, schema: Schema, x: Any, label: Any, reward: Any, probability: Any, options: Any, allowed: Any
    ) -> Lesson:
        """What a row of a log tells; what it brings joins the schema that is given, which is a copy."""
        offered = read_options(options)
        among = places_of(offered.ids, allowed)
        places = {offered.ids[i]: i for i in (range(len(offered.ids)) if among is None else among.tolist())}
        place = places.get(label) if is_hashable(label) else None
        if place is None:
            raise LabelError(
                f"label is {quoted(label)}, which is none of the options, {quoted(list(places)[:10])}; "
                "give what was offered, the one that was shown among it"
            )
        shown = _Shown(read_context(x), Options((offered.ids[place],), [offered.features[place]]))
        u, p = self._share_told(reward), self._probability_told(probability)
        if encode_if_known(schema, *shown) is None:
            admit(schema, *shown)
        return Lesson(shown, 0, u, p, None)

    def _learn_lesson(self, lesson: Lesson) -> None:
        rows = self._joined_offer(lesson.x)
        memo = self._choose_laid_out(
            rows, lesson.x.option.ids, None, int(self._counts.logged), counted=False, seed=self._log_seed
        )
        memo[PROBABILITY] = lesson.probability
        self._hear(memo, lesson.told, self._log_seed, None, LOGGED)

    def _joined_offer(self, shown: _Shown) -> Array:
        """Its joint row, after what it brings has joined."""
        rows = encode_if_known(self._schema, *shown)
        if rows is not None:
            return rows
        draft = self._draft()
        made = draft._admit_offered(*shown)
        draft._renew()
        self._become(draft)
        return made
