"""Rounds per second on the paper's streams, beside River's and CapyMOA's boosted Hoeffding trees.

    python -m benchmarks.rounds [--datasets balance,car] [--seconds 10] [--peers river,capymoa] [--json]
    [--record]

Balance, Car and Nursery are built in; Movement, Mice and Isolet join when BANDITBOOST_DATA names their
directory. River plays each stream for about --seconds, but for no less than --minimum-rounds; that beginning
is what everybody plays, River and ours in turns. AdaBandit has the paper's parameters; the peers have as many
trees and learn in full information. OptBandit has AdaBandit's N, the other three of the paper the paper's,
GapBoost its defaults. "Whole" is AdaBandit through `play` over the whole stream. --record keeps the rates in
docs/results/rounds.jsonl, from which `make numbers` fills the pages.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from banditboost import datasets
from benchmarks import capymoa_peer, machine, ours, records, river_peer
from benchmarks.cases import Case, cases, known
from benchmarks.rate import Contender, Rate, in_turns
from benchmarks.tables import number, render, share

RIVER, RIVER_LIKE_US = "River", "River, our trees"
MOA_FRESH, MOA_ROWS, MOA_JAVA = "CapyMOA by row", "CapyMOA by row, warm", "CapyMOA in Java, warm"
PLAY, ARRAY, DICT, WHOLE = "play", "decide+learn array", "decide+learn dict", "whole"
GAP, GAP_ARRAY, GAP_DICT = "GapBoost", "GapBoost array", "GapBoost dict"
OTHERS = ("OptBandit", "BinBandit", "AdaFull", "OptFull")
PEER_OF = {
    RIVER: "river",
    RIVER_LIKE_US: "river",
    MOA_FRESH: "capymoa",
    MOA_ROWS: "capymoa",
    MOA_JAVA: "capymoa",
}
COLUMNS = (GAP, GAP_ARRAY, GAP_DICT, PLAY, ARRAY, DICT, *OTHERS, WHOLE, *PEER_OF)


@dataclass(frozen=True)
class Target:
    """The quotient of two rates that the project asks for."""

    ours: str
    peer: str
    wanted: Callable[[str], float | None]
    """Data set -> at least this; None: no target, only shown."""


TARGETS = (
    Target(PLAY, RIVER, lambda name: 250 if name in ("mice", "isolet") else 100),
    Target(PLAY, RIVER_LIKE_US, lambda _: None),
    Target(PLAY, MOA_FRESH, lambda _: 10),
    Target(PLAY, MOA_ROWS, lambda _: 10),
    Target(PLAY, MOA_JAVA, lambda _: 10),
    Target(ARRAY, RIVER, lambda _: 50),
    Target(DICT, RIVER, lambda _: 30),
    Target("OptBandit", PLAY, lambda _: 0.5),
)


@dataclass
class Outcome:
    """All rates of one stream."""

    name: str
    n_learners: int
    prefix: int
    rates: dict[str, Rate] = field(default_factory=dict)
    river: str = ""
    """Which of River's two settings was the faster."""

    def per_second(self, key: str) -> float | None:
        return self.rates[key].per_second if key in self.rates else None

    def ratio(self, target: Target) -> float | None:
        if target.ours not in self.rates or target.peer not in self.rates:
            return None
        return self.rates[target.ours].per_second / self.rates[target.peer].per_second


def measure(case: Case, options: argparse.Namespace) -> Outcome:
    """A trial of River says how long the beginning is that everybody plays."""
    start = case if options.rounds is None else case.cut(options.rounds)
    river: dict[str, Contender] = {}
    others: dict[str, Contender] = {}
    if "river" in options.peers:
        start = start.cut(
            max(options.minimum_rounds, int(options.seconds * river_peer.rate_in_a_trial(start)))
        )
        river, others = river_peer.as_shipped(start), {RIVER_LIKE_US: river_peer.with_our_trees(start)}
    rates = in_turns(river | others | _ours(start)) | in_turns(
        {WHOLE: ours.played(case, "AdaBandit")}, turns=3
    )
    fastest = max(river, key=lambda name: rates[name].per_second, default="")
    if fastest:
        rates[RIVER] = rates[fastest]
    if "capymoa" in options.peers:
        rates[MOA_FRESH] = capymoa_peer.in_a_fresh_jvm(start)
        rates[MOA_JAVA] = capymoa_peer.in_java(start, options.seconds)
        rates[MOA_ROWS] = capymoa_peer.row_by_row(start)
    return Outcome(case.name, case.setting("AdaBandit").n_learners, start.rounds, rates, fastest)


def _ours(case: Case) -> dict[str, Contender]:
    same_n = case.setting("AdaBandit").n_learners
    return {
        GAP: ours.played(case, "GapBoost"),
        GAP_ARRAY: ours.by_array(case, "GapBoost"),
        GAP_DICT: ours.by_dict(case, "GapBoost"),
        PLAY: ours.played(case, "AdaBandit"),
        ARRAY: ours.by_array(case),
        DICT: ours.by_dict(case),
        "OptBandit": ours.played(case, "OptBandit", same_n),
        **{algorithm: ours.played(case, algorithm) for algorithm in OTHERS[1:]},
    }


def report(outcomes: Sequence[Outcome], missing: Mapping[str, str]) -> str:
    """Three tables: rates, quotients against the targets, accuracies on the same rounds.

    A missing peer keeps its columns.
    """
    keys = [
        key
        for key in COLUMNS
        if PEER_OF.get(key) in missing or any(key in outcome.rates for outcome in outcomes)
    ]
    heads = [(o.name, str(o.n_learners), f"{o.prefix:,}") for o in outcomes]
    rates = [
        [*head, *(number(o.per_second(key)) for key in keys)] for head, o in zip(heads, outcomes, strict=True)
    ]
    right = [
        [o.name, *(share(o.rates[key].accuracy if key in o.rates else None) for key in keys)]
        for o in outcomes
    ]
    shown = [target for target in TARGETS if any(o.ratio(target) for o in outcomes)]
    ratios = [[o.name, *(_verdict(o, target) for target in shown)] for o in outcomes]
    return "\n\n".join(
        [
            "Rounds per CPU second, one core",
            render(["stream", "N", "rounds", *keys], rates),
            "Quotients (wanted)",
            render(["stream", *(f"{target.ours} / {target.peer}" for target in shown)], ratios),
            "Accuracy on these rounds (peers are told every label)",
            render(["stream", *keys], right),
            "\n".join(_notes(outcomes, missing)),
        ]
    )


def _verdict(outcome: Outcome, target: Target) -> str:
    ratio, wanted = outcome.ratio(target), target.wanted(outcome.name)
    if ratio is None or wanted is None:
        return number(ratio)
    return f"{number(ratio)} ({wanted:g}) {'ok' if ratio >= wanted else 'MISSED'}"


def _notes(outcomes: Sequence[Outcome], missing: Mapping[str, str]) -> list[str]:
    settings = [f"{o.name}: the faster was {o.river}" for o in outcomes if o.river]
    return settings + [
        f"{peer} is left out, it cannot be imported: {reason}" for peer, reason in missing.items()
    ]


def as_json(about: dict[str, str], outcomes: Sequence[Outcome]) -> str:
    def plain(outcome: Outcome) -> dict[str, Any]:
        rates = {key: {**asdict(rate), "per_second": rate.per_second} for key, rate in outcome.rates.items()}
        ratios = {
            f"{t.ours} / {t.peer}": {"ratio": outcome.ratio(t), "wanted": t.wanted(outcome.name)}
            for t in TARGETS
        }
        return {
            "stream": outcome.name,
            "n_learners": outcome.n_learners,
            "rounds": outcome.prefix,
            "rates": rates,
            "ratios": ratios,
        }

    return json.dumps({"machine": about, "streams": [plain(outcome) for outcome in outcomes]}, indent=2)


def as_records(about: dict[str, str], command: str, outcomes: Sequence[Outcome]) -> list[records.Record]:
    """A line for each stream."""
    return [
        {
            "stream": o.name,
            "n_learners": o.n_learners,
            "rounds": o.prefix,
            "rates": {key: round(rate.per_second, 1) for key, rate in o.rates.items() if key in COLUMNS},
            **records.about(about, command),
        }
        for o in outcomes
    ]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rounds", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument(
        "--datasets",
        type=_names,
        default=datasets.names(),
        help="comma-separated (default: all that can be had)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=10.0,
        help="how long River plays each stream, about (default: %(default)s)",
    )
    parser.add_argument(
        "--minimum-rounds",
        type=int,
        default=2000,
        help="how many rounds River plays, at least (default: %(default)s)",
    )
    parser.add_argument("--rounds", type=int, help="play no more than this many rounds of each stream")
    parser.add_argument(
        "--peers", type=_peers, default=("river", "capymoa"), help="river,capymoa or none (default: both)"
    )
    parser.add_argument("--seed", type=int, default=4, help="of the streams' order (default: %(default)s)")
    parser.add_argument("--core", type=int, help="the core to stay on (default: the last)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    records.add_option(parser, "rounds")
    return parser.parse_args(arguments)


def _names(text: str) -> tuple[str, ...]:
    return tuple(known(name) for name in text.split(","))


def _peers(text: str) -> tuple[str, ...]:
    peers = () if text == "none" else tuple(text.split(","))
    for peer in peers:
        if peer not in ("river", "capymoa"):
            raise argparse.ArgumentTypeError(f"unknown peer {peer!r}: choose river, capymoa or none")
    return peers


def _missing(peers: tuple[str, ...]) -> dict[str, str]:
    """Peer -> why it cannot be imported."""
    reasons = {"river": river_peer.unavailable, "capymoa": capymoa_peer.unavailable}
    return {peer: reason for peer in peers if (reason := reasons[peer]()) is not None}


def main(arguments: Sequence[str] | None = None) -> None:
    options = parse(arguments)
    core = machine.pin(options.core)
    missing = _missing(options.peers)
    options.peers = tuple(peer for peer in options.peers if peer not in missing)
    about = machine.describe(core)
    outcomes = []
    for case in cases(options.datasets, options.seed):
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        outcomes.append(measure(case, options))
    if options.json:
        print(as_json(about | {f"{peer} missing": why for peer, why in missing.items()}, outcomes))
    else:
        print("\n".join(f"{key}: {value}" for key, value in about.items()), end="\n\n")
        print(report(outcomes, missing))
    if options.record:
        records.update(
            options.record,
            as_records(about, records.typed("benchmarks.rounds", arguments), outcomes),
            ["stream"],
        )


if __name__ == "__main__":
    main()
