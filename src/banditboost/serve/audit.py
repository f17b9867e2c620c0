"""A log read from its first event: each decision is made again, and held against what the log tells."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import msgspec

from banditboost.io.container import read_from
from banditboost.serve import kept, replay
from banditboost.serve.arms import arm_of, shown_by_baseline
from banditboost.serve.choosing import Chosen
from banditboost.serve.course import request_of, what_is_learned_of
from banditboost.serve.events import AnyEvent, Closed, Decided, decode
from banditboost.serve.messages import DecisionRequest, Label
from banditboost.serve.served import DiffersError, Served
from banditboost.serve.settings import UNLIMITED
from banditboost.serve.store.base import Snapshot, Store, StoredEvent, StoredModel, StoreError

MOST_FINDINGS = 100


class Finding(msgspec.Struct, frozen=True):
    """Something that is not as it must be."""

    n: int  # the number of the event
    what: str


class Report(msgspec.Struct):
    """What an audit of one model has found."""

    model: str
    elsewhere: bool = False  # whether the log began where last bits may be others
    events: int = 0
    decisions: int = 0  # that were made again
    learned: int = 0  # verdicts, or ends of windows
    snapshots: int = 0  # that were held against the model
    found: int = 0
    findings: list[Finding] = []  # the first of them

    def add(self, n: int, what: str) -> None:
        """Note something."""
        self.found += 1
        if len(self.findings) < MOST_FINDINGS:
            self.findings = [*self.findings, Finding(n, what)]


class Recomputed(msgspec.Struct, frozen=True):
    """One decision as the log tells it, and as it is made again."""

    told: dict[str, Any]
    recomputed: dict[str, Any]
    ranking: list[tuple[Label, float]]  # of all that could be shown, made again; empty if a baseline chose
    history: list[dict[str, Any]]  # what the log tells of it after that
    same: bool


class _Audited(Served):
    """Goes on where something else comes out."""

    report: Report
    asked: str | None = None
    """The id of a decision of which more is to be kept."""
    seen: Chosen | None = None

    def _differ(self, what: str) -> None:
        self.report.add(self.n, what)

    def _choose_again(self, event: Decided, request: DecisionRequest, version: str) -> Chosen:
        self._check_arm(event)
        if event.id == self.asked:
            request = msgspec.structs.replace(request, ranking=-1)
        chosen = super()._choose_again(event, request, version)
        self.report.decisions += 1
        if event.id == self.asked:
            self.seen = chosen
        return chosen

    def _check_arm(self, event: Decided) -> None:
        """Who chose was drawn, and so was what a uniform baseline shows."""
        seed: int = self.model.seed
        arm = arm_of(self.settings, seed, event.id)
        if arm != event.arm:
            self._differ(f"decision {event.id!r} is of the arm {arm!r}, and the log tells {event.arm!r}")
        elif arm != "model" and self.settings.baseline == "uniform":
            request = request_of(event)
            allowed = self._allowed(self._options(request, UNLIMITED), request.allowed)
            shown = shown_by_baseline(self.settings, seed, event.id, allowed, None)
            if shown != (event.label, event.probability):
                told = event.label, event.probability
                self._differ(f"the baseline of {event.id!r} shows {tuple(shown)}, and the log tells {told}")


def audit(store: Store, stored: StoredModel, asked: str | None = None) -> tuple[Report, Recomputed | None]:
    """Read a model's log from its beginning; `asked` is a decision that is to be told, too."""
    report = Report(stored.name)
    snapshots = set(store.snapshots(stored.number))
    try:
        served = _from_the_beginning(store, stored, report, asked)
        for event in _events(store, stored, report):
            replay.apply(store, served, event)
            report.events = event.n
            report.learned += _is_learned(decode(event.body))
            if event.n in snapshots:
                _compare(store, served, report)
    except (StoreError, DiffersError) as error:
        report.add(report.events + 1, f"{error}; nothing after it was looked at")
        return report, None
    if max(snapshots) > report.events:
        report.add(
            report.events, f"there is a snapshot of event {max(snapshots)}, and the log has lost its end"
        )
    return report, None if asked is None else _recomputed(store, served, asked)


def _from_the_beginning(store: Store, stored: StoredModel, report: Report, asked: str | None) -> _Audited:
    first = store.snapshot(stored.number, 0)
    report.elsewhere = first.version != kept.written_by()
    served = replay.from_snapshot(store, stored, first, UNLIMITED, _Audited)
    assert isinstance(served, _Audited)
    served.report, served.asked = report, asked
    return served


def _events(store: Store, stored: StoredModel, report: Report) -> Iterator[StoredEvent]:
    """All events; where one does not follow the one before, that is noted."""
    n, chain = 0, 0
    while events := store.read(stored.number, n):
        for event in events:
            if not replay.follows(event, n, chain):
                report.add(event.n, "it was changed, or something before it is missing: the chain is broken")
            n, chain = event.n, event.chain
            yield event


def _is_learned(event: AnyEvent) -> bool:
    if isinstance(event, Closed):
        return event.reward is not None
    return getattr(event, "outcome", None) == "learned"


def _compare(store: Store, served: Served, report: Report) -> None:
    """The model that was made again, against the snapshot that the service has written."""
    snapshot = store.snapshot(served.stored.number, served.n)
    if snapshot.n != served.n:
        report.add(served.n, "its snapshot is damaged")
        return
    report.snapshots += 1
    made = kept.Taken(served).snapshot()
    if _contents(made.file) != _contents(snapshot.file):
        report.add(served.n, "the model differs from that of its snapshot")
    if _state(made) != _state(snapshot):
        report.add(served.n, "open decisions or statistics differ from those of its snapshot")


def _state(snapshot: Snapshot) -> kept.Kept:
    """What is beside the model; an older version kept more of what was asked than is learned."""
    state = kept.state_of(snapshot)
    return msgspec.structs.replace(state, open=[_learned(one) for one in state.open])


def _learned(one: kept.KeptDecision) -> kept.KeptDecision:
    if one.asked is None:
        return one
    return msgspec.structs.replace(one, asked=what_is_learned_of(one.asked))


def _contents(file: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """All but what tells who wrote the file."""
    read = read_from(io.BytesIO(file), len(file))
    header = {name: value for name, value in read.header.items() if name != "versions"}
    return header, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in read.arrays.items()}


def _recomputed(store: Store, served: _Audited, asked: str) -> Recomputed | None:
    events = [decode(event.body) for event in store.history(served.stored.number, asked)]
    told = next((event for event in events if isinstance(event, Decided)), None)
    if told is None:
        return None
    seen = served.seen
    again = None if seen is None else (seen.label, seen.probability, seen.explored)
    return Recomputed(
        _plain(told),
        {} if again is None else dict(zip(("label", "probability", "explored"), again, strict=True)),
        [] if seen is None else [(place.label, place.probability) for place in seen.ranking],
        [_plain(event) for event in events if not isinstance(event, Decided)],
        again == (told.label, told.probability, told.explored),
    )


def _plain(event: AnyEvent) -> dict[str, Any]:
    """An event as plain data; features and options as what they say."""
    told = {name: getattr(event, name) for name in event.__struct_fields__}
    for name in ("features", "options", "made"):
        if told.get(name):
            told[name] = msgspec.json.decode(told[name])
    return {"event": type(event).__name__.lower(), **told}
