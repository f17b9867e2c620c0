"""What the pages on the service say is typed: every command, every example, every file."""

from __future__ import annotations

import re
import struct
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from numba import config

from banditboost.errors import ConfigurationError
from banditboost.serve.configuration import configured
from banditboost.serve.http.bodies import DecisionBody, VerdictBody
from banditboost.serve.messages import DecisionAnswer, Outcome
from banditboost.serve.settings import Key, Limits, ModelSettings, Personalizer, ServiceSettings
from tests.docs.pages import DOCS, PAGES, ROOT, Block, blocks, name
from tests.docs.test_figures import load
from tests.docs.walking import DATABASE, PORTS, Walker
from tests.serve.postgresql import running

SERVE = sorted((DOCS / "serve").glob("*.md"))
WALKED = [page for page in SERVE if any(block.language in ("pycon", "sh") for block in blocks(page))]
WITH_SETTINGS = [page for page in PAGES if any(block.language == "toml" for block in blocks(page))]
ELSEWHERE = {"ray.md"}  # tests/serve/test_on_ray.py


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with running() as made:
        yield made.fresh()


@pytest.mark.skipif(config.DISABLE_JIT, reason="is the same in the compiled run")
@pytest.mark.parametrize("page", [page for page in WALKED if page.name not in ELSEWHERE], ids=name)
def test_everything_can_be_typed(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    needs = DATABASE in page.read_text(encoding="utf-8")
    walker = Walker(tmp_path, request.getfixturevalue("database") if needs else "")
    try:
        for block in blocks(page):
            walker.type(block)
    finally:
        walker.leave()


@pytest.mark.parametrize("page", WITH_SETTINGS, ids=name)
def test_settings_are_taken(page: Path, tmp_path: Path) -> None:
    for block in blocks(page):
        if block.language == "toml":
            file = tmp_path / "site.toml"
            file.write_text(block.text.replace('"…"', f'"{"0" * 64}"'), encoding="utf-8")
            configured(file, {}, {})


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    walker = Walker(tmp_path)
    walker.type(Block("sh", "echo one two  # a remark\n"))
    with pytest.raises(AssertionError, match="is not"):
        walker.type(Block("text", "one ... three\n"))
    walker.type(Block("sh", "echo one two\n"))
    walker.type(Block("text", "one ...\n"))
    walker.type(Block("pycon", ">>> a = 1\n"))
    walker.type(Block("pycon", ">>> a\n1\n"))
    for wrong in (Block("pycon", ">>> a\n2\n"), Block("sh", "false\ntrue\n"), Block("sh", "unknown\n")):
        with pytest.raises(AssertionError):
            walker.type(wrong)
    assert PORTS[0] not in walker._here(PORTS[0])


# Settings


def tables_of(page: str) -> list[dict[str, Any]]:
    """What the TOML on a page says."""
    found = [block.text for block in blocks(DOCS / "serve" / page) if block.language == "toml"]
    return [tomllib.loads(text) for text in found]


def test_the_page_shows_all_settings_with_their_defaults() -> None:
    told, _ = tables_of("deployment.md")
    assert told.keys() | {"keys", "models"} == set(ServiceSettings.__struct_fields__)
    assert msgspec.convert(told, ServiceSettings) == ServiceSettings()
    assert told["limits"].keys() == set(Limits.__struct_fields__)
    assert told["personalizer"].keys() == set(Personalizer.__struct_fields__)


def test_the_page_shows_all_settings_of_a_model_with_their_defaults() -> None:
    told = tables_of("deployment.md")[1]["models"]["news"]
    assert told.keys() == set(ModelSettings.__struct_fields__)
    chosen = {"labels": told["labels"], "seed": 7, "silence_reward": 0.0}
    assert msgspec.convert(told, ModelSettings) == ModelSettings(**chosen)


def test_what_is_wrong_in_settings_is_told_as_the_page_says(tmp_path: Path) -> None:
    text = (DOCS / "serve/deployment.md").read_text(encoding="utf-8")
    (tmp_path / "site.toml").write_text("port = 1\n[limits]\nbodi = 3\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as refused:
        configured(tmp_path / "site.toml", {}, {})
    assert f"error: {str(refused.value).replace(f'{tmp_path}/', '')}" in text
    assert configured(None, {"BANDITBOOST_SERVE_LIMITS_BODY": "7"}, {}).limits.body == 7


def test_the_page_tells_the_roles_and_what_keys_have() -> None:
    text = (DOCS / "serve/deployment.md").read_text(encoding="utf-8")
    kinds = get_args(get_args(get_type_hints(Key)["roles"])[0])
    assert all(f"`{role}`" in text for role in kinds)
    assert 'models = ["news"]' in text


# Tables


@pytest.mark.parametrize("page", SERVE, ids=name)
def test_tables_are_those_of_the_code(page: Path) -> None:
    made = load("service_tables")
    text = page.read_text(encoding="utf-8")
    assert made.filled(text) == text, "run `make docs`"


def test_every_table_is_on_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in SERVE)
    assert set(re.findall(r"<!-- made: (\w+) -->", text)) == set(load("service_tables").TABLES)


def test_codes_of_refusals_are_seen_in_the_sources() -> None:
    """The table would not be complete if a refusal were written in another way."""
    table = load("service_tables").codes()
    for code in ("unknown-decision", "too-many-open", "store-read-only", "store-newer", "not-followed"):
        assert f"`{code}`" in table


@pytest.mark.parametrize("kind", [DecisionBody, VerdictBody, DecisionAnswer])
def test_the_interface_tells_every_field(kind: Any) -> None:
    text = (DOCS / "serve/interface.md").read_text(encoding="utf-8")
    assert [field for field in kind.__struct_fields__ if f"`{field}`" not in text] == []


def test_the_interface_tells_every_outcome() -> None:
    text = (DOCS / "serve/interface.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \| [a-z]", text[text.index("| outcome |") :], re.MULTILINE)
    assert [one for one in get_args(Outcome) if f"\n| `{one}` |" not in text] == []


def test_the_picture_of_the_page_is_there() -> None:
    picture = (DOCS / "figures/service-page.png").read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    look = load("look")
    assert picture.startswith(b"\x89PNG")
    assert (width, height) == (look.WIDTH, look.HEIGHT)
    assert len(picture) < 300_000


# Promises


def test_every_test_that_a_page_names_is_there() -> None:
    named = 0
    for page in SERVE:
        for path, test in re.findall(
            r"`((?:tests|benchmarks)/[\w/.]+)(?:::(\w+))?`", page.read_text(encoding="utf-8")
        ):
            assert (ROOT / path).exists(), path
            assert not test or f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), test
            named += 1
    assert named > 20
