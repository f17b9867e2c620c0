"""`banditboost`: the command line, one file for each command.

Where to look:

- `app.py`: the commands put together, and how errors are told;
- `run.py`, `compare.py`, `tune.py`, `reproduce.py`, `data.py`, `model.py`: the commands;
- `options.py`: arguments and options that commands share, and `option_groups.py`: several of them as one
  object;
- `data_choice.py`, `learner_choice.py`: from what was typed to a data set or file, a learner and its
  parameters;
- `stream.py`, `player.py`: a stream in blocks, and a model that plays them;
- `workspace.py`: tasks played with a progress bar, stopped and gone on with, and the directory of results;
- `targets.py`: files that will be written;
- `output.py`: tables, JSON and progress, quiet when nobody is watching.

Nothing here is imported before it is needed: `banditboost --help` loads neither Numba nor Matplotlib.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 + SIGINT, as shells have it."""


def main() -> None:
    """The entry point `banditboost`."""
    sys.unraisablehook = _interrupt_again
    try:
        _run()
    except KeyboardInterrupt:  # while modules are imported, or the command line is read
        sys.exit(INTERRUPTED)


def _interrupt_again(told: sys.UnraisableHookArgs) -> None:
    """Ctrl-C that came where Python cannot raise it (inside a callback of the compiler, say) comes again.

    A thread sends it, a moment later: here it could not be raised, either.
    """
    if issubclass(told.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(os.kill, (os.getpid(), signal.SIGINT))
    else:
        sys.__unraisablehook__(told)


def _run() -> None:
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ModuleNotFoundError as error:
        sys.exit(
            f"error: the command line needs {error.name}; install it with: pip install 'banditboost[cli]'"
        )
    from banditboost.cli.app import app

    app(prog_name="banditboost")
