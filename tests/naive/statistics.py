"""What the page of the service tells of a model, from its whole log: a loop for every count and every sum.

An event is (kind, at, details). `settled` tells labels and control; `decided` an id, label, arm and whether
it explored; `judged` and `closed` an id, an outcome, and, if it is learned, the reward as a share of its
range, and of the decision `at`, label, p, choices, assigned and arm.
"""


def counts(events):
    told = {}
    for kind, _, e in events:
        names = []
        if kind == "decided":
            names = ["decisions"] + ["explored"] * e["explored"]
        elif kind in ("judged", "closed"):
            names = [e["outcome"]] + ["rewards"] * ("u" in e)
        for name in names:
            told[name] = told.get(name, 0) + 1
    return told


def lateness(events, edges):
    bars = [0] * (len(edges) + 1)
    for kind, at, e in events:
        if kind == "judged" and e["outcome"] in ("learned", "added", "held"):
            bars[sum(at - e["decided"] >= edge for edge in edges)] += 1
    return bars


def lines(events):
    """Of each label: shown, rewards, their sum, the sum of 1 / p, and of u / p, of the model's own decisions."""
    told = {}
    for kind, _, e in events:
        if kind == "decided":
            told.setdefault(e["label"], [0, 0, 0.0, 0.0, 0.0])[0] += 1
        elif "u" in e:
            line = told[e["label"]]
            line[1] += 1
            line[2] += e["u"]
            if e["arm"] == "model":
                line[3] += 1 / e["p"]
                line[4] += e["u"] / e["p"]
    return told


def points(events, seconds, most):
    """Of each stretch of time: when it began, and the events in it; the last stretches, without empty ones."""
    found = {}
    for kind, at, e in events:
        found.setdefault(int(at) // seconds * seconds, []).append((kind, at, e))
    last = max(found)
    return [(start, found[start]) for start in sorted(found) if start > last - seconds * most]


def in_a_point(events):
    decisions = explored = by_baseline = rewards = 0
    earned, labels = 0.0, {}
    for kind, _, e in events:
        if kind == "decided":
            decisions += 1
            explored += e["explored"]
            by_baseline += e["arm"] != "model"
            labels[e["label"]] = labels.get(e["label"], 0) + 1
        elif "u" in e:
            rewards += 1
            earned += e["u"]
    return decisions, explored, by_baseline, rewards, earned, labels


def total_and_variance(scores, scale, cap):
    """Of scores, each divided by the scale, against the guess that is made of those before it."""
    total = variance = 0.0
    for n, score in enumerate(scores):
        guess = min((total + 0.5) / (n + 1), cap)
        variance += (score / scale - guess) ** 2
        total += score / scale
    return total, variance


def learned(events):
    return [e for kind, _, e in events if kind in ("judged", "closed") and "u" in e]


def own(events):
    return [e for e in learned(events) if e["arm"] == "model"]


def value(events):
    """Of the model's own decisions: how many rewards, and total and variance for both bounds."""
    us = [e["u"] for e in own(events)]
    return len(us), total_and_variance(us, 1, 1) + total_and_variance([1 - u for u in us], 1, 1)


def since_change(events, name):
    """The events since the labels, or the share of the control group, were set the last time."""
    start, now = 0, None
    for place, (kind, _, e) in enumerate(events):
        if kind == "settled":
            if e[name] != now:
                start = place
            now = e[name]
    return events[start:], now


def other(events, constant):
    """Chance (None), or a constant label: how many rows, the sum of their rewards, total and variance of the
    lower bound.
    """
    after, labels = since_change(events, "labels")
    low, high, earned = [], [], 0.0
    for e in own(after):
        if constant is None:
            w = 1 / (e["choices"] * e["p"])
        elif e["choices"] != len(labels):
            w = 1.0
        else:
            w = 1 / e["p"] if e["label"] == constant else 0.0
        low.append(w * e["u"] + (1 - e["u"]))
        high.append(e["u"] + (w - w * e["u"]))
        earned += e["u"]
    return len(low), earned, total_and_variance(low, 2, 1) + total_and_variance(high, 2, 1)


def control(events):
    """Rows of the experiment, and total and variance of both bounds."""
    after, share = since_change(events, "control")
    low, high, earned = [], [], 0.0
    scale = 1 + max(1 / share, 1 / (1 - share)) if 0 < share < 1 else 2
    for e in learned(after):
        by_model = e["arm"] == "model"
        if not 0 < share < 1 or e["assigned"] != (1 - share if by_model else share):
            continue
        guess = (earned + 0.5) / (len(low) + 1)
        ahead = (e["u"] - guess) / (1 - share if by_model else -share)
        low.append(1 + ahead)
        high.append(1 - ahead)
        earned += e["u"]
    cap = 2 / scale
    return len(low), total_and_variance(low, scale, cap) + total_and_variance(high, scale, cap)


def baseline(events):
    us = [e["u"] for e in learned(events) if e["arm"] != "model"]
    total = 0.0
    for u in us:
        total += u
    return len(us), total
