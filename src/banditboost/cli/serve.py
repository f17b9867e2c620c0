"""`banditboost serve`: decisions and verdicts over HTTP."""

from __future__ import annotations

import json
import os
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from banditboost.cli import options, output
from banditboost.cli.learner_choice import check_learner, parse_settings
from banditboost.cli.option_groups import takes_groups
from banditboost.cli.reward_choice import parse_range
from banditboost.compiled.announcing import HOW_LONG
from banditboost.errors import BanditBoostError

if TYPE_CHECKING:
    from banditboost.serve.service import Service

NEEDS = "the service needs {0}; install it with: pip install 'banditboost[serve]'"
Config = Annotated[
    Path | None,
    typer.Option(help="A TOML file with all settings; options given here win over it.", metavar="FILE"),
]
Store = Annotated[
    str | None,
    typer.Option(
        help="Where logs and models are kept: a folder, or postgresql://... for many processes; a folder in "
        "the user's data directory if not given.",
        metavar="PLACE",
    ),
]
Sync = Annotated[
    str | None,
    typer.Option(
        help="full: what was answered survives a power cut (the default). normal: it survives a crash of "
        "the service, and is faster.",
        metavar="HOW",
    ),
]
Host = Annotated[
    str | None,
    typer.Option(help="Address to answer at; 127.0.0.1, this machine only, if not given.", metavar="NAME"),
]
Port = Annotated[
    int | None, typer.Option(help="8730 if not given; 0 for one that is free.", metavar="N", min=0)
]
ROLES = ("decide", "learn", "read", "admin")
Roles = Annotated[
    str, typer.Option(help="What the key may do; admin may do all.", metavar="decide,learn,read,admin")
]


@dataclass(frozen=True)
class ModelChoice:
    """The model that is made if it is not there: options of `serve`."""

    labels: Annotated[
        str | None, typer.Option(help="Labels of the model, to begin at once.", metavar="A,B,...")
    ] = None
    model: Annotated[str, typer.Option(help="Name of the model.", metavar="NAME")] = "default"
    learner: Annotated[
        str | None, typer.Option(help="GapBoost (the default) or another booster.", metavar="NAME")
    ] = None
    window: Annotated[
        float | None,
        typer.Option(
            help="Seconds after a decision in which its verdict counts; 600 if not given.", metavar="SECONDS"
        ),
    ] = None
    reward_range: options.RewardRange = None
    settings: options.Settings = None
    seed: Annotated[
        int | None, typer.Option(help="Of the model; drawn if not given.", min=0, metavar="N")
    ] = None

    def given(self) -> dict[str, Any]:
        """The settings of the model, none if nothing was said about it."""
        told = {
            "labels": None if self.labels is None else list(options.names(self.labels)),
            "learner": None if self.learner is None else check_learner(self.learner),
            "window": self.window,
            "rewards": None if self.reward_range is None else list(parse_range(self.reward_range)),
            "parameters": parse_settings(self.settings) or None,
            "seed": self.seed,
        }
        return {name: value for name, value in told.items() if value is not None}


@takes_groups
def serve(
    context: typer.Context,
    choice: ModelChoice,
    config: Config = None,
    *,
    store: Store = None,
    sync: Sync = None,
    host: Host = None,
    port: Port = None,
    as_json: options.Json = False,
) -> None:
    """Decide and learn over HTTP: durable before the answer, each verdict learned once.

    Settings come from --config, from variables such as BANDITBOOST_SERVE_PORT, and from options; the later
    win. Ctrl-C or SIGTERM stops the service: it answers what it was asked before.

    \b
    Examples:
      banditboost serve --labels sports,politics,science
      banditboost serve --config site.toml --port 8080
    """
    if context.invoked_subcommand is not None:
        return
    check_installed()
    from banditboost.serve.configuration import configured
    from banditboost.serve.launch import run
    from banditboost.serve.problems import ServiceError
    from banditboost.serve.store.base import StoreError

    flags: dict[str, Any] = {"store": store, "sync": sync, "host": host, "port": port}
    flags = {name: value for name, value in flags.items() if value is not None}
    if model := choice.given():
        flags["models"] = {choice.model: model}

    async def announce(service: Service, address: str) -> None:
        await _announce(service, address, choice, as_json)

    settings = configured(config, os.environ, flags)
    output.say(f"loading kernels (compiled the first time: {HOW_LONG})")
    try:
        run(settings, announce)
    except (ServiceError, StoreError) as error:
        raise BanditBoostError(error.detail) from None


def check_installed() -> None:
    """Leave with one line that says what to install, if the service's packages are not there."""
    try:
        import httpx  # noqa: F401
        import msgspec  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ModuleNotFoundError as error:
        raise typer.Exit(output.fail(NEEDS.format(error.name), 1)) from None


async def _announce(service: Service, address: str, choice: ModelChoice, as_json: bool) -> None:
    """Where the page is, and what to type to see it move."""
    names = await service.names(limit=2)
    name = choice.model if choice.model in names or len(names) != 1 else names[0]
    facts = {"page": f"{address}/"}
    if name in names:
        info = await service.show(name)
        facts |= _calls(f"{address}/v1/models/{name}", bool(service.settings.keys))
        _warn_of_others(choice, info.settings)
    if as_json:
        output.print_json(facts)
    else:
        output.print_facts("banditboost serve", facts.items())
    sys.stdout.flush()


def _calls(at: str, has_keys: bool) -> dict[str, str]:
    """A decision and its verdict, as they can be pasted into a shell."""
    key = ' -H "Authorization: Bearer $KEY"' if has_keys else ""
    id = f"try-{secrets.token_hex(3)}"
    body = output.shell([json.dumps({"id": id, "features": {"hour": 21, "device": "phone"}})])
    right = output.shell([json.dumps({"correct": True})])
    return {
        "decide": f"curl{key} {at}/decisions -d {body}",
        "verdict": f"curl{key} {at}/decisions/{id}/verdict -d {right}",
    }


def _warn_of_others(choice: ModelChoice, settings: dict[str, Any]) -> None:
    """A model that was made before stays as it is."""
    for name, value in choice.given().items():
        there = settings.get(name)
        if json.dumps(there) != json.dumps(value):
            output.warn(
                f"model {choice.model!r} is there already and keeps its {name} ({there}); give another name "
                "with --model, or change it with PATCH"
            )


def make_key(
    roles: Roles = "decide,learn",
    name: Annotated[str, typer.Option(help="What to call the key.", metavar="TEXT")] = "",
    as_json: options.Json = False,
) -> None:
    """Make a key, shown on stderr. On stdout are the lines for the configuration, which hold its hash only.

    \b
    Examples:
      banditboost serve key --roles decide,learn >> site.toml
    """
    chosen = list(options.names(roles))
    if not chosen or not set(chosen) <= set(ROLES):
        raise typer.BadParameter(f"--roles {roles!r} has an unknown role; give some of {', '.join(ROLES)}")
    check_installed()
    from banditboost.serve.http.auth import hash_of

    key = secrets.token_urlsafe(32)
    told = {"hash": hash_of(key), "roles": chosen} | ({"name": name} if name else {})
    if as_json:
        output.print_json({"key": key, **told})
        return
    output.warn(f"key: {key}")
    output.warn("Keep it: it is shown now, and never again. These lines go into the configuration:")
    print("\n[[keys]]")
    for setting, value in told.items():
        print(f"{setting} = {json.dumps(value)}")
