"""Checks how long ago name servers received the last heartbeat of each broker.

Only nsadmin's name server reports heartbeat ages. Apache's lists a broker for two minutes after its last
heartbeat and reports no age, so there a listed broker that does not answer is a warning.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.clusters import Heard, Heartbeat
from nsadmin.client.results import error_text, is_unreachable
from nsadmin.operations.checks.finding import Finding, Sample, State, worst
from nsadmin.operations.checks.thresholds import Scale

_SHOWN = 10


class Seen(NamedTuple):
    """The brokers and heartbeat ages of each name server, and the unreachable brokers by address."""

    heard: Sequence[ServerResult[Heard]]
    silent: Mapping[str, str]


def look(admin: AdminClient) -> Seen:
    """Ask each name server, and every broker that at least one of them lists."""
    heard = admin.clusters.heard_each()
    addrs = sorted({addr for _, found, _ in heard if found is not None for addr in _names(found)})
    silent = {
        answer.addr: error_text(answer.error)
        for answer in admin.brokers.runtime_infos(addrs)
        if answer.error is not None and is_unreachable(answer.error)
    }
    return Seen(heard, silent)


def _names(heard: Heard) -> dict[str, str]:
    """Return a display name, such as "broker-a 0 at HOST:PORT", for each broker address."""
    return {
        addr: f"{group.broker_name} {number} at {addr}"
        for group in heard.info.groups
        for number, addr in group.broker_addrs.items()
    }


class _View(NamedTuple):
    """The brokers that one name server lists, and their heartbeat ages if it reports them."""

    addr: str
    names: Mapping[str, str]
    ages: Mapping[str, Heartbeat] | None


def judge(scale: Scale, seen: Seen) -> Finding:
    """Judge by the longest silence. Where ages are unknown, judge by which brokers answer."""
    away = [f"name server {addr}: {error_text(error)}" for addr, _, error in seen.heard if error is not None]
    views = [_view(addr, found) for addr, found, _ in seen.heard if found is not None]
    if not views:
        return scale.unknown("no name server tells which brokers it hears", away)
    names = {addr: name for view in views for addr, name in view.names.items()}
    unheard = [
        f"name server {view.addr} does not hear {names[one]}"
        for view in views
        for one in _missing(view, names)
    ]
    telling = [view for view in views if view.ages is not None]
    silent = [f"{names[one]} does not answer: {why}" for one, why in seen.silent.items()]
    least = State.WARNING if unheard or away else State.OK
    if seen.silent and len(telling) < len(views):
        least = State.WARNING
    if not names:
        least = worst([least, State.UNKNOWN])
    samples = [*_longest(scale, telling), scale.sample("unheard", len(unheard))]
    details = [*_late(telling), *unheard, *silent, *_not_telling(views), *away]
    return scale.finding(_summary(names, telling, seen.silent), samples, details, least=least)


def _view(addr: str, heard: Heard) -> _View:
    names = _names(heard)
    told = heard.heartbeats
    ages = None if told is None else {one: told[one] for one in names if one in told}
    return _View(addr, names, ages)


def _missing(view: _View, names: Mapping[str, str]) -> list[str]:
    return [one for one in names if one not in view.names]


def _oldest(view: _View) -> tuple[str, Heartbeat] | None:
    return max((view.ages or {}).items(), key=lambda item: item[1].share, default=None)


def _longest(scale: Scale, telling: Sequence[_View]) -> Iterator[Sample]:
    """Yield no sample if no name server reports ages, because that is not a fault of the cluster."""
    found = [(view.addr, oldest[1]) for view in telling if (oldest := _oldest(view))]
    if found:
        yield scale.sample("longest", round(max(age.share for _, age in found) * 100, 1))
    for addr, age in found:
        yield scale.sample("silence", age.silent_millis / 1000, addr)


def _late(telling: Sequence[_View]) -> list[str]:
    """Format the longest silence at each name server."""
    return [
        f"name server {view.addr} heard {view.names[one]} {age.silent_millis / 1000:.1f} s ago,"
        f" and lets it go after {age.timeout_millis / 1000:g} s"
        for view in telling
        for one, age in filter(None, [_oldest(view)])
    ]


def _not_telling(views: Sequence[_View]) -> list[str]:
    return [
        f"name server {view.addr} does not tell when it heard of its {len(view.names)} brokers:"
        " within the last two minutes, or they would not be listed"
        for view in views
        if view.ages is None
    ]


def _summary(names: Mapping[str, str], telling: Sequence[_View], silent: Mapping[str, str]) -> str:
    ages = [oldest for view in telling if (oldest := _oldest(view))]
    if not names:
        return "no broker is registered"
    if ages:
        one, age = max(ages, key=lambda item: item[1].share)
        return f"{len(names)} brokers, the longest silence is {age.silent_millis / 1000:.1f} s ({names[one]})"
    return f"ages of heartbeats are unknown; {len(names) - len(silent)} of {len(names)} listed brokers answer"
