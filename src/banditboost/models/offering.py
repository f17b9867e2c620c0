"""Models that choose among options which come with each call: ids and features instead of fixed labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from banditboost.decision import Decision, Origin
from banditboost.errors import DecisionError, LabelError
from banditboost.memo import MOST_PROBABILITIES, ROUND
from banditboost.models.bandit import BanditModel
from banditboost.models.identity import FORKS
from banditboost.models.locking import locked
from banditboost.models.settings import ROUNDS
from banditboost.rankings import Ranked, order_of, ranked
from banditboost.rows.checking import fits
from banditboost.rows.many import listed, rows_of
from banditboost.rows.offered import OfferedEncoder, admit, encode_if_known, encode_known
from banditboost.rows.options import Options, code_of_id, places_of, read_context, read_options
from banditboost.rows.vocabulary import FreshDigests, Vocabulary
from banditboost.text import quoted
from banditboost.types import Array

ALL = ("option",)
"""What all options count as where other models have their labels."""
_MOST_CODES = 1 << 16  # of ids that are kept at hand


class OfferingModel(BanditModel):
    """A bandit model without labels: each decision is among the options that it was given."""

    labels_are_fixed = True
    _offered: Any  # room for what is offered in a call, as compiled code reads it

    def _make_room_for(self, n_options: int) -> None:
        """Have room for so many options in a call. Called on a draft, which is bound anew."""
        raise NotImplementedError

    @property
    def _room(self) -> int:
        """For how many options there is room in a call."""
        return len(self._offered.ids)

    def _make_identity(self) -> None:
        super()._make_identity()
        self._codes: dict[Hashable, int] = {}

    def _renew(self) -> None:
        super()._renew()
        self._encoder = OfferedEncoder(self._schema)

    def _kept(self) -> dict[str, Any]:
        kept = {name: value for name, value in super()._kept().items() if name != "_encoder"}
        return {**kept, "_codes": {}}

    # Decide

    def decide(  # type: ignore[override]
        self, x: Any, options: Any, allowed: Iterable[Hashable] | None = None
    ) -> Decision:
        """Choose one of the options for x. The decision carries all that `learn` needs; the model keeps
        nothing of it.

        Args:
            x: the context: a dict of features, or an array or list of numbers.
            options: a dict {id: features}, or a list of pairs (id, features); features are a dict, an array
                or list of numbers, or None. Any number of options, any ids that can be hashed, new ones at
                any time.
            allowed: the ids to choose from, if not all.

        >>> from banditboost import OptionBoost
        >>> model = OptionBoost(seed=7)
        >>> shop = {"tea": {"price": 4.5, "hot": True}, "juice": {"price": 3.0, "hot": False}}
        >>> decision = model.decide({"hour": 21}, shop)
        >>> decision.distribution()
        {'tea': 0.5, 'juice': 0.5}
        >>> model.learn(decision, reward=1.0)
        """
        with self._turn.lock: return self._decide_among(x, options, allowed)  # fmt: skip # noqa: E701

    def _decide_among(self, x: Any, options: Any, allowed: Any) -> Decision:
        if self._turn.unfinished is not None:
            self._settled()
        offered = read_options(options)
        among, x = places_of(offered.ids, allowed), read_context(x)
        identity, round_ = self._identity, self._calls.counters[ROUNDS]
        rows = self._coded_if_known(x, offered)
        origin = identity.origin
        if (
            rows is None
            or origin is None
            or identity.forks != FORKS[0]
            or round_ >= identity.ledger.room
            or len(rows) > self._room
        ):
            return self._decide_new(x, offered, among)
        return self._decide_laid_out(origin, rows, offered.ids, among)

    def _coded_if_known(self, x: Mapping[Any, Any], offered: Options) -> Array | None:
        """Joint rows, which lie where compiled code reads them if they were coded the short way; None if any
        brings what has not joined.
        """
        rows: Array = self._offered.rows[: len(offered.ids)]
        if len(rows) == len(offered.ids) and self._encoder.encode(x, offered, rows):
            return rows
        return encode_if_known(self._schema, x, offered)

    def _decide_new(self, x: Mapping[Any, Any], offered: Options, among: Array | None) -> Decision:
        """Decide after something has joined, a run has begun, or more room was made: all at once."""
        self._finish_lesson()
        draft = self._draft()
        rows = draft._admit_offered(x, offered)
        made = draft._decide_laid_out(draft._open_rounds(1), rows, offered.ids, among)
        self._become(draft)
        return made

    def _admit_offered(self, x: Mapping[Any, Any], offered: Options) -> Array:
        """Joint rows after what they bring has joined. Called on a draft, which is bound anew afterwards."""
        version = self._schema.version
        rows = admit(self._schema, x, offered)
        if self._schema.version != version:
            self._follow_schema()
        if len(rows) > self._room:
            self._make_room_for(len(rows))
        return rows

    def _decide_laid_out(
        self, origin: Origin, rows: Array, ids: tuple[Hashable, ...], among: Array | None
    ) -> Decision:
        memo = self._choose_laid_out(rows, ids, among, self._calls.counters[ROUNDS], counted=True)
        held = self._offered.probabilities[: len(ids)].copy() if len(ids) > MOST_PROBABILITIES else None
        return Decision._of(origin, ids, memo, among, held)

    def _choose_laid_out(
        self,
        rows: Array,
        ids: tuple[Hashable, ...],
        among: Array | None,
        round_: int,
        *,
        counted: bool,
        seed: int | None = None,
    ) -> Array:
        offered, k = self._offered, len(rows)
        if rows.base is not offered.rows:  # the encoder writes them where they are read
            offered.rows[:k] = rows
        offered.ids[:k], offered.number[0] = self._codes_of(ids), k
        return self._choose(rows[0], round_, among, counted, seed)[0]

    def _codes_of(self, ids: tuple[Hashable, ...]) -> list[int]:
        codes = self._codes
        try:
            return [codes[id_] for id_ in ids]
        except KeyError:
            found = {id_: code_of_id(id_) for id_ in ids}
        if len(codes) < _MOST_CODES:
            codes.update(found)
        return list(found.values())

    def _allow(self, allowed: Array | None) -> int:
        if allowed is None:
            return 0
        self._offered.allowed[1 : 1 + len(allowed)] = allowed
        return len(allowed)

    @locked
    def decide_many(  # type: ignore[override]
        self, X: Any, options: Any, allowed: Iterable[Iterable[Hashable] | None] | None = None
    ) -> list[Decision]:
        """Choose an option for every context, as if one by one.

        If anything is refused, nothing was decided and no feature has joined.

        Args:
            X: a list of contexts, a matrix, or a frame (pandas, polars, pyarrow).
            options: a list with what is offered for each context, or one dict {id: features} for all.
            allowed: for each context the ids to choose from, or None for all.
        """
        contexts = rows_of(X)
        rounds = list(
            zip(contexts, each_offer(options, contexts), each_allowed(allowed, contexts), strict=True)
        )
        if not rounds:
            return []
        draft, made = self._draft(), []
        origin = draft._open_rounds(len(rounds))
        for x, offers, some in rounds:
            offered = read_options(offers)
            among = places_of(offered.ids, some)
            rows = draft._admit_offered(read_context(x), offered)
            draft._renew()
            made.append(draft._decide_laid_out(origin, rows, offered.ids, among))
        self._become(draft)
        return made

    # Look

    @locked
    def distribution(  # type: ignore[override]
        self, x: Any, options: Any, allowed: Iterable[Hashable] | None = None
    ) -> dict[Hashable, float]:
        """The probabilities that `decide(x, options).distribution()` would tell now; the model does not
        change.
        """
        offered, shares, _ = self._look_at(x, options, allowed)
        return dict(zip(offered.ids, shares, strict=True))

    @locked
    def rank(  # type: ignore[override]
        self, x: Any, options: Any, n: int | None = None, allowed: Iterable[Hashable] | None = None
    ) -> list[Ranked]:
        """Options in the order of their scores and hopes, with the probabilities that `decide(x, options)`
        would have now.

        It is a look: nothing is decided, nothing changes, and nothing can be learned from it.

        Args:
            x, options: as in `decide`; what the model does not know is left out.
            n: how many; None is all.
            allowed: the ids to rank, if not all.
        """
        offered, shares, among = self._look_at(x, options, allowed)
        return ranked(offered.ids, shares, order_of(np.array(shares), among), n)

    def _look_at(self, x: Any, options: Any, allowed: Any) -> tuple[Options, list[float], Array | None]:
        """What is offered, the probabilities, and which options are allowed."""
        offered = read_options(options)
        among = places_of(offered.ids, allowed)
        rows = encode_known(self._schema, read_context(x), offered)
        if len(rows) > self._room:
            draft = self._draft()
            draft._make_room_for(len(rows))
            draft._renew()
            self._become(draft)
        self._choose_laid_out(rows, offered.ids, among, self.rounds, counted=False)
        return offered, self._offered.probabilities[: len(rows)].tolist(), among

    # Learn: a decision tells of its own options, and no label of this model

    def _hear_verdict(self, decision: Decision, memo: Array, told: float) -> int:
        return self._hear_among(decision, memo, told, None)

    def _check_labels(self, decision: Decision) -> None:
        """A branch meets options of its own."""

    def _check_memo(self, decision: Decision) -> None:
        memo = decision._head()
        most = len(self._blank) if decision._origin.vocabulary is None else self._row_start
        good = self._row_start <= len(memo) <= most and fits(memo, self._row_start, 0, self._features)
        if not good or not self._could_make(memo):
            raise DecisionError(
                f"the decision of round {memo[ROUND]:g} does not fit this model: options or row were changed "
                "since decide returned it"
            )

    def _could_make(self, memo: Array) -> bool:
        """Whether what a memo tells besides its row is possible."""
        raise NotImplementedError

    def _vocabulary(self) -> Vocabulary:
        made = super()._vocabulary()
        made.digests = FreshDigests()
        return made

    def _refuse_fixed_labels(self, what: str) -> NoReturn:
        raise LabelError(
            f"{what}: {type(self).__name__} has no labels; give the options with each call of decide"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rounds={self.rounds}, seed={self.seed})"


def each_offer(options: Any, contexts: Any) -> list[Any]:
    """What is offered for each context."""
    if isinstance(options, Mapping):
        return [options] * len(contexts)
    try:
        given = listed(options)
    except TypeError:
        raise LabelError(
            f"options is {quoted(options)}; give a list with what is offered for each context, or one dict "
            "{id: features} for all"
        ) from None
    if len(given) != len(contexts):
        raise LabelError(
            f"options has {len(given)} entries for {len(contexts)} contexts; give one for each, or one dict "
            "{id: features} for all"
        )
    return given


def each_allowed(allowed: Any, contexts: Any) -> list[Any]:
    if allowed is None:
        return [None] * len(contexts)
    try:
        given = listed(allowed)
    except TypeError:
        given = []
    if len(given) != len(contexts):
        raise LabelError(
            f"allowed is {quoted(allowed)}; give a list of allowed ids, or None, for each of {len(contexts)} "
            "contexts"
        )
    return given
