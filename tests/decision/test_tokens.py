"""Tokens: nobody makes or changes one without the key, and nothing in it is read before that is certain."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import string
import zlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banditboost import AdaBandit, Decision, GapBoost
from banditboost.decision import tokens
from banditboost.errors import BanditBoostError, DecisionError, ParameterError
from tests.boosting.states import difference
from tests.boosting.twins import DECIDERS, make_booster
from tests.decision.made import NAMES, model_and_decision

KEY, OTHER = b"a secret of sixteen bytes or more", b"another secret of the same kind"
ALPHABET = string.ascii_letters + string.digits + "-_"
_, DECISION = model_and_decision("AdaBandit")
TOKEN = DECISION.to_token(KEY)
KEPT = (
    "AQBq_Sf-VY9BCsMwDAT_0rMJklaypcf0YLs5tzS99u-Nc4hThEAMYof9S5o17DZzV9OIGr2ilay1np61NW_-sN4ZhahcvJje7fV8f7aLXRY7"
    "9aOx7EMLjt2vhIMMxlQclBksIGEajJARaqTK4mCP4y8rwc3CxLiwJ-FE9-8PBRfeii3mDhyMw35LoKwXxJ77HMoMTkz8efIHoiDEKuc"
)


def raw(token: str) -> bytes:
    return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))


def text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def refused(token: Any, key: Any = KEY, **options: Any) -> str:
    with pytest.raises(DecisionError) as refusal:
        Decision.from_token(token, key, **options)
    return str(refusal.value)


@pytest.mark.parametrize("name", NAMES)
def test_a_decision_comes_back_as_it_was(name: str) -> None:
    model, decision = model_and_decision(name)
    token = decision.to_token(KEY)
    assert re.fullmatch("[A-Za-z0-9_-]+", token)
    back = Decision.from_token(token, KEY)
    assert back == decision
    assert back.to_dict() == decision.to_dict()
    assert back._head().tobytes() == decision._head().tobytes()
    whole = Decision.from_token(token, KEY, model.labels)
    assert whole.allowed == decision.allowed
    model.learn(back, True)
    with pytest.raises(DecisionError, match="once"):
        model.learn(whole, True)


@pytest.mark.parametrize("name", DECIDERS)
def test_learning_by_token_is_learning(name: str) -> None:
    model, twin = (make_booster(name, 3, 4) for _ in range(2))
    draw = np.random.default_rng(1)
    for row in draw.normal(size=(40, 3)):
        decision = Decision.from_token(model.decide(row).to_token(KEY), KEY)
        model.learn(decision, decision.label == 1)
        twin.learn(twin.decide(row), decision.label == 1)
    assert difference(model, twin) == []


def test_every_character_counts() -> None:
    """At every place, every other character that can stand there."""
    for place, letter in enumerate(TOKEN):
        for other in ALPHABET:
            if other != letter:
                refused(TOKEN[:place] + other + TOKEN[place + 1 :])


def test_every_bit_counts() -> None:
    data = raw(TOKEN)
    for place in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        refused(text_of(bytes(flipped)))


def test_it_is_whole_and_alone() -> None:
    for end in range(len(TOKEN)):
        refused(TOKEN[:end])
        refused(TOKEN[end + 1 :])
    for more in ("=", "==", " ", "\n", "A", "AAAA", "é", "\ud800", ".", "%3D", TOKEN):
        refused(TOKEN + more)
        refused(more + TOKEN)
        refused(TOKEN[:50] + more + TOKEN[50:])


@settings(max_examples=300)
@given(
    st.one_of(
        st.text(),
        st.text(ALPHABET, min_size=40),
        st.binary(min_size=38).map(lambda data: text_of(b"\x01" + data)),
        st.none() | st.integers() | st.binary() | st.lists(st.text()),
    )
)
def test_what_was_never_signed_is_refused(token: Any) -> None:
    refused(token)


def test_nothing_is_read_before_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("read before it was verified")

    monkeypatch.setattr(zlib, "decompressobj", never)
    monkeypatch.setattr(json, "loads", never)
    assert "was not signed with this key" in refused(TOKEN, OTHER)
    assert "was not signed with this key" in refused(TOKEN[:-20] + "AAAA" + TOKEN[-16:])
    with pytest.raises(AssertionError, match="before it was verified"):
        Decision.from_token(TOKEN, KEY)


def test_signatures_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Any] = []
    monkeypatch.setattr(hmac, "compare_digest", lambda *pair: compared.append(pair) or False)
    refused(TOKEN, [OTHER, KEY])
    assert [sorted(map(len, pair)) for pair in compared] == [[32, 32], [32, 32]]


def test_the_signature_is_hmac_sha256() -> None:
    """As docs/format.md has it, computed by hand."""
    data = raw(TOKEN)
    purpose = b"banditboost decision\0"
    assert data[-32:] == hmac.new(KEY, purpose + data[:-32], hashlib.sha256).digest()
    unbound = data[:-32] + hmac.new(KEY, data[:-32], hashlib.sha256).digest()
    assert "was not signed" in refused(text_of(unbound))


def test_another_version_is_named() -> None:
    """Signed rightly, it is refused all the same: this version could not read it."""
    signed = b"\x02" + raw(TOKEN)[1:-32]
    token = text_of(signed + tokens._signature(signed, KEY))
    assert "is of version 2, and this version of banditboost reads version 1" in refused(token)


def test_keys_can_be_changed() -> None:
    old, new = DECISION.to_token(OTHER), DECISION.to_token(KEY)
    for keys in ([KEY, OTHER], (OTHER, KEY), {KEY, OTHER}, iter([KEY, OTHER])):
        assert Decision.from_token(old, keys) == DECISION
    assert Decision.from_token(new, [KEY, OTHER]) == DECISION
    assert "with this key" in refused(old, [KEY])


@pytest.mark.parametrize(
    "key", [b"", b"secret key only", "a secret of sixteen bytes or more", bytearray(32), None, 5], ids=repr
)
def test_a_key_that_is_none_is_refused_and_never_shown(key: Any) -> None:
    for call in (
        lambda: DECISION.to_token(key),
        lambda: Decision.from_token(TOKEN, key),
        lambda: Decision.from_token(TOKEN, [KEY, key]),
    ):
        with pytest.raises(ParameterError, match=r"key (is|has) .*secrets\.token_bytes\(32\)") as refusal:
            call()
        assert "secret key only" not in str(refusal.value)
        assert "sixteen" not in str(refusal.value)


def test_no_key_at_all_is_refused() -> None:
    with pytest.raises(ParameterError, match="empty list"):
        Decision.from_token(TOKEN, [])


def test_no_error_shows_a_key_or_a_token() -> None:
    for message in (refused(TOKEN, OTHER), refused(TOKEN[:-1]), refused(TOKEN[:20]), refused(5)):
        assert KEY.decode() not in message
        assert OTHER.decode() not in message
        assert TOKEN[:15] not in message
        assert "give the string that to_token returned" in message


def test_age(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    token = DECISION.to_token(KEY)
    now += 60.0
    assert Decision.from_token(token, KEY, max_age=60) == DECISION
    now += 1.0
    assert refused(token, max_age=60) == (
        "the token is 61 seconds old, and max_age is 60; drop it, or allow more"
    )
    assert "was not signed" in refused(token, OTHER, max_age=60), "age is looked at last"
    assert Decision.from_token(token, KEY) == DECISION, "without a limit it may be any age"
    now -= 1000.0
    assert Decision.from_token(token, KEY, max_age=60) == DECISION, "clocks of two machines may differ"
    now = -5.0
    assert Decision.from_token(DECISION.to_token(KEY), KEY, max_age=1) == DECISION


@pytest.mark.parametrize("age", [0, -1, float("nan"), float("inf"), "1 h", True, 10**400], ids=repr)
def test_an_impossible_age_is_refused(age: Any) -> None:
    with pytest.raises(ParameterError, match="max_age"):
        Decision.from_token(TOKEN, KEY, max_age=age)


@pytest.mark.parametrize("labels", [frozenset({"sports"}), 5, "sports", ([], [])], ids=repr)
def test_labels_that_are_none(labels: Any) -> None:
    with pytest.raises(BanditBoostError):
        Decision.from_token(TOKEN, KEY, labels)


@pytest.mark.parametrize("name", DECIDERS)
@pytest.mark.parametrize("k", [3, 1000])
def test_a_cookie_has_room_for_it(name: str, k: int) -> None:
    """Twenty learners, twenty features with all their digits: a quarter of the 4,096 bytes of a cookie."""
    draw = np.random.default_rng(2)
    model = make_booster(name, k, 20)
    for _ in range(10):
        decision = model.decide(draw.normal(size=20))
        model.learn(decision, bool(draw.random() < 0.3))
        assert 300 < len(decision.to_token(KEY)) < 1000


def test_a_token_of_version_1_is_read_for_ever() -> None:
    """Made by the version that brought tokens."""
    decision = Decision.from_token(KEPT, b"key of the kept token, 32 bytes.")
    assert (decision.model_id, decision.round) == ("e5499a9ca3b764aa", 5)
    assert (decision.label, decision.greedy, decision.probability) == ("sports", 2.5, 0.3)


def test_labels_of_any_kind_travel() -> None:
    labels = ["ü", b"\0", ("a", None), 2**70, np.float32(0.5), "\ud800"]
    model = AdaBandit(labels, n_learners=2, exploration=0.8, seed=1)
    shown = set()
    for t in range(40):
        decision = model.decide({"x": t})
        back = Decision.from_token(decision.to_token(KEY), KEY)
        assert (back.label, type(back.label)) == (decision.label, type(decision.label))
        shown.add(back.label)
    assert shown == set(labels)


def test_a_row_that_cannot_be_stored_is_refused() -> None:
    decision = GapBoost(["a", "b"], seed=1).branch().decide({frozenset("x"): 1.0})
    with pytest.raises(DecisionError, match="pickle the decision"):
        decision.to_token(KEY)


@pytest.mark.parametrize("key", [np.array(3.0), np.array(KEY)])
def test_an_array_without_dimensions_is_no_key(key: Any) -> None:
    with pytest.raises(ParameterError, match=r"^key is a ndarray; give secret bytes"):
        Decision.from_token(TOKEN, key)
