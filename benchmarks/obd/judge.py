"""Two policies of a fashion shop chose what to show: at random, or by Bernoulli Thompson sampling (bts).

Both logged 10,000 rows in each of three campaigns (Saito, Aihara, Matsutani and Narita 2020). So what is
estimated from the log of one can be compared with what the other one has earned.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from banditboost.evaluation import LoggedRows, PolicyValue, evaluate

CAMPAIGNS = ("all", "men", "women")
POLICIES = ("random", "bts")
ESTIMATORS = ("ips", "snips", "likelihood", "clipped", "doubly_robust")
Rows = list[dict[str, str]]


def folder() -> Path:
    return Path(os.environ["BANDITBOOST_DATA"]) / "obd"


def read(policy: str, campaign: str) -> Rows:
    with gzip.open(folder() / f"{policy}-{campaign}.csv.gz", "rt", encoding="utf-8") as file:
        return sorted(csv.DictReader(file), key=lambda row: row["timestamp"])


def logged(rows: Rows) -> LoggedRows:
    return LoggedRows(
        [{"position": row["position"]} for row in rows],
        [row["item_id"] for row in rows],
        [float(row["click"]) for row in rows],
        [float(row["propensity_score"]) for row in rows],
    )


def shares_of(rows: Rows) -> Callable[[Mapping[str, str]], dict[str, float]]:
    """How often a policy showed each item at each position: it does not look at the visitor."""
    shown = Counter((row["position"], row["item_id"]) for row in rows)
    total = Counter(row["position"] for row in rows)
    by_position: dict[str, dict[str, float]] = {}
    for (position, item), count in shown.items():
        by_position.setdefault(position, {})[item] = count / total[position]
    return lambda x: by_position[x["position"]]


def judge(campaign: str) -> list[dict[str, Any]]:
    """Both policies of a campaign, each from the log of the other one."""
    rows = {policy: read(policy, campaign) for policy in POLICIES}
    items = sorted({row["item_id"] for row in rows["random"]}, key=int)
    even = 1.0 / len(items)
    return [
        _line(campaign, "bts", shares_of(rows["bts"]), rows, items, even),
        _line(campaign, "random", lambda _: dict.fromkeys(items, even), rows, items, None),
    ]


def _line(
    campaign: str, policy: str, told: Any, rows: dict[str, Rows], items: list[str], least: float | None
) -> dict[str, Any]:
    own, other = rows[policy], rows["random" if policy == "bts" else "bts"]
    found = evaluate({policy: told}, logged(other), items, least=least, rows=len(other)).values[policy]
    return {
        "campaign": campaign,
        "policy": policy,
        "items": len(items),
        "rows": len(other),
        "own": _own(own),
        "mean_weight": found.mean_weight,
        "largest_weight": found.largest_weight,
        "effective": found.effective_sample_size,
        "estimates": {name: _estimate(found, name, least) for name in ESTIMATORS},
    }


def _own(rows: Rows) -> dict[str, Any]:
    """What the policy has earned itself: all weights are 1."""
    value = PolicyValue(rows=len(rows))
    ones = [1.0] * len(rows)
    value.add_many([float(row["click"]) for row in rows], ones, ones)
    return {"value": value.estimate(), "interval": value.interval("ips", "gaussian")[:2]}


def _estimate(value: PolicyValue, name: str, least: float | None) -> dict[str, Any]:
    told: dict[str, Any] = {"value": value.estimate(name), "interval": None, "holds": None, "gaussian": None}
    if name in ("ips", "clipped") or (name == "doubly_robust" and least is not None):
        told["holds"] = value.interval(name, "sequence")[:2]
    if name == "likelihood":
        told["interval"] = value.interval(name)[:2]
    elif name != "clipped":
        told["interval"] = value.interval(name, "gaussian")[:2]
    del told["gaussian"]
    return told
