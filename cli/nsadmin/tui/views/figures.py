"""The runtime figures of a broker, in groups and with units. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nsadmin.tui import units

GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Messages", ("putTps", "get", "msgPut", "msgGet", "putMessage", "putLatency")),
    (
        "Requests",
        ("sendThread", "pullThread", "ackThread", "queryThread", "EndTransaction", "litePull", "pageCache"),
    ),
    ("Store", ("commitLog", "consumeQueue", "dispatch", "remain", "earliest")),
    ("Timers", ("timer", "schedule")),
    ("Process", ("boot", "runtime", "broker", "start")),
)
OTHER = "Other"


class Figure(NamedTuple):
    """A figure: its group, its key on the wire, its value with unit, and a note on the unit.

    `lead` is the group's name for the first figure of a group, else "".
    """

    group: str
    key: str
    value: str
    note: str = ""
    lead: str = ""


def group_of(key: str) -> str:
    """The group of a figure, by the start of its key."""
    for group, leads in GROUPS:
        if key.startswith(leads):
            return group
    return OTHER


def figures(table: Mapping[str, str], now: int) -> list[Figure]:
    """All figures of a table, group by group."""
    order = {group: at for at, (group, _) in enumerate(GROUPS)}
    found = [Figure(group_of(key), key, *with_unit(key, value, now)) for key, value in table.items()]
    found.sort(key=lambda figure: (order.get(figure.group, len(order)), figure.key.lower()))
    groups = [None, *(figure.group for figure in found)]
    return [
        figure._replace(lead=figure.group if figure.group != before else "")
        for figure, before in zip(found, groups, strict=False)
    ]


def with_unit(key: str, value: str, now: int) -> tuple[str, str]:
    """The value with its unit, and a note on the unit, both derived from the key."""
    return next(_readings(key, value.strip(), now), (value, ""))


def _readings(key: str, value: str, now: int) -> Iterator[tuple[str, str]]:
    numbers = _numbers(value)
    if numbers is None:
        return
    if key.endswith("Tps") and len(numbers) == 3:
        yield "  ".join(units.rate(number) for number in numbers), "per second, over 10 s, 1 min, 10 min"
    if len(numbers) != 1:
        return
    [number] = numbers
    low = key.lower()
    if low.endswith(("timestamp",)):
        yield _moment(number, now)
    if low.endswith(("mills", "timemax")) or low.startswith("putlatency"):
        yield f"{number:g} ms", ""
    if "ratio" in low:
        yield units.percent(number), "of the disk"
    if low.endswith(("bytes", "offset", "sizetotal", "averagesize")):
        yield units.size(number), f"{number:,.0f} bytes"
    if low.endswith("tps"):
        yield units.rate(number), "per second"
    if abs(number) >= 10_000 and number == int(number):
        yield f"{number:,.0f}", units.count(number)


def _moment(number: float, now: int) -> tuple[str, str]:
    if number <= 0:
        return units.NOTHING, ""
    return units.moment(int(number)), f"{units.age(now - number)} ago"


def _numbers(value: str) -> list[float] | None:
    try:
        return [float(word) for word in value.split()] or None
    except ValueError:
        return None
