"""What `evaluate` has found as a page: one file that asks for nothing else."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from banditboost import __version__
from banditboost.cli.judged import Judged
from banditboost.cli.running_values import running_values
from banditboost.experiments import pages
from banditboost.experiments.sheets import Entry, Sheet
from banditboost.text import html, visible

if TYPE_CHECKING:
    from banditboost.logs import Health

_MOST_ACTIONS = 50  # lines of the table
_READING = (
    (
        "Earns",
        "what each row would have earned on average, had this policy chosen; for the log, what it has.",
    ),
    (
        "Bounds",
        "they hold at all times together: look whenever you like, and stop when they say enough. They hold "
        "while whoever chose went on learning, and while visitors changed.",
    ),
    (
        "Learners",
        "each row was judged before the learner had learned it. So its beginning counts, too: a learner that "
        "goes on from here earns more than the mean.",
    ),
    (
        "As rows",
        "how many rows of the policy itself would tell as much. A log that seldom shows what the policy "
        "would show tells little of it, however long it is.",
    ),
    (
        "Do not believe it",
        "if the probabilities are not those with which was chosen, or if what came of a row depends on what "
        "was shown in others.",
    ),
)


def page(judged: Judged, command: str) -> str:
    """The whole HTML text."""
    parts = [
        _head(judged, command),
        pages.tiles(_tiles(judged)),
        pages.section(judged.sheet()),
        _pictures(judged),
        _findings(judged.health),
        pages.section(_actions(judged.health)),
        _reading(),
        _made(judged),
    ]
    return pages.document(judged.name, parts)


def _head(judged: Judged, command: str) -> str:
    return (
        f"<header><h1>What would have been earned: {html(visible(judged.name))}</h1>"
        f'<p id="verdict">{html(judged.verdict())}</p>'
        f'<pre class="command">$ {html(command)}</pre></header>'
    )


def _tiles(judged: Judged) -> list[tuple[str, str]]:
    found, health = judged.found, judged.health
    told = [
        (f"{found.rows:,}", "rows"),
        (f"{len(judged.labels):,}", "labels"),
        (f"{health.mean_reward:.4f}", "earned by the log, of each row"),
    ]
    values = {name: found.values[name].estimate(found.estimators[name]) for name in judged.learners}
    return told + [(f"{value:.4f}", f"{name} would have earned") for name, value in values.items()]


def _pictures(judged: Judged) -> str:
    note = (
        "The mean of all rows so far, with the bounds that hold at all times together; in grey those of the "
        "log itself. Rows go from left to right on a logarithmic scale."
    )
    drawn = "".join(
        pages.picture(running_values(judged.found.looks, [name]), f"The running value of {name}", name)
        for name in judged.learners
        if judged.found.looks[name]
    )
    return (
        f'<section id="values-by-rows"><h2>As it came to be known</h2><p class="note">{note}</p>'
        f'<div class="gallery">{drawn}</div></section>'
    )


def _findings(health: Health) -> str:
    items = "".join(f"<li>{html(str(finding))}</li>" for finding in health.findings)
    told = f"<ul>{items}</ul>" if items else "<p>Nothing is wrong with it, as far as it tells.</p>"
    return f'<section id="health"><h2>Is the log fit?</h2>{told}</section>'


def _actions(health: Health) -> Sheet:
    by_rows = sorted(health.actions.items(), key=lambda item: -item[1].rows)
    rows = tuple(
        (
            Entry(visible(action)),
            Entry(f"{found.rows:,}"),
            Entry(f"{found.share:.2%}"),
            Entry(f"{found.mean_reward:.4f}"),
        )
        for action, found in by_rows[:_MOST_ACTIONS]
    )
    left = len(by_rows) - _MOST_ACTIONS
    note = "How often each was shown, and what those rows have earned."
    note += f" {left:,} more were shown less often." if left > 0 else ""
    return Sheet("actions", "What was shown", note, ("Label", "Rows", "Share", "Earned"), rows, ())


def _reading() -> str:
    items = "".join(f"<li><b>{html(what)}</b>: {html(told)}</li>" for what, told in _READING)
    return f'<section id="reading"><h2>How to read this</h2><ul>{items}</ul></section>'


def _made(judged: Judged) -> str:
    told = {
        "banditboost": __version__,
        "python": platform.python_version(),
        "level of the bounds": f"{judged.found.level:.0%}",
        "estimators": ", ".join(sorted(set(judged.found.estimators.values()))),
    }
    return f'<section id="made"><h2>Made with</h2>{pages.facts(told)}</section>'
