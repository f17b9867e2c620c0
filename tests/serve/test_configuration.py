"""Settings from a file, the environment and flags: what wins, and what is refused with which words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banditboost.errors import ConfigurationError
from banditboost.serve.configuration import configured
from banditboost.serve.settings import Key, Limits, ModelSettings, ServiceSettings

HASH = "ab" * 32
FILE = f"""\
host = "0.0.0.0"
port = 80

[limits]
body = 1000

[[keys]]
hash = "{HASH}"
roles = ["decide", "learn"]

[[keys]]
hash = "{HASH}"
roles = ["admin"]
models = ["news"]

[models.news]
labels = [
  "a",
  "b",
]

[models."a b"]
learner = "OptionBoost"
"""


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "site.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_given_is_the_default() -> None:
    assert configured(None, {"BANDITBOOST_DATA": "elsewhere"}, {}) == ServiceSettings()


def test_a_file(tmp_path: Path) -> None:
    assert configured(_file(tmp_path, FILE), {}, {}) == ServiceSettings(
        host="0.0.0.0",
        port=80,
        limits=Limits(body=1000),
        keys=[Key(hash=HASH, roles=["decide", "learn"]), Key(hash=HASH, roles=["admin"], models=["news"])],
        models={"news": ModelSettings(labels=["a", "b"]), "a b": ModelSettings(learner="OptionBoost")},
    )


def test_the_environment_wins_over_the_file_and_flags_over_both(tmp_path: Path) -> None:
    environment = {
        "BANDITBOOST_SERVE_PORT": "81",
        "BANDITBOOST_SERVE_SYNC": "normal",
        "BANDITBOOST_SERVE_LIMITS_BATCH": "7",
        "BANDITBOOST_SERVE_MODELS": '{"news": {"window": 5}}',
    }
    told = configured(_file(tmp_path, FILE), environment, {"sync": "full", "host": "::1"})
    assert (told.host, told.port, told.sync) == ("::1", 81, "full")
    assert told.limits == Limits(body=1000, batch=7)
    assert told.models["news"] == ModelSettings(labels=["a", "b"], window=5.0)


@pytest.mark.parametrize(
    ("line", "changed", "told"),
    [
        (2, "port = 'x'", r"line 2: port: .*`int`.*; give"),
        (2, "port = 70000", r"line 2: port: .*65535"),
        (2, "prot = 80", r"line 2: prot is unknown; did you mean 'port'\?"),
        (2, "port = = 3", r"site.toml: .*line 2.*; mend"),
        (5, "body = 0", r"line 5: limits.body: .*>= 1"),
        (5, "boddy = 3", r"line 5: limits.boddy is unknown; did you mean 'body'\?"),
        (8, "hash = 'x'", r"line 8: keys.0.hash: "),
        (13, "roles = ['boss']", r"line 13: keys.1.roles.*'boss'"),
        (13, "", r"line 11: keys.1: .*`roles`"),
        (17, "labels = [1.5,", r"line 17: models.news.labels"),
        (23, "silence = 'loud'", r"line 23: models.a b.silence"),
        (23, "zzz = 'loud'", r"line 23: models.a b.zzz is unknown; leave it out"),
    ],
)
def test_refusals_name_the_line_and_the_remedy(tmp_path: Path, line: int, changed: str, told: str) -> None:
    lines = FILE.splitlines()
    lines[line - 1 : line] = [changed]
    with pytest.raises(ConfigurationError, match=told):
        configured(_file(tmp_path, "\n".join(lines)), {}, {})


@pytest.mark.parametrize(
    ("environment", "flags", "told"),
    [
        ({"BANDITBOOST_SERVE_PORT": "x"}, {}, "BANDITBOOST_SERVE_PORT: port: "),
        ({"BANDITBOOST_SERVE_LIMITS_BODY": "x"}, {}, "BANDITBOOST_SERVE_LIMITS_BODY: limits.body: "),
        ({"BANDITBOOST_SERVE_KEYS": "[{"}, {}, "BANDITBOOST_SERVE_KEYS is no JSON"),
        ({"BANDITBOOST_SERVE_HOTS": "x"}, {}, "BANDITBOOST_SERVE_HOTS: hots is unknown; did you mean 'host'"),
        ({}, {"sync": "never"}, "--sync: sync: "),
        ({}, {"models": {"default": {"window": -1}}}, "--window: models.default.window: "),
        ({}, {"host": "0.0.0.0"}, "host is '0.0.0.0'.*there is no key; make one"),
    ],
)
def test_refusals_name_the_variable_or_the_flag(
    environment: dict[str, str], flags: dict[str, Any], told: str
) -> None:
    with pytest.raises(ConfigurationError, match=told):
        configured(None, environment, flags)


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match=re.escape(str(path))):
        configured(path, {}, {})


_PLAIN = st.recursive(
    st.one_of(st.text(), st.integers(), st.booleans(), st.floats(allow_nan=False)),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*ServiceSettings.__struct_fields__, "x"]), _PLAIN, max_size=3))
def test_whatever_is_given_is_settings_or_refused(flags: dict[str, Any]) -> None:
    try:
        told = configured(None, {}, flags)
    except ConfigurationError:
        return
    assert isinstance(told, ServiceSettings)
