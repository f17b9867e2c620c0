"""The commands put together, and how errors are told.

An error is one line on stderr. The exit code is 1, or 2 if the command line itself is wrong.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

import banditboost
from banditboost.cli import INTERRUPTED, options, output
from banditboost.cli.audit import audit
from banditboost.cli.compare import compare
from banditboost.cli.data import list_data
from banditboost.cli.data_check import check_data
from banditboost.cli.evaluate import evaluate
from banditboost.cli.model import show
from banditboost.cli.reproduce import reproduce
from banditboost.cli.run import run
from banditboost.cli.serve import make_key, serve
from banditboost.cli.tune import tune
from banditboost.cli.warm import warm
from banditboost.errors import BanditBoostError

# BadParameter < UsageError < ClickException: click's own in older versions of Typer, its copy in newer ones.
_ClickError: Any = typer.BadParameter.__mro__[2]


class Commands(TyperGroup):
    """A group that tells errors in one line and never shows a traceback for what a user can mend."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        _let_every_terminal_print()
        given = list(sys.argv[1:] if args is None else args) or ["--help"]
        try:
            code = super().main(
                given,
                prog_name,
                complete_var,
                standalone_mode=False,
                windows_expand_args=windows_expand_args,
                **extra,
            )
        except _ClickError as error:
            message = error.format_message().removeprefix("Invalid value: ").rstrip(".")
            code = output.fail(f"{message} (see {_help_of(error)})", error.exit_code)
        except BanditBoostError as error:
            code = output.fail(options.in_options(str(error)), 1)
        except OSError as error:
            code = output.fail(
                f"{error.filename or 'a file'}: {error.strerror or error}; {_remedy_for(error)}", 1
            )
        except (KeyboardInterrupt, typer.Abort):
            code = INTERRUPTED
        code = code if isinstance(code, int) else 0
        return sys.exit(code) if standalone_mode else code

    def invoke(self, ctx: Any) -> Any:
        """Answer Ctrl-C before and after a command plays.

        While it plays it answers by itself; otherwise there is nothing to keep.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            output.warn("stopped; the same command begins again")
            raise typer.Exit(INTERRUPTED) from None


def _remedy_for(error: OSError) -> str:
    return (
        "make room, or give another place"
        if error.errno == errno.ENOSPC
        else "check that it is there and may be used"
    )


def _let_every_terminal_print() -> None:
    """Let terminals print that know no ± or ρ: they show a question mark."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _help_of(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'banditboost'} --help"


def _tell_version(asked: bool) -> None:
    if asked:
        print(f"banditboost {banditboost.__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
data_app = typer.Typer(rich_markup_mode=None, help="The data sets of the paper, and files of your own.")
serve_app = typer.Typer(rich_markup_mode=None, invoke_without_command=True)
model_app = typer.Typer(rich_markup_mode=None, help="Saved models.")


@app.callback()
def banditboost_(
    version: bool = typer.Option(
        False, "--version", callback=_tell_version, is_eager=True, help="Print the version and leave."
    ),
) -> None:
    """Online multiclass boosting with bandit feedback.

    Choose one of k options, hear only right or wrong, learn. Start with: banditboost run car
    """


app.command("run")(run)
app.command("compare")(compare)
app.command("tune")(tune)
app.command("evaluate")(evaluate)
app.command("reproduce")(reproduce)
app.command("warm")(warm)
app.command("audit")(audit)
app.add_typer(serve_app, name="serve")
app.add_typer(data_app, name="data")
app.add_typer(model_app, name="model")
data_app.command("list")(list_data)
data_app.command("check")(check_data)
model_app.command("show")(show)
serve_app.callback()(serve)
serve_app.command("key")(make_key)
