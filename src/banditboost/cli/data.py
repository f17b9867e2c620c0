"""`banditboost data list`: the data sets of the paper, and where they are."""

from __future__ import annotations

from dataclasses import asdict

from banditboost.cli import options, output


def list_data(
    directory: options.DataDirectory = None,
    seed: options.IdleSeed = options.FIRST_SEED,  # noqa: ARG001 (all commands take one)
    as_json: options.Json = False,
) -> None:
    """List the data sets of the paper: rows, features, classes, licence, source, and where the copy is.

    \b
    Examples:
      banditboost data list
      banditboost data list --data ~/uci --json
    """
    from banditboost import datasets

    facts = datasets.info(directory)
    if as_json:
        output.print_json(
            {"datasets": [{**asdict(fact), "path": fact.path and str(fact.path)} for fact in facts]}
        )
        return
    from banditboost.experiments.sheets import Entry, Sheet

    rows = tuple(
        (
            Entry(fact.name),
            Entry(f"{fact.rows:,}"),
            Entry(
                f"{fact.features}"
                if fact.features == fact.raw_features
                else f"{fact.features} (of {fact.raw_features})"
            ),
            Entry(f"{fact.classes}"),
            Entry(fact.copy),
            Entry(fact.licence),
            Entry(fact.source),
        )
        for fact in facts
    )
    note = (
        "Features as the paper played them. The paper's own summary (its Table 3) has columns mixed up: "
        "these numbers are right."
    )
    header = ("Data", "Rows", "Features", "Classes", "Copy", "Licence", "Source")
    output.print_sheet(Sheet("data", "Data sets of the paper", note, header, rows, ()))
