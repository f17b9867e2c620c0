"""Logs for the Open Bandit Pipeline and for Vowpal Wabbit; the real Vowpal Wabbit reads them."""

from __future__ import annotations

import json
import math
from urllib.parse import unquote

import narwhals as nw
import numpy as np
import pytest

from banditboost import AdaBandit, Decision, Schema
from banditboost.errors import DecisionError, FeatureError, LabelError
from banditboost.interop.logs import DecisionLog
from tests.interop.streams import colours

LABELS = ["stop", "go", "wait"]


def played(n, exploration=0.3):
    """A log of n rounds, with the rows and decisions that went into it."""
    model = AdaBandit(LABELS, n_learners=2, exploration=exploration, seed=4)
    log = DecisionLog(model.labels)
    rows, y = colours(n)
    decisions = []
    for x, right in zip(rows, y, strict=True):
        decision = model.decide(x)
        correct = decision.label == LABELS[right]
        model.learn(decision, correct)
        log.add(x, decision, correct)
        decisions.append(decision)
    return (
        log,
        rows,
        decisions,
        [decision.label == LABELS[right] for decision, right in zip(decisions, y, strict=True)],
    )


@pytest.fixture(scope="module")
def short():
    return played(40)


def test_bandit_feedback_tells_what_was_shown_and_how_likely_it_was(short):
    log, rows, decisions, correct = short
    feedback = log.to_obp()
    assert (feedback["n_rounds"], feedback["n_actions"], feedback["position"]) == (40, 3, None)
    assert [LABELS[action] for action in feedback["action"]] == [decision.label for decision in decisions]
    assert feedback["pscore"].tolist() == [decision.probability for decision in decisions]
    assert len(set(feedback["pscore"])) == 2
    assert feedback["reward"].tolist() == correct
    assert set(log.context_names) == {"colour=red", "colour=blue", "colour=green", "size"}
    for x, numbers in zip(rows, feedback["context"], strict=True):
        cells = dict(zip(log.context_names, numbers, strict=True))
        assert cells.pop("size") == x["size"]
        assert {name for name, on in cells.items() if on} == {f"colour={x['colour']}"}


def test_inverse_propensity_scoring_of_the_log_finds_the_policy_that_knows():
    """What obp computes from these columns: the value of a policy that never played, here close to its true
    value, 1.
    """
    log, rows, _, _ = played(300)
    feedback = log.to_obp()
    right = np.array([{"red": 0, "blue": 1, "green": 2}[x["colour"]] for x in rows])
    weights = (feedback["action"] == right) / feedback["pscore"]
    assert np.sum(weights * feedback["reward"]) / np.sum(weights) == 1.0
    assert 0.7 < np.mean(weights * feedback["reward"]) < 1.3


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_kind(short, backend):
    pytest.importorskip(backend)
    log, *_ = short
    frame = nw.from_native(log.to_frame(backend))
    assert frame.columns == ["context", "action", "reward", "pscore"]
    feedback = log.to_obp()
    for name in frame.columns:
        assert np.array_equal(np.array(frame[name].to_list()), feedback[name]), name


def test_missing_values_have_their_place():
    model, log = AdaBandit(LABELS, n_learners=1, seed=1), DecisionLog(LABELS)
    for x in ({"a": 1, "b": "u"}, {"a": None, "b": "v"}, {"b": None}, {"a": 2}):
        log.add(x, model.decide(x), correct=False)
    assert log.context_names == ["a", "b=u", "b=v"]
    expected = [[1, 1, 0], [math.nan, 0, 1], [math.nan, 0, 0], [2, 0, 0]]
    assert np.array_equal(log.context(), np.array(expected), equal_nan=True)
    assert [line.partition("| ")[2] for line in log.to_vw()] == ["a:1.0 b=u", "b=v", "", "a:2.0"]


def test_an_empty_log_can_be_exported():
    log = DecisionLog(LABELS)
    assert (len(log), log.to_vw(), log.to_dsjson(), log.to_obp()["context"].shape) == (0, [], [], (0, 0))


def test_array_rows_and_declared_features():
    schema = Schema(numeric=["size"], nominal={"day": [0, 1]})
    model, log = AdaBandit(LABELS, n_learners=1, schema=schema, seed=1), DecisionLog(LABELS, schema)
    x = {"size": 3, "day": 1}
    log.add(x, model.decide(x), correct=True)
    assert log.to_obp()["context"].tolist() == [[3.0, 0.0, 1.0]]
    plain, log = AdaBandit(LABELS, n_learners=1, seed=1), DecisionLog(LABELS)
    log.add(np.array([1.0, np.nan]), plain.decide(np.array([1.0, np.nan])), correct=True)
    assert log.to_vw()[0].endswith("| x0:1.0")


def test_what_is_added_later_does_not_change_what_was_added():
    model, log = AdaBandit(LABELS, n_learners=1, seed=1), DecisionLog(LABELS)
    x = {"a": 1.0}
    log.add(x, model.decide(x), correct=True)
    x["a"] = 9.0
    assert log.context().tolist() == [[1.0]]


def test_names_cannot_break_a_line():
    nasty = ["a b", "c|d", "e:f", "_g", "7", "h=i", "ü\n", "%20"]
    model, log = AdaBandit(LABELS, n_learners=1, seed=1), DecisionLog(LABELS)
    log.add(dict.fromkeys(nasty, "x y|z:"), decision := model.decide({"a": 1}), correct=True)
    line = log.to_vw()[0]
    head, _, features = line.partition(" | ")
    assert head == f"{LABELS.index(decision.label) + 1}:0:{decision.probability}"
    assert [unquote(word.split("=")[0]) for word in features.split(" ")] == nasty
    assert not any(word.partition("=")[0].isdigit() or word[0] == "_" for word in features.split(" "))


def test_graded_rewards():
    """Costs count from the largest reward."""
    model = AdaBandit(LABELS, n_learners=1, exploration=0.1, rewards=(-1, 3), seed=1)
    log, x = DecisionLog(LABELS, rewards=model.rewards), {"a": 1}
    for reward in (2.5, 3, -1):
        log.add(x, model.decide(x), reward=reward)
    log.add(x, model.decide(x), correct=True)
    assert log.to_obp()["reward"].tolist() == [2.5, 3, -1, 3]
    assert [line.split(":")[1] for line in log.to_vw()] == ["0.5", "0", "4", "0"]
    assert [json.loads(line)["o"][0]["v"] for line in log.to_dsjson()] == [2.5, 3, -1, 3]


def test_refusals_change_nothing():
    model, log = AdaBandit(LABELS, n_learners=1, seed=1), DecisionLog(LABELS[:2])
    decision = model.decide({"a": 1})
    with pytest.raises(DecisionError, match=r"correct is 0\.5"):
        log.add({"a": 1}, decision, 0.5)
    with pytest.raises(DecisionError, match="reward is 2"):
        log.add({"a": 1}, decision, reward=2)
    with pytest.raises(LabelError, match="not one of the log's labels"):
        DecisionLog(["other", "labels"]).add({"a": 1}, decision, correct=True)
    with pytest.raises(FeatureError, match="'a' is inf"):
        DecisionLog(LABELS).add({"a": math.inf}, decision, correct=True)
    assert len(log) == 0


def test_a_stored_decision_is_logged_like_any_other():
    model = AdaBandit(LABELS, n_learners=2, seed=1)
    decision = model.decide({"a": 1})
    stored = Decision.from_dict(json.loads(json.dumps(decision.to_dict())), model.labels)
    ours, theirs = DecisionLog(LABELS), DecisionLog(LABELS)
    ours.add({"a": 1}, decision, correct=True)
    theirs.add({"a": 1}, stored, correct=True)
    assert ours.to_dsjson() == theirs.to_dsjson()


@pytest.fixture(scope="module")
def vw():
    return pytest.importorskip(
        "vowpalwabbit", reason="vowpalwabbit is not installed: pip install vowpalwabbit"
    )


def test_vowpal_wabbit_reads_every_line_as_it_is_meant(vw, short):
    log, rows, decisions, correct = short
    workspace = vw.Workspace("--cb_explore 3 --quiet")
    for line, x, decision, right in zip(log.to_vw(), rows, decisions, correct, strict=True):
        example = workspace.parse(line)
        (label,) = example.get_label(vw.LabelType.CONTEXTUAL_BANDIT).costs
        assert (label.action, label.cost) == (LABELS.index(decision.label) + 1, 0.0 if right else 1.0)
        assert label.probability == pytest.approx(decision.probability)
        weights = [example.feature_weight(0, i) for i in range(example.num_features_in(0))]
        assert sorted(weights) == pytest.approx(sorted([1.0, x["size"]]))
        workspace.finish_example(example)
    workspace.finish()


def test_vowpal_wabbit_learns_from_the_log(vw):
    log, *_ = played(300)
    workspace = vw.Workspace("--cb 3 --quiet --passes 1")
    for line in log.to_vw() * 5:
        workspace.learn(line)
    answers = [workspace.predict(f"| size:4.0 colour={colour}") for colour in ("red", "blue", "green")]
    workspace.finish()
    assert answers == [1, 2, 3]


def test_vowpal_wabbit_reads_dsjson(vw, short, tmp_path):
    log, _, decisions, correct = short
    file = tmp_path / "log.dsjson"
    file.write_text("\n".join(log.to_dsjson()) + "\n")
    workspace = vw.Workspace(f"--dsjson --cb_explore_adf --quiet -d {file}")
    assert workspace.get_weighted_examples() == 40
    workspace.finish()
    workspace = vw.Workspace("--dsjson --cb_explore_adf --quiet")
    for line, decision, right in zip(log.to_dsjson(), decisions, correct, strict=True):
        shared, *actions = examples = workspace.parse(line)
        assert shared.num_namespaces() == 2  # x, and the constant
        labels = [action.get_label(vw.LabelType.CONTEXTUAL_BANDIT).costs for action in actions]
        assert [bool(costs) for costs in labels] == [label == decision.label for label in LABELS]
        (label,) = labels[LABELS.index(decision.label)]
        assert (label.cost, label.probability) == (0.0 if right else 1.0, pytest.approx(decision.probability))
        event = json.loads(line)
        assert {
            LABELS[a - 1]: p for a, p in zip(event["a"], event["p"], strict=True)
        } == decision.distribution()
        workspace.finish_example(examples)
    workspace.finish()


def test_any_text_can_be_a_name_and_only_decisions_are_logged():
    """Half of a pair of surrogates is no character, and yet a name."""
    model = AdaBandit(["a", "b"], n_learners=2, seed=1)
    log, x = DecisionLog(model.labels), {"\ud800": "\udfff"}
    log.add(x, model.decide(x), correct=True)
    assert log.to_vw()[0].endswith("| %ED%A0%80=%ED%BF%BF")
    with pytest.raises(DecisionError, match="decision is 5; give what decide returned"):
        log.add(x, 5, correct=True)
    assert len(log) == 1
