"""The runtime figures of a broker, in groups and with units. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from nsadmin.client.brokers.broker_numbers import parse_broker_number
from nsadmin.tui.views import units

FIGURE_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Messages", ("putTps", "get", "msgPut", "msgGet", "putMessage", "putLatency")),
    (
        "Requests",
        ("sendThread", "pullThread", "ackThread", "queryThread", "EndTransaction", "litePull", "pageCache"),
    ),
    ("Store", ("commitLog", "consumeQueue", "dispatch", "remain", "earliest")),
    ("Timers", ("timer", "schedule")),
    ("Process", ("boot", "runtime", "broker", "start")),
)
OTHER_GROUP = "Other"


class BrokerFigure(NamedTuple):
    """A figure: its group, its key on the wire, its value with unit, and a note on the unit.

    `group_label` is the group's name for the first figure of a group, else "".
    """

    group_name: str
    figure_key: str
    value_text: str
    unit_note: str = ""
    group_label: str = ""


def group_of_figure(key: str) -> str:
    """The group of a figure, by the start of its key."""
    for group, key_prefixes in FIGURE_GROUPS:
        if key.startswith(key_prefixes):
            return group
    return OTHER_GROUP


def list_figures(table: Mapping[str, str], now_ms: int) -> list[BrokerFigure]:
    """All figures of a table, group by group."""
    group_order = {group: group_index for group_index, (group, _) in enumerate(FIGURE_GROUPS)}
    items = table.items()
    figures = [BrokerFigure(group_of_figure(k), k, *format_with_unit(k, raw, now_ms)) for k, raw in items]
    figures.sort(key=lambda f: (group_order.get(f.group_name, len(group_order)), f.figure_key.lower()))
    previous_groups = [None, *(figure.group_name for figure in figures)]
    return [
        figure._replace(group_label=figure.group_name if figure.group_name != previous_group else "")
        for figure, previous_group in zip(figures, previous_groups, strict=False)
    ]


def format_with_unit(key: str, raw: str, now_ms: int) -> tuple[str, str]:
    """The value with its unit, and a note on the unit, both derived from the key."""
    return next(_possible_formats(key, raw.strip(), now_ms), (raw, ""))


def _possible_formats(key: str, raw: str, now_ms: int) -> Iterator[tuple[str, str]]:
    numbers = _parse_numbers(raw)
    if numbers is None:
        return
    if key.endswith("Tps") and len(numbers) == 3:
        yield "  ".join(map(units.format_rate, numbers)), "per second, over 10 s, 1 min, 10 min"
    if len(numbers) != 1:
        return
    [number] = numbers
    lower = key.lower()
    if lower.endswith("timestamp"):
        yield _format_timestamp(number, raw, now_ms)
    if lower.endswith(("mills", "timemax")) or lower.startswith("putlatency"):
        yield f"{number:g} ms", ""
    if "ratio" in lower:
        yield units.format_percent(number), "of the disk"
    if lower.endswith(("bytes", "offset", "sizetotal", "averagesize")):
        yield units.format_size(number), f"{number:,.0f} bytes"
    if lower.endswith("tps"):
        yield units.format_rate(number), "per second"
    if abs(number) >= 10_000 and number == int(number):
        yield f"{number:,.0f}", units.format_count(number)


def _format_timestamp(at_ms: float, raw: str, now_ms: int) -> tuple[str, str]:
    if at_ms <= 0:
        return units.UNKNOWN_MARK, ""
    moment = units.format_moment(int(at_ms))
    if moment == units.UNKNOWN_MARK:
        return raw, "no date"
    age = units.format_age(abs(now_ms - at_ms))
    return moment, f"{age} ago" if at_ms <= now_ms else f"in {age}"


def _parse_numbers(raw: str) -> list[float] | None:
    numbers = [parse_broker_number(number_text) for number_text in raw.split()]
    known = [number for number in numbers if number is not None]
    return known if known and len(known) == len(numbers) else None
