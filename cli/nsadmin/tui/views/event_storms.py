"""The storms of events: many events of one kind within a short time, shown as one row. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from nsadmin.tui.model.change_detection import ChangeNotice

MIN_STORM_SIZE = 5
"""Fewer events of a kind stay single rows."""
_STORM_GAP_MS = 30_000
"""Events of one kind belong to one storm if the time between them is not longer than this."""
_MAX_NAMES = 3


class EventStorm(NamedTuple):
    """Events of one kind, newest first. It has the fields of a ChangeNotice, for the same columns."""

    notices: tuple[ChangeNotice, ...]

    @property
    def at_ms(self) -> int:
        return self.notices[0].at_ms

    @property
    def begin_ms(self) -> int:
        """The time of the first event (ms since 1970)."""
        return self.notices[-1].at_ms

    @property
    def event_kind(self) -> str:
        return self.notices[0].event_kind

    @property
    def is_from_journal(self) -> bool:
        return self.notices[0].is_from_journal

    @property
    def server_addr(self) -> str:
        """The server that reported all of them, or the number of servers."""
        server_addrs = {notice.server_addr for notice in self.notices}
        return server_addrs.pop() if len(server_addrs) == 1 else f"{len(server_addrs)} servers"

    @property
    def object_names(self) -> tuple[str, ...]:
        """The objects that the events concern, in the order of their first event."""
        return tuple(
            dict.fromkeys(name for notice in reversed(self.notices) for name in notice.object_names[:1])
        )

    @property
    def description(self) -> str:
        names = self.object_names
        seconds = (self.at_ms - self.begin_ms + 999) // 1000
        more_text = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        names_text = f": {', '.join(names[:_MAX_NAMES])}{more_text}" if names else ""
        return f"{len(self.notices)} events within {seconds} s{names_text}"


def collapse_storms(notices: Iterable[ChangeNotice]) -> Sequence[ChangeNotice | EventStorm]:
    """Replace storms by one row each. `notices` are newest first, and so is the result."""
    storms: list[list[ChangeNotice]] = []
    open_storms: dict[tuple[str, bool], list[ChangeNotice]] = {}
    for notice in notices:
        storm_key = (notice.event_kind, notice.is_from_journal)
        storm = open_storms.get(storm_key)
        if storm is None or storm[-1].at_ms - notice.at_ms > _STORM_GAP_MS:
            storm = open_storms[storm_key] = []
            storms.append(storm)
        storm.append(notice)
    rows: list[ChangeNotice | EventStorm] = []
    for storm in storms:
        rows += [EventStorm(tuple(storm))] if len(storm) >= MIN_STORM_SIZE else storm
    rows.sort(key=lambda row: -row.at_ms)
    return rows
