"""`banditboost audit`: decisions of a service made again from its log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.serve import check_installed
from banditboost.errors import ParameterError
from banditboost.text import counted, visible

if TYPE_CHECKING:
    from banditboost.serve.audit import Recomputed, Report
    from banditboost.serve.store.sqlite import SQLiteStore

Folder = Annotated[
    Path,
    typer.Argument(
        help="What `banditboost serve --store FOLDER` names; it may be running.", metavar="FOLDER"
    ),
]
Model = Annotated[
    str | None, typer.Option(help="Only the model of this name; all of them if not given.", metavar="NAME")
]
Decision = Annotated[str | None, typer.Option(help="Tell this decision as it is made again.", metavar="ID")]


def audit(
    folder: Folder,
    model: Model = None,
    decision: Decision = None,
    seed: options.IdleSeed = options.FIRST_SEED,  # noqa: ARG001 (all commands take one)
    as_json: options.Json = False,
) -> None:
    """Read the logs of a service from their first event: make every decision again, with its probability,
    learn again, and tell what differs from the log, its chain or its snapshots.

    Nothing is written. The exit code is 1 if anything differs.

    \b
    Examples:
      banditboost audit ~/.local/share/banditboost/serve
      banditboost audit service --model shop --decision 01a2b3c4d5e6
    """
    check_installed()
    from banditboost.serve.audit import audit as audited
    from banditboost.serve.store.base import StoreError

    try:
        store = _opened(folder)
        wrong = store.wrong_pages()
        found = [
            audited(store, stored, decision) for stored in store.models() if model in (None, stored.name)
        ]
        store.close()
    except StoreError as error:
        raise ParameterError(error.detail) from None
    if model is not None and not found:
        raise ParameterError(f"model is {model!r}, and {folder} has none of this name; leave it out for all")
    recomputed = next((told for _, told in found if told is not None), None)
    if decision is not None and recomputed is None:
        raise ParameterError(
            f"decision is {decision!r}, of which no log tells; give an id as it was answered"
        )
    _tell([report for report, _ in found], wrong, recomputed, as_json)
    if wrong or any(report.found for report, _ in found) or not getattr(recomputed, "same", True):
        raise typer.Exit(1)


def _opened(folder: Path) -> SQLiteStore:
    from banditboost.serve.store.sqlite import SQLiteStore

    return SQLiteStore(folder, read_only=True)


def _tell(reports: list[Report], wrong: list[str], recomputed: Recomputed | None, as_json: bool) -> None:
    if as_json:
        from msgspec import to_builtins

        told = [to_builtins(report) for report in reports]
        output.print_json({"models": told, "file": wrong, "decision": to_builtins(recomputed)})
        return
    for report in reports:
        output.print_facts(visible(report.model), _lines(report))
    for line in wrong:
        output.warn(f"the file: {visible(line)}")
    if recomputed is not None:
        output.print_facts("decision", _told(recomputed))


def _lines(report: Report) -> Iterator[tuple[str, str]]:
    if report.elsewhere:
        yield "written", "by another version or on another processor: decisions may come out otherwise here"
    yield "events", f"{report.events:,}"
    yield "made again", counted(report.decisions, "decision")
    yield "learned again", counted(report.learned, "reward")
    yield "compared", counted(report.snapshots, "snapshot")
    yield "differs", counted(report.found, "finding") if report.found else "nothing"
    for finding in report.findings:
        yield f"event {finding.n:,}", visible(finding.what)


def _told(recomputed: Recomputed) -> Iterator[tuple[str, str]]:
    for name, value in _there(recomputed.told):
        yield name, _text(value)
    for name, value in recomputed.recomputed.items():
        yield f"{name} now", _text(value)
    if recomputed.ranking:
        yield "ranking now", ", ".join(f"{visible(label)} {share:.6g}" for label, share in recomputed.ranking)
    for event in recomputed.history:
        yield (
            event["event"],
            ", ".join(f"{name} {_text(value)}" for name, value in _there(event) if name != "event"),
        )
    yield "the same", "yes" if recomputed.same else "no"


def _there(told: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What was given: most decisions have no options, and most verdicts no name."""
    return ((name, value) for name, value in told.items() if value is not None and value not in ("", []))


def _text(value: Any) -> str:
    return visible(str(value))
