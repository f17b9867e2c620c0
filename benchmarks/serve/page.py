"""The page of what the service has done, made from records alone; a part that was not measured is not told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.records import FOLDER, Record
from benchmarks.tables import number, render

NAME, PAGE_NAME = "serve", "serve.md"
HEAD = """# The service, measured

`banditboost serve` on two noisy virtual cores: the service on one, the load on the other. Whatever is said of a
time or a rate is of this machine; ratios and shapes travel further. What is promised is [elsewhere](../serve/promises.md).
"""
SPEED = """
## How fast

A decision has 20 features (15 numbers, 5 names), 5 labels, and an id of the caller's; its verdict follows. Both
are requests of their own over HTTP/1.1, on {many} connections that stay open. *Echo* is an endpoint of the same server that
parses the same bodies and sends them back. Both are measured in turn, five times; *ratio* is the middle one of
five.

{speed}

Waits are those at half of the highest rate, on 64 connections, sent by the clock: a wait counts from the moment when
the request was due. With `full` everything is on disk before the answer; with `normal` it survives a crash of the
service, not a loss of power.

{wanted}

Arrays of 100 decisions in a request: {batches} decisions a second are answered durably ({batches_cpu} us of the processor
each); 20,000 were wanted.

### Beside others

| | claims or allows | comparable | not comparable |
|---|---|---|---|
| this service | {pairs} pairs, so {requests} requests a second, on one core | | |
| BanditDB | 10,000 decisions a second, 64 at once, p50 about 0.3 ms ([its README](https://github.com/dynamicpricing-ai/banditdb)) | decisions over HTTP on loopback | four cores for server and load; 5 features and 4 arms; decisions only, no verdicts; it answers before it writes |
| Azure Personalizer | 20 MB a second, which is 2,000 events of 10 kB | an upper limit of a service | across a network, on machines of its own; it was switched off on 2026-08-25 |

Neither was run here.
"""
REPLAY = """
## Start

{ready} s from the command until `/health/ready` says yes (the middle one of five; the longest {ready_most} s), {answered} s until the first decision is answered,
whose model comes from its snapshot; 2 s were wanted. What the snapshot lacks is learned again from the log, decision by
decision, each held against what the log says: {rate} events a second by the clock ({rate_least} to {rate_most} in five turns),
{rate_cpu} by processor time; 50,000 were wanted, and {verdict}. A log of {events} events without any snapshot (one is
written every 100,000 events) is answered from after {answered_after_replay} s.
"""
MODELS = """
## {models} models

One service, {models} models that have learned {rounds} rounds each, and a ceiling of {ceiling} MiB for all that are in memory: {loaded} of
them are. {asked} requests go to models by lot; {came_back} of these had to come back from disk.

{table}

5 ms or less were wanted: {verdict}. At most {resident} MiB were resident, {grown} MiB more than before there was a model: the models that are in
memory, copies that are being written, and SQLite's caches.
"""
OVERLOAD = """
## More than it can do

A model with {labels} labels, so that one core can send more than the other one can answer: {highest} requests a second at the
most, 128 at once. Then requests come by the clock, whether or not those before were answered, on up to 1,000
connections. Those that are refused (503, `Retry-After`) are sent again later.

{table}

*Sent* is less than asked where all connections wait for an answer. Waits count from sending until the answer, of
what is accepted. Not more than `under_way` requests ([limits](../serve/limits.md)) are answered at once, so their wait does not grow with the
load. Refusing costs, too: at {times:g} times the load {share:.0f} % of the best rate are answered.
"""
SOAK = """
## Memory over time

{requests} decisions and verdicts in {minutes} minutes, of {models} models by lot, with a ceiling of {ceiling} MiB that is less than they weigh: they are put
away and come back all the time. An hour was wanted; so long it was **not** tried. Resident memory of the process, MiB: {resident_first} after the first ten
seconds, {resident_early} on average in the second tenth of the time, {resident_late} in the last tenth, {resident_most} at the most. It goes beyond the ceiling by the
program itself with its machine code (about 210), copies that are being written, and SQLite's caches. The machine was busy with other work
meanwhile: {rate} requests a second were answered, and how long they waited says nothing.
"""
STALENESS = """
## What staleness costs

Where processes share a database, each decides with a branch of what was published last, at most about half a second
ago. So at a hundred rounds a second it is about fifty rounds behind. Here {processes} processes decide in turn, each
verdict is learned at once, and all branches are refreshed every so many rounds; {rounds} rounds, the mean of {seeds}
seeds. The code is the service's own, without the database in between.

{table}

The share of right decisions over all rounds, and in the last fifth; in brackets the difference to one model alone.
"""


def write(records: Sequence[Record], folder: Path = FOLDER) -> Path:
    path = folder / PAGE_NAME
    path.write_text(page(records), encoding="utf-8")
    return path


def page(records: Sequence[Record]) -> str:
    parts = {line["part"]: line for line in records}
    told = [HEAD]
    if {"full", "normal", "batches"} <= parts.keys():
        told.append(_speed(parts))
    told += [make(parts[name]) for name, make in _SECTIONS.items() if name in parts]
    return "".join([*told, _origin(records)])


def _speed(parts: dict[str, Record]) -> str:
    rows = [_speed_row(parts[sync], f"`{sync}`") for sync in ("full", "normal")]
    head = ("sync", "pairs/s", "requests/s", "echoes/s", "ratio", "us each", "us echo", "p50", "p99", "p99.9")
    full = parts["full"]
    return SPEED.format(
        many=128,
        speed=render(head, rows),
        wanted=_wanted(parts),
        batches=f"{parts['batches']['decisions']:,}",
        batches_cpu=parts["batches"]["cpu_decision"],
        pairs=number(full["requests"] / 2),
        requests=number(full["requests"]),
    )


def _speed_row(line: Record, name: str) -> list[str]:
    half = line["half"]
    ratio = f"{line['ratio']:.2f} ({line['least']:.2f} to {line['most']:.2f})"
    rates = [number(line["requests"] / 2), number(line["requests"]), number(line["echoes"]), ratio]
    waits = [f"{half[name]:.1f} ms" for name in ("p50", "p99", "p99.9")]
    return [name, *rates, str(line["cpu_request"]), str(line["cpu_echo"]), *waits]


def _wanted(parts: dict[str, Record]) -> str:
    full, normal = parts["full"], parts["normal"]
    told = [
        _held("a ratio of 0.4, everything on disk", full["ratio"] >= 0.4),
        _held("a ratio of 0.7, which was the goal", full["ratio"] >= 0.7),
        _held("p99 below 25 ms with `full`", full["half"]["p99"] < 25.0),
        _held("p99 below 5 ms with `normal`", normal["half"]["p99"] < 5.0),
    ]
    return "Wanted were " + "; ".join(told) + "."


def _held(what: str, holds: bool) -> str:
    return f"{what}: {'reached' if holds else '**not reached**'}"


def _replay(line: Record) -> str:
    rates = {name: f"{line[name]:,}" for name in ("rate", "rate_least", "rate_most", "rate_cpu", "events")}
    reached = max(line["rate"], line["rate_cpu"]) >= line["wanted"]
    verdict = "that is reached" if reached else "that is **not reached**"
    return REPLAY.format(**{**line, **rates}, verdict=verdict)


def _models(line: Record) -> str:
    rows = [
        [what, f"{line[name]['p50']:.2f} ms", f"{line[name]['p99']:.2f} ms"]
        for what, name in (("comes back", "back"), ("is there", "there"))
        if line[name]
    ]
    names = ("models", "asked", "came_back")
    told = {name: f"{line[name]:,}" for name in names}
    told["verdict"] = "reached" if line["back"]["p50"] <= line["wanted"] else "**not reached**"
    return MODELS.format(**{**line, **told}, table=render(("a model that", "p50", "p99"), rows))


def _overload(line: Record) -> str:
    rows = [
        [
            f"{step['times']:g} times",
            *(f"{step[name]:,}" for name in ("asked", "sent", "accepted")),
            f"{100 * step['refused']:.0f} %",
            f"{step['p50']:.0f} ms",
            f"{step['p99']:.0f} ms",
            f"{step['memory']:.0f} MiB",
        ]
        for step in line["steps"]
    ]
    head = ("load", "asked/s", "sent/s", "accepted/s", "refused", "p50", "p99", "resident")
    return OVERLOAD.format(
        labels=line["labels"],
        highest=number(line["highest"]),
        table=render(head, rows),
        times=line["steps"][-1]["times"],
        share=100 * line["steps"][-1]["accepted"] / line["highest"],
    )


def _soak(line: Record) -> str:
    return SOAK.format(**{**line, "requests": f"{line['requests']:,}"})


def _staleness(line: Record) -> str:
    runs = [(*run["run"], run["accuracy"], run["last"]) for run in line["runs"]]
    steps = list(dict.fromkeys(run[2] for run in runs))
    head = ["stream", "one model", *(f"every {step:,} rounds" for step in steps if step)]
    rows = [
        [stream, *(_cell(runs, stream, step) for step in steps)]
        for stream in dict.fromkeys(run[0] for run in runs)
    ]
    rows.append(["**mean**", *(_cell(runs, None, step) for step in steps)])
    told = {"processes": line["processes"], "rounds": f"{line['rounds']:,}", "seeds": line["seeds"]}
    return STALENESS.format(**told, table=render(head, rows))


def _cell(runs: Sequence[tuple[Any, ...]], stream: str | None, step: int) -> str:
    def means(behind: int) -> tuple[float, float]:
        some = [run for run in runs if run[2] == behind and stream in (None, run[0])]
        return mean(run[3] for run in some), mean(run[4] for run in some)

    (all_rounds, last), (alone, last_alone) = means(step), means(0)
    if not step:
        return f"{all_rounds:.3f}, {last:.3f}"
    return f"{all_rounds:.3f} ({all_rounds - alone:+.3f}), {last:.3f} ({last - last_alone:+.3f})"


_SECTIONS: dict[str, Callable[[Record], str]] = {
    "replay": _replay,
    "models": _models,
    "overload": _overload,
    "soak": _soak,
    "staleness": _staleness,
}


def _origin(records: Sequence[Record]) -> str:
    lines = [f"- *{line['part']}*: `{line['command']}`, {line['date']}" for line in records]
    about = records[-1]["machine"] if records else {}
    machine = ", ".join(f"{name} {value}" for name, value in about.items())
    return "\n".join(
        [
            "\n## How it was measured\n",
            *lines,
            f"\nMachine and versions: {machine}. The record is [serve.jsonl](serve.jsonl).",
            "",
        ]
    )
