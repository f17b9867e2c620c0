"""The page of results, made from records alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.peers.plan import CHAMPION, TUNING_SEED, Budget, all_players
from benchmarks.peers.streams import FRESH, KNOWN, ONCE, PAPER, USES, Entry, entries
from benchmarks.peers.summary import Record, Summary, Table, summarise
from benchmarks.tables import number, render

_TITLES = {PAPER: "The paper's streams", ONCE: "Single passes", KNOWN: "Streams with a known best policy"}
_MEBIBYTE = 1 << 20
_USUAL = Budget()
HOW = f"""## How it is measured

- The same rows in the same order for everybody; seeds 4 and up draw the order (and are the players'). Who plays by one bit never sees
  a label: ours and contextualbandits are told right or wrong by the harness, Vowpal Wabbit simulates the same by its own `--cbify`.
  *Told* players hear the label of every round.
- Peers are tuned for every stream, on the first {_USUAL.tuning_rounds:,} rounds of another order (seed {TUNING_SEED}), by total accuracy:
  Vowpal Wabbit over plain and quadratic features for each explorer, then, around the better one, the explorer's parameter, the
  learning rate, raw instead of standardised columns, and numbers of few values as names (31 runs in all); contextualbandits over
  five policies, then batches of 20 rows against 5 (single rows would suit it better still, at a few hundred rounds per second);
  River over two split confidences. Ours are not tuned: GapBoost has its defaults everywhere, the others the paper's parameters on
  the paper's streams and defaults elsewhere. One order is little to choose by: settings that are 0.01 apart may change places.
- Standardised columns are standardised with the whole stream, which looks ahead and helps the peers that use it. Nominal columns are
  one-hot for linear peers.
- A run is a process of its own on one core. Rounds per second count CPU time. A run has
  {_USUAL.seconds:g} CPU seconds ({_USUAL.told_seconds:g} for peers that are told, {_USUAL.tuning_seconds:g} for tuning); whoever
  needs more plays a beginning, marked *, whose total is lower than that of a whole stream would be. A peer's run of more than
  {_USUAL.slow:g} seconds is not repeated with further seeds.
- Vowpal Wabbit is driven by its own C++ loop (the Python package's Workspace with `-d`), reading its binary cache: no text is parsed
  while the clock runs. Ours is `play` on arrays in memory. CapyMOA is called row by row (`python -m benchmarks.rounds` has its Java
  loop).
- Memory is the peak while playing minus what the process held before (rows, imports, a Java machine that has started).
- ± is half the 95 % interval of the mean over seeds (Student); without it there was one seed."""


def page(records: Sequence[Record]) -> str:
    """Markdown."""
    table = summarise(records)
    chosen = [entry for entry in entries().values() if table.get(entry.name)]
    parts = ["# Peers side by side", _origin(records)]
    if not chosen:
        return "\n\n".join([*parts, "Nothing has been played yet."]) + "\n"
    parts += [_balance(table, chosen), *(_group(group, table, chosen) for group in _TITLES if any(e.group == group for e in chosen))]
    parts += ["## Speed\n\n" + _speed(table, chosen), HOW, *_details(table, chosen), _not_played(table, chosen), _failures(records)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _origin(records: Sequence[Record]) -> str:
    """Command, date, machine, versions."""
    if not records:
        return ""
    last = max(records, key=lambda record: record["finished"])
    versions = ", ".join(f"{name} {number}" for name, number in last["versions"].items())
    days = sorted({record["finished"][:10] for record in records})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    in_parts = len({record["command"] for record in records}) > 1
    command = "`python -m benchmarks.peers`, run in parts" if in_parts else f"`{last['command']}`"
    where = " and ".join(sorted({record["cpu"] for record in records}))
    return f"{command}, {when}, {where}. {versions}."


def rivals(players: Mapping[str, Summary]) -> dict[str, Summary]:
    """Peers that play by one bit, the best total first; who played the whole stream goes before who did not."""
    names = [player.name for player in all_players() if not player.ours and not player.told and player.name in players]
    return {name: players[name] for name in sorted(names, key=lambda name: (not players[name].whole, -players[name].mean("accuracy")))}


def _balance(table: Table, chosen: Sequence[Entry]) -> str:
    """How often GapBoost is ahead of the best peer, and where it is not; and of each peer alone."""
    standings = [
        _standing(title, [(entry, *gap) for entry in chosen if (gap := _gap(table[entry.name], field))])
        for title, field in (("Over the whole stream", "accuracy"), ("Over the last fifth", "last_accuracy"))
    ]
    return "\n".join([*standings, _one_by_one([table[entry.name] for entry in chosen])])


def _one_by_one(streams: Sequence[Mapping[str, Summary]]) -> str:
    """GapBoost against each peer on the streams that both have played to the end: the best peer is another one on each stream."""
    gaps: dict[str, list[float]] = {}
    for players in streams:
        for name, summary in rivals(players).items():
            if summary.whole and CHAMPION in players:
                gaps.setdefault(name, []).append(players[CHAMPION].mean("accuracy") - summary.mean("accuracy"))
    parts = (
        f"{name} on {sum(gap > 0 for gap in own)} of {len(own)} (mean {statistics.fmean(own):+.3f})" for name, own in sorted(gaps.items())
    )
    return f"- Against each peer alone, tuned for each stream, over the whole stream, GapBoost is ahead of {', '.join(parts)}."


def _standing(title: str, gaps: Sequence[tuple[Entry, float, str]]) -> str:
    ahead = [entry for entry, gap, _ in gaps if gap > 0]
    fresh = sum(entry.used == FRESH for entry in ahead), sum(entry.used == FRESH for entry, *_ in gaps)
    lost = "; ".join(f"{entry.name} ({entry.used}) by {-gap:.3f} to {name}" for entry, gap, name in gaps if gap <= 0)
    counts = f"on {len(ahead)} of {len(gaps)} streams, of the fresh ones on {fresh[0]} of {fresh[1]}"
    return f"- {title} GapBoost is ahead of the best bandit peer {counts}." + (f" It loses on {lost}." if lost else "")


def _gap(players: Mapping[str, Summary], field: str) -> tuple[float, str] | None:
    """GapBoost's mean minus that of the strongest peer in this field, and the peer's name."""
    against = rivals(players)
    if CHAMPION not in players or not against:
        return None
    whole = {name: summary for name, summary in against.items() if summary.whole} or against
    best = max(whole, key=lambda name: whole[name].mean(field))
    return players[CHAMPION].mean(field) - whole[best].mean(field), best


def _group(group: str, table: Table, chosen: Sequence[Entry]) -> str:
    known = group == KNOWN
    heads = ["stream", "used", "rounds", "GapBoost last fifth", "total", "best bandit peer", "last fifth", "total", "told: best", "total"]
    heads += ["best policy", "regret", "peer's regret"] if known else []
    rows = [_row(entry, table[entry.name], known) for entry in chosen if entry.group == group]
    uses = [f"*{use}*: {text}" for use, text in USES.items() if any(entry.used == use and entry.group == group for entry in chosen)]
    where = [f"{entry.name}: {entry.about}" for entry in chosen if entry.group == group and entry.about]
    notes = [". ".join(uses) + ".", *(["; ".join(where) + "."] if where else [])]
    return "\n\n".join([f"## {_TITLES[group]}", render(heads, rows), *notes])


def _row(entry: Entry, players: Mapping[str, Summary], known: bool) -> list[str]:
    ours = players.get(CHAMPION)
    name, best = next(iter(rivals(players).items()), ("-", None))
    told = {player.name: players[player.name] for player in all_players() if player.told and player.name in players}
    teacher = max(told, key=lambda name: (told[name].whole, told[name].mean("accuracy")), default="-")
    rounds = f"{next(iter(players.values())).runs[0]['stream_rounds']:,}"
    cells = [entry.name, entry.used, rounds, _accuracy(ours, "last_accuracy"), _accuracy(ours, "accuracy")]
    cells += [name, _accuracy(best, "last_accuracy"), _accuracy(best, "accuracy"), teacher, _accuracy(told.get(teacher), "accuracy")]
    if known:
        cells += ["-" if ours is None else ours.text("best_accuracy"), *(_regret(summary) for summary in (ours, best))]
    return cells


def _accuracy(summary: Summary | None, field: str) -> str:
    return "-" if summary is None else summary.text(field) + ("" if summary.whole else "*")


def _regret(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.mean('regret'):,.0f}" + ("" if summary.whole else "*")


def _speed(table: Table, chosen: Iterable[Entry]) -> str:
    """GapBoost through `play` beside Vowpal Wabbit: with its most accurate setting on the stream, and with its fastest tuned one."""
    rows = []
    for entry in chosen:
        players = table[entry.name]
        wabbits = {name: summary for name, summary in rivals(players).items() if name.startswith("VW ")}
        if CHAMPION not in players or not wabbits:
            continue
        ours, best, fastest = players[CHAMPION], next(iter(wabbits)), max(wabbits, key=lambda name: wabbits[name].rate)
        quotients = [f"{ours.rate / wabbits[name].rate:.2f}" for name in (best, fastest)]
        named = [f"{number(wabbits[name].rate)} ({_short(name, wabbits[name].settings)})" for name in (best, fastest)]
        rows.append([entry.name, number(ours.rate), named[0], quotients[0], named[1], quotients[1]])
    heads = ["stream", "GapBoost, rounds per second", "VW, most accurate", "quotient", "VW, fastest of the four tuned", "quotient"]
    return render(heads, rows)


def _short(name: str, settings: Mapping[str, Any]) -> str:
    return f"{name.removeprefix('VW ')}, {'quadratic' if settings['quadratic'] else 'plain'}"


def _details(table: Table, chosen: Sequence[Entry]) -> list[str]:
    """Every player on every stream."""
    bandits = [player.name for player in all_players() if not player.told]
    told = [player.name for player in all_players() if player.told]

    def grid(players: Sequence[str], cell: Callable[[Summary], str]) -> str:
        present = [name for name in players if any(name in table[entry.name] for entry in chosen)]
        rows = [[e.name, *("-" if name not in table[e.name] else cell(table[e.name][name]) for name in present)] for e in chosen]
        return render(["stream", *present], rows)

    def marked(field: str) -> Callable[[Summary], str]:
        return lambda summary: _accuracy(summary, field)

    return [
        "## All players: total accuracy by one bit\n\n" + grid(bandits, marked("accuracy")),
        "## All players: accuracy over the last fifth by one bit\n\n" + grid(bandits, marked("last_accuracy")),
        "## In full information: total accuracy\n\n" + grid(told, marked("accuracy")),
        "## Rounds per CPU second\n\n" + grid([*bandits, *told], lambda summary: number(summary.rate)),
        "## Peak memory while playing, MiB\n\n" + grid([*bandits, *told], lambda summary: number(summary.memory / _MEBIBYTE)),
        "## Seeds and rounds\n\n" + grid([*bandits, *told], lambda summary: f"{summary.n_seeds} of {summary.rounds:,}"),
        "## Settings that were chosen\n\n" + _settings(table, chosen),
    ]


def _settings(table: Table, chosen: Iterable[Entry]) -> str:
    peers = [player.name for player in all_players() if not player.ours]
    return "\n".join(
        f"- {entry.name}: " + "; ".join(f"{name} {_words(table[entry.name][name].settings)}" for name in peers if name in table[entry.name])
        for entry in chosen
        if any(name in table[entry.name] for name in peers)
    )


def _words(settings: Mapping[str, Any]) -> str:
    flags = [key if value else f"not {key}" for key, value in settings.items() if isinstance(value, bool)]
    return ", ".join([*(f"{key} `{value}`" for key, value in settings.items() if not isinstance(value, bool)), *flags])


def _not_played(table: Table, chosen: Sequence[Entry]) -> str:
    absent = {player.name: [entry.name for entry in chosen if player.name not in table[entry.name]] for player in all_players()}
    lines = [f"- {name}: {', '.join(streams)}" for name, streams in absent.items() if streams]
    return "\n".join(["## Not played\n", *lines]) if lines else ""


def _failures(records: Iterable[Record]) -> str:
    failed = [record for record in records if "failed" in record]
    lines = [f"- {r['task']['learner']} on {r['task']['source']['name']}, seed {r['task']['seed']}: {r['failed']}" for r in failed]
    return "\n".join(["## Runs that failed\n", *lines]) if lines else ""
