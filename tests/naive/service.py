"""What a service does with ids, verdicts and windows, in dicts alone.

It notes what its model has to do, in order: ("decide", content), ("learn", number of the decision, reward)
and ("reset",).
"""

from __future__ import annotations

from typing import Any


class NaiveService:
    """One model without a store. Times are told, and never go back."""

    def __init__(self, window: float) -> None:
        self.window, self.counting, self.silence, self.mode = window, "first", "nothing", "online"
        self.low, self.high, self.default = 0.0, 1.0, 0.5
        self.decisions: dict[str, dict[str, Any]] = {}
        self.work: list[tuple[Any, ...]] = []

    def decide(self, id_: str, content: str, deferred: bool, now: float) -> str:
        if id_ in self.decisions:
            return "repeated" if self.decisions[id_]["content"] == content else "refused"
        self.decisions[id_] = {
            "number": len(self.decisions),
            "content": content,
            "at": now,
            "ends": now + self.window,
            "waiting": deferred,
            "heard": [],
            "names": [],
            "done": "",
        }
        self.work.append(("decide", content))
        return "new"

    def judge(self, id_: str, reward: float, once: str | None, now: float) -> str:
        if id_ not in self.decisions:
            return "unknown"
        decision = self.decisions[id_]
        if decision["done"] == "by a verdict":
            return "duplicate"
        if decision["done"] == "by time" or now > decision["ends"]:
            return "late"
        if self.counting == "first" and decision["heard"]:
            return "duplicate"
        if once is not None and once in decision["names"]:
            return "duplicate"
        if decision["waiting"] or self.counting == "sum":
            decision["heard"].append(reward)
            if once is not None:
                decision["names"].append(once)
            return "held" if decision["waiting"] else "added"
        return self.learn_at_once(decision, reward)

    def learn_at_once(self, decision: dict[str, Any], reward: float) -> str:
        decision["done"] = "by a verdict"
        if self.mode == "logging":
            return "logged"
        self.work.append(("learn", decision["number"], reward))
        return "learned"

    def activate(self, id_: str, now: float) -> str:
        if id_ not in self.decisions:
            return "unknown"
        decision = self.decisions[id_]
        if decision["done"] == "by a verdict":
            return "duplicate"
        if decision["done"] == "by time" or now > decision["ends"]:
            return "late"
        if not decision["waiting"]:
            return "duplicate"
        decision["waiting"] = False
        if not decision["heard"]:
            return "activated"
        if self.counting == "sum":
            return "added"
        return self.learn_at_once(decision, sum(decision["heard"]))

    def tick(self, now: float) -> None:
        ended = [d for d in self.decisions.values() if not d["done"] and now > d["ends"]]
        for decision in sorted(ended, key=lambda d: (d["ends"], d["at"], d["number"])):
            decision["done"] = "by time"
            reward = self.earned(decision)
            if reward is not None:
                self.work.append(("learn", decision["number"], reward))

    def earned(self, decision: dict[str, Any]) -> float | None:
        if decision["waiting"] or self.mode == "logging":
            return None
        if decision["heard"]:
            return max(self.low, min(self.high, sum(decision["heard"])))
        return {"nothing": None, "wrong": self.low, "reward": self.default}[self.silence]

    def reset(self) -> None:
        for decision in self.decisions.values():
            if not decision["done"]:
                decision["done"] = "by time"
        self.work.append(("reset",))

    @property
    def n_open(self) -> int:
        return sum(not decision["done"] for decision in self.decisions.values())
