"""How GapBoost stands beside its peers: stream by stream, and in sums."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchmarks import charts
from benchmarks.peers.plan import CHAMPION, all_players
from benchmarks.peers.streams import FRESH, SEEN, TUNED, Entry
from benchmarks.peers.summary import Summary, Table
from benchmarks.tables import render

USED_AS = {
    FRESH: "never played before its defaults were set",
    SEEN: "played while it was designed",
    TUNED: "its constants were chosen on",
}
_COLOURS = {FRESH: charts.OURS, SEEN: charts.PAPERS, TUNED: charts.PLAIN}


@dataclass(frozen=True)
class Gap:
    """GapBoost's mean accuracy on a stream minus that of the best peer."""

    stream: str
    used: str
    peer: str
    whole: float
    """Over the whole stream."""
    last: float
    """Over the last fifth, against whoever was best there."""


def rivals(players: Mapping[str, Summary]) -> dict[str, Summary]:
    """Peers that play by one bit, the best total first; those that did not finish come last."""
    names = [
        player.name
        for player in all_players()
        if not player.ours and not player.told and player.name in players
    ]
    order = sorted(names, key=lambda name: (not players[name].whole, -players[name].mean("accuracy")))
    return {name: players[name] for name in order}


def gaps(table: Table, chosen: Sequence[Entry]) -> list[Gap]:
    """One for each stream on which GapBoost and a peer have played."""
    found = []
    for entry in chosen:
        players = table[entry.name]
        if CHAMPION in players and rivals(players):
            peer, whole = _gap(players, "accuracy")
            found.append(Gap(entry.name, entry.used, peer, whole, _gap(players, "last_accuracy")[1]))
    return found


def _gap(players: Mapping[str, Summary], field: str) -> tuple[str, float]:
    """The strongest peer in this field, and GapBoost's mean minus its mean."""
    against = rivals(players)
    whole = {name: summary for name, summary in against.items() if summary.whole} or against
    best = max(whole, key=lambda name: whole[name].mean(field))
    return best, players[CHAMPION].mean(field) - whole[best].mean(field)


def ahead(found: Sequence[Gap], used: str | None = None, field: str = "whole") -> tuple[int, int]:
    """On how many streams GapBoost is ahead of the best peer, and of how many."""
    chosen = [gap for gap in found if used in (None, gap.used)]
    return sum(getattr(gap, field) > 0 for gap in chosen), len(chosen)


def standings(found: Sequence[Gap]) -> str:
    """On how many streams GapBoost is ahead of the best peer; those that it had never played come first."""
    rows = []
    for used, title in [*USED_AS.items(), (None, "all")]:
        if any(used in (None, gap.used) for gap in found):
            counts = [ahead(found, used, field) for field in ("whole", "last")]
            middle = statistics.median(gap.whole for gap in found if used in (None, gap.used))
            rows.append([title, str(counts[0][1]), *(str(count) for count, _ in counts), f"{middle:+.3f}"])
    return render(["streams", "number", "ahead, whole stream", "ahead, last fifth", "median gap"], rows)


def one_by_one(streams: Sequence[Mapping[str, Summary]]) -> str:
    """GapBoost against each peer on the streams that both have played to the end."""
    found: dict[str, list[float]] = {}
    for players in streams:
        for name, summary in rivals(players).items():
            if summary.whole and CHAMPION in players:
                found.setdefault(name, []).append(
                    players[CHAMPION].mean("accuracy") - summary.mean("accuracy")
                )
    rows = [
        [name, str(len(own)), str(sum(gap > 0 for gap in own)), f"{statistics.fmean(own):+.3f}"]
        for name, own in sorted(found.items())
    ]
    return render(["peer", "streams", "GapBoost ahead", "mean gap"], rows)


def chart_numbers(found: Sequence[Gap]) -> list[dict[str, Any]]:
    """What the chart shows."""
    return [{"stream": gap.stream, "used": gap.used, "gap": round(gap.whole, 5)} for gap in found]


def draw(numbers: Sequence[Mapping[str, Any]]) -> Figure:
    """A bar for each stream, longest first; those that were never played before stand on the left."""
    groups = {
        use: sorted((n for n in numbers if n["used"] == use), key=lambda n: n["gap"]) for use in USED_AS
    }
    right, left = groups[SEEN], (groups[TUNED], groups[FRESH])
    rows = max(len(right), sum(map(len, left)) + 2, 6)
    figure = Figure(figsize=(9.0, 0.7 + 0.165 * rows), layout="constrained")
    first, second = figure.subplots(1, 2)
    _bars(first, [*left[0], *([None, None] if all(left) else []), *left[1]], rows)
    _bars(second, right, rows)
    reach = [n["gap"] for n in numbers]
    for axes in (first, second):
        axes.set_xlim(min(0.0, *reach) - 0.02, max(0.0, *reach) + 0.02)
    handles = [Patch(color=_COLOURS[use], label=title) for use, title in USED_AS.items() if groups[use]]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    figure.supxlabel("accuracy of GapBoost minus that of the best of five tuned peers", fontsize=9)
    return figure


def _bars(axes: Axes, bars: Sequence[Mapping[str, Any] | None], rows: int) -> None:
    places = [rows - len(bars) + i for i, bar in enumerate(bars) if bar]
    drawn = [bar for bar in bars if bar]
    axes.barh(
        places, [bar["gap"] for bar in drawn], color=[_COLOURS[bar["used"]] for bar in drawn], height=0.72
    )
    axes.set_yticks(places, [bar["stream"] for bar in drawn], fontsize=7.5)
    axes.axvline(0, color="#333333", lw=0.8)
    axes.set_ylim(-0.8, rows - 0.2)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="x", labelsize=8)
