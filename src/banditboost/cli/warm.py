"""`banditboost warm`: compile all kernels before anybody waits for them."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from banditboost.cli import options, output
from banditboost.registry import ALL_MODELS

Models = Annotated[
    list[str] | None,
    typer.Argument(help="Boosters and baselines; all of them if none is named.", metavar="[MODEL]..."),
]
Jobs = Annotated[
    int | None,
    typer.Option(help="Processes side by side; one for each processor if not given.", min=1, metavar="N"),
]


def warm(
    models: Models = None,
    jobs: Jobs = None,
    seed: options.IdleSeed = options.FIRST_SEED,  # noqa: ARG001 (all commands take one)
    as_json: options.Json = False,
) -> None:
    """Compile the kernels of boosters and baselines for this machine and keep them on disk.

    Later processes load them in half a second. Kernels that are there already are not compiled again.

    \b
    Examples:
      banditboost warm
      banditboost warm GapBoost AdaBandit
    """
    from banditboost.compiled.store import cache_directory, shipped_code
    from banditboost.warming import warm as compile_all

    by_name = {name.lower(): name for name in ALL_MODELS}
    for name in models or []:
        if name.lower() not in by_name:
            raise typer.BadParameter(f"unknown model {name!r}: it is one of {', '.join(ALL_MODELS)}")
    chosen = [by_name[name.lower()] for name in models] if models else None
    start = time.perf_counter()

    def tell(part: str, done: int, total: int) -> None:
        output.warn(f"{done:>2} of {total}: {part}")

    compile_all(chosen, jobs=jobs, progress=None if as_json else tell)
    seconds, shipped = time.perf_counter() - start, shipped_code()
    directory = cache_directory() if shipped is None else shipped.directory
    if as_json:
        output.print_json(
            {"models": chosen or list(ALL_MODELS), "seconds": seconds, "directory": str(directory)}
        )
    elif shipped is not None:
        output.warn(f"ready in {seconds:.1f} s; the wheel brings the machine code, in {directory}")
    else:
        output.warn(f"ready in {seconds:.1f} s, kept in {directory}")
