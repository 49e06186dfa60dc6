"""First day: the day from which on a run makes tables anew. What ended before it stays as it is. Pure."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple


class ObserverDay(NamedTuple):
    """The orders of an observer's records on a day; see `silver/observer_day`."""

    date: date
    observer: str
    first_order: int
    last_order: int


def find_first_day(
    observer_days: Sequence[ObserverDay], data_days: Iterable[date], new_days: Sequence[date]
) -> date | None:
    """Return the first day whose rows can differ after new lines of these days; None: all rows can.

    The end of an observer's records is a state of its own, which lasts until its next record. So the day of
    the last record before the new ones is the first day. At its begin, no observer may have gone back in
    time: records of earlier days are earlier records.
    """
    first_day = max((day for day in data_days if day < new_days[0]), default=None)
    if first_day is None:
        return None
    for _, days_of_observer in groupby(
        sorted(observer_days, key=attrgetter("observer")), attrgetter("observer")
    ):
        days = {each.date for each in days_of_observer}
        if not days.isdisjoint(new_days):
            first_day = min(first_day, max((day for day in days if day < new_days[0]), default=first_day))
    earlier_days = sorted({each.date for each in observer_days if each.date <= first_day}, reverse=True)
    return next((day for day in (first_day, *earlier_days) if _is_clean_cut(observer_days, day)), None)


def begin_ms(day: date) -> int:
    """Return the begin of a day in ms since 1970."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def _is_clean_cut(observer_days: Collection[ObserverDay], day: date) -> bool:
    last_orders: dict[str, int] = {}
    for each in observer_days:
        if each.date < day:
            last_orders[each.observer] = max(each.last_order, last_orders.get(each.observer, each.last_order))
    return all(
        each.first_order > last_orders.get(each.observer, each.first_order - 1)
        for each in observer_days
        if each.date >= day
    )
