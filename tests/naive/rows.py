"""A row as numbers and names, from docs/data.md, "What a row may hold": nested dicts, dates, times, durations.

Years are counted day by day, and a circle is walked by complex numbers: another road than the package's.
"""

import cmath
import datetime

MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
MONDAY = 4  # 1970-01-01 was a Thursday: four days later it was Monday


def is_leap(year):
    return year % 400 == 0 or (year % 4 == 0 and year % 100 != 0)


def days_of(year):
    return 366 if is_leap(year) else 365


def day_of_year(year, month, day):
    """0 on the first of January."""
    before = sum(MONTHS[: month - 1]) + (1 if month > 2 and is_leap(year) else 0)
    return before + day - 1


def days_since_1970(year, month, day):
    days = day_of_year(year, month, day)
    if year >= 1970:
        for earlier in range(1970, year):
            days += days_of(earlier)
    else:
        for later in range(year, 1970):
            days -= days_of(later)
    return days


def circle(turns):
    """Sine and cosine of so many turns."""
    point = cmath.exp(2j * cmath.pi * turns)
    return point.imag, point.real


def parts_of(value):
    """The numbers that a date, a time or a datetime becomes, by the end of their names."""
    found = {}
    seconds = 0.0
    if isinstance(value, (datetime.time, datetime.datetime)):
        seconds = 60.0 * (60.0 * value.hour + value.minute) + value.second + value.microsecond * 1e-6
        found["hour.sin"], found["hour.cos"] = circle(seconds / 86400.0)
    if isinstance(value, datetime.date):
        days = days_since_1970(value.year, value.month, value.day)
        found["weekday.sin"], found["weekday.cos"] = circle(((days - MONDAY) % 7) / 7.0)
        place = day_of_year(value.year, value.month, value.day)
        found["season.sin"], found["season.cos"] = circle(place / float(days_of(value.year)))
        if isinstance(value, datetime.datetime) and value.utcoffset() is not None:
            seconds -= value.utcoffset().total_seconds()
        found["elapsed"] = days + seconds / 86400.0
    return found


def flat(row, before=""):
    """Pairs of a column and its value, with dotted names for dicts within dicts."""
    pairs = []
    for name, value in row.items():
        if isinstance(value, dict):
            pairs += flat(value, before + name + ".")
        elif isinstance(value, (datetime.date, datetime.time)):
            pairs += [(before + name + "." + part, number) for part, number in parts_of(value).items()]
        elif isinstance(value, datetime.timedelta):
            pairs.append((before + name, value.days * 86400.0 + value.seconds + value.microseconds * 1e-6))
        else:
            pairs.append((before + name, value))
    return pairs
