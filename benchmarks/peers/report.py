"""The page of results, made from records alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from banditboost import baselines
from benchmarks import charts
from benchmarks.peers import standing
from benchmarks.peers.plan import CHAMPION, TUNING_SEED, Budget, all_players, meets
from benchmarks.peers.speeds import SPEED, speed_table, speeds
from benchmarks.peers.streams import KNOWN, ONCE, PAPER, USES, WIDE, Entry, entries
from benchmarks.peers.summary import Record, Summary, Table, summarise
from benchmarks.tables import number, render

PAGE_NAME, CHART_NAME = "peers.md", "peers.svg"
_TITLE = "# Peers side by side"
_TITLES = {
    PAPER: "The paper's streams",
    ONCE: "Single passes",
    KNOWN: "Streams with a known best policy",
    WIDE: "Words and other wide rows",
}
_MEBIBYTE = 1 << 20
_USUAL = Budget()
HOW = f"""## How it is measured

- The same rows in the same order for everybody; seeds 4 and up draw the order (and are the players'). Who plays by one bit never sees
  a label: ours and contextualbandits are told right or wrong by the harness, Vowpal Wabbit simulates the same by its own `--cbify`.
  *Told* players hear the label of every round.
- Peers are tuned for every stream, on the first {_USUAL.tuning_rounds:,} rounds of another order (seed {TUNING_SEED}), by total accuracy:
  Vowpal Wabbit over plain and quadratic features for each explorer, then, around the better one, the explorer's parameter, the
  learning rate, raw instead of standardised columns, and numbers of few values as names (31 runs in all); contextualbandits over
  five policies, then batches of 20 rows against 5 and raw instead of standardised columns, alone and together (single rows would
  suit it better still, at a few hundred rounds per second);
  River over two split confidences. Ours are not tuned: GapBoost has its defaults everywhere, the others the paper's parameters on
  the paper's streams and defaults elsewhere. One order is little to choose by: settings that are 0.01 apart may change places.
- Standardised columns are standardised with the whole stream, which looks ahead and helps the peers that use it. Nominal columns are
  one-hot for linear peers. Words are never standardised. contextualbandits gets them as a sparse matrix if there are more than a
  thousand, and then without LinUCB, which keeps a square matrix for each label.
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
    if not chosen:
        return f"{_TITLE}\n\nNothing has been played yet.\n"
    gaps = standing.gaps(table, chosen)
    parts = [_TITLE, *_beginning(table, chosen, gaps), _origin(records)]
    parts += [
        _group(group, table, chosen) for group in _TITLES if any(entry.group == group for entry in chosen)
    ]
    parts += [*_speed_section(chosen), HOW, *_details(table, chosen), _streams(chosen)]
    parts += [_not_played(table, chosen), _failures(records)]
    return "\n\n".join(part for part in parts if part) + "\n"


def write(records: Sequence[Record], path: Path) -> list[Path]:
    """The page, and beside it the chart that it begins with."""
    path.write_text(page(records), encoding="utf-8")
    numbers = chart_numbers(records)
    return [path, charts.save(standing.draw, numbers, path.with_name(CHART_NAME))] if numbers else [path]


def chart_numbers(records: Sequence[Record]) -> list[dict[str, Any]]:
    table = summarise(records)
    return standing.chart_numbers(
        standing.gaps(table, [entry for entry in entries().values() if table.get(entry.name)])
    )


def _beginning(table: Table, chosen: Sequence[Entry], gaps: Sequence[standing.Gap]) -> list[str]:
    """The chart, and what it comes to."""
    if not gaps:
        return []
    return [
        f"[![A bar for each stream: how far GapBoost is ahead of its best peer, or behind]({CHART_NAME})]({CHART_NAME})",
        "A *stream* is a table played row by row: a row comes, a label is shown, and right or wrong is all that the player hears. "
        "A bar to the right: GapBoost was right more often over the whole stream than the best of the peers that were tuned for it. "
        "A bar to the left: it was not.",
        standing.standings(gaps),
        "Against each peer alone, on streams that both have played to the end:",
        standing.one_by_one([table[entry.name] for entry in chosen]),
    ]


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


def _group(group: str, table: Table, chosen: Sequence[Entry]) -> str:
    members = [entry for entry in chosen if entry.group == group]
    heads = ["stream", "used", "rounds", "GapBoost", "best bandit peer", "its accuracy"]
    parts = [f"## {_TITLES[group]}", render(heads, [_row(entry, table[entry.name]) for entry in members])]
    known = [entry for entry in members if _knows_best(table[entry.name])]
    if known:
        parts.append(
            render(
                ["stream", "best policy", "regret", "peer's regret"],
                [_regrets(e.name, table[e.name]) for e in known],
            )
        )
    uses = [f"*{use}*: {text}." for use, text in USES.items() if any(entry.used == use for entry in members)]
    return "\n\n".join([*parts, " ".join(uses)])


def _row(entry: Entry, players: Mapping[str, Summary]) -> list[str]:
    ours = players.get(CHAMPION)
    name, best = next(iter(standing.rivals(players).items()), ("-", None))
    rounds = f"{next(iter(players.values())).runs[0]['stream_rounds']:,}"
    return [entry.name, entry.used, rounds, _accuracy(ours, "accuracy"), name, _accuracy(best, "accuracy")]


def _regrets(stream: str, players: Mapping[str, Summary]) -> list[str]:
    ours, best = players.get(CHAMPION), next(iter(standing.rivals(players).values()), None)
    somebody = ours or next(iter(players.values()))
    return [stream, somebody.text("best_accuracy"), _regret(ours), _regret(best)]


def _knows_best(players: Mapping[str, Summary]) -> bool:
    return next(iter(players.values())).runs[0].get("best_accuracy") is not None


def _accuracy(summary: Summary | None, field: str) -> str:
    return "-" if summary is None else summary.text(field) + ("" if summary.whole else "*")


def _regret(summary: Summary | None) -> str:
    return "-" if summary is None else f"{summary.mean('regret'):,.0f}" + ("" if summary.whole else "*")


def _speed_section(chosen: Iterable[Entry]) -> list[str]:
    """None where nothing was measured in turns."""
    names = {entry.name for entry in chosen}
    found = [speed for speed in speeds() if speed.stream in names]
    return ["## Speed", SPEED, speed_table(found)] if found else []


def _details(table: Table, chosen: Sequence[Entry]) -> list[str]:
    """Every player on every stream, a few players to a table."""

    def grids(title: str, groups: Sequence[Sequence[str]], cell: Callable[[Summary], str]) -> str:
        return "\n\n".join([f"## {title}", *(text for names in groups if (text := grid(names, cell)))])

    def grid(players: Sequence[str], cell: Callable[[Summary], str]) -> str:
        present = [name for name in players if any(name in table[entry.name] for entry in chosen)]
        rows = [
            [e.name, *("-" if name not in table[e.name] else cell(table[e.name][name]) for name in present)]
            for e in chosen
            if any(name in table[e.name] for name in present)
        ]
        return render(["stream", *present], rows) if present else ""

    def marked(field: str) -> Callable[[Summary], str]:
        return lambda summary: _accuracy(summary, field)

    bandits, told = _groups()
    return [
        grids("All players: total accuracy by one bit", bandits, marked("accuracy")),
        grids("All players: accuracy over the last fifth by one bit", bandits, marked("last_accuracy")),
        grids("In full information: total accuracy", told, marked("accuracy")),
        grids("Rounds per CPU second", [*bandits, *told], lambda summary: number(summary.rate)),
        grids(
            "Peak memory while playing, MiB",
            [*bandits, *told],
            lambda summary: number(summary.memory / _MEBIBYTE),
        ),
        grids(
            "Seeds and rounds", [*bandits, *told], lambda summary: f"{summary.n_seeds} of {summary.rounds:,}"
        ),
        "## Settings that were chosen\n\n" + _settings(table, chosen),
    ]


def _groups() -> tuple[list[list[str]], list[list[str]]]:
    """Names of players by one bit (boosters, peers, baselines) and of those that are told the label, at most
    five together.
    """
    bandits = [player for player in all_players() if not player.told]
    ours = [player.name for player in bandits if player.ours]
    plain = [name for name in ours if name in baselines.__all__]
    boosters = [name for name in ours if name not in plain]
    told = [player for player in all_players() if player.told]
    peers = [player.name for player in bandits if not player.ours]
    return [boosters, peers, plain[:3], plain[3:]], [
        [player.name for player in told if player.ours is ours] for ours in (True, False)
    ]


def _streams(chosen: Sequence[Entry]) -> str:
    """What each stream is."""
    lines = [f"- {entry.name}: {entry.about}" for entry in chosen if entry.about]
    return "\n".join(["## The streams\n", *lines]) if lines else ""


def _settings(table: Table, chosen: Iterable[Entry]) -> str:
    peers = [player.name for player in all_players() if not player.ours]
    return "\n".join(
        f"- {entry.name}: "
        + "; ".join(
            f"{name} {_words(table[entry.name][name].settings)}"
            for name in peers
            if name in table[entry.name]
        )
        for entry in chosen
        if any(name in table[entry.name] for name in peers)
    )


def _words(settings: Mapping[str, Any]) -> str:
    flags = [key if value else f"not {key}" for key, value in settings.items() if isinstance(value, bool)]
    return ", ".join(
        [*(f"{key} `{value}`" for key, value in settings.items() if not isinstance(value, bool)), *flags]
    )


def _not_played(table: Table, chosen: Sequence[Entry]) -> str:
    absent = {
        player.name: [
            entry.name for entry in chosen if player.name not in table[entry.name] and meets(player, entry)
        ]
        for player in all_players()
    }
    lines = [f"- {name}: {', '.join(streams)}" for name, streams in absent.items() if streams]
    return "\n".join(["## Not played\n", *lines]) if lines else ""


def _failures(records: Iterable[Record]) -> str:
    failed = [record for record in records if "failed" in record]
    lines = [
        f"- {r['task']['learner']} on {r['task']['source']['name']}, seed {r['task']['seed']}: {r['failed']}"
        for r in failed
    ]
    return "\n".join(["## Runs that failed\n", *lines]) if lines else ""
