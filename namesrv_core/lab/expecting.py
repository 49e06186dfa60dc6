"""What an ideal observer concludes of what is done: events on name servers, with causes and deadlines.

Heartbeats come every thirty seconds, so a silence is longer than its fault: `least` and `most` are bounds.
"""

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from namesrv_core.fleet.broker import PERIOD
from namesrv_core.lab.truth import Expected, sure
from namesrv_core.lab.world import Seat, World

MOMENT = 1.0
"""Seconds within which something is seen that is seen at once."""
RETURN = PERIOD + 6
"""Until the next heartbeat, also where one name server has to be waited for."""

_SCAN = 6.0
_TIMEOUT = 120.0
_GAP = _TIMEOUT * 3 / 4
_REGISTERS, _SILENT = ("REGISTER_BROKER",), "no heartbeat"


def split(world: World, seats: Iterable[Seat]) -> dict[tuple[str, ...], list[Seat]]:
    """Brokers by the name servers that hear them now."""
    found: dict[tuple[str, ...], list[Seat]] = {}
    for seat in seats:
        servers = tuple(name for name in world.sites if world.hears(name, seat))
        found.setdefault(servers, []).append(seat)
    return found


def deaf(world: World, servers: Sequence[str], seats: Iterable[Seat]) -> tuple[str, ...]:
    """The others that run, and that brokers have in their lists: what they make of it depends on what is the
    matter with them.
    """
    listed = {name for seat in seats for name in seat.servers}
    return tuple(
        name
        for name, site in world.sites.items()
        if name not in servers and name in listed and site.state != "down"
    )


def apart(servers: Sequence[str], certain: Container[str]) -> list[tuple[tuple[str, ...], bool]]:
    """Name servers of which something is certain, and those of which it is not, if there are any."""
    parts = [(tuple(name for name in servers if (name in certain) is one), one) for one in (True, False)]
    return [(names, is_sure) for names, is_sure in parts if names]


def _names(seats: Iterable[Seat]) -> tuple[str, ...]:
    return tuple(f"{seat.spec.broker_name}:{seat.spec.broker_id}" for seat in seats)


def gone(world: World, seats: Sequence[Seat], reason: str, cause: str) -> list[Expected]:
    """Brokers leave: whoever hears them sees it at once."""
    found = []
    for servers, group in split(world, seats).items():
        where = {"reason": reason}
        if servers:
            found.append(Expected(("BrokerUnregistered",), servers, MOMENT, where, (cause,), _names(group)))
            found += _headless(world, servers, group, MOMENT)
        others = deaf(world, servers, group)
        if others:
            found += silence(world, group, others, 0, 10 * _TIMEOUT)
    return found


def back(world: World, seats: Sequence[Seat], within: float = MOMENT) -> list[Expected]:
    """Brokers that register: with everybody who hears them."""
    found = []
    for servers, group in split(world, seats).items():
        if servers:
            found.append(Expected(("BrokerRegistered",), servers, within, {}, _REGISTERS, _names(group)))
            found += _lead(world, servers, group, within, is_sure=within == MOMENT)
        others = deaf(world, servers, group)
        if others:
            late = Expected(("BrokerRegistered",), others, 10 * _TIMEOUT, {}, _REGISTERS, _names(group))
            found.append(late._replace(sure=False))
    return found


def silence(
    world: World, seats: Sequence[Seat], servers: Sequence[str], least: float, most: float
) -> list[Expected]:
    """Nothing is heard of brokers for so many seconds from now on, then they register again.

    Each name server has not heard of each of them for some seconds already: that decides what is sure.
    """
    alike: dict[tuple[_Silence, str], list[Seat]] = {}
    for server in servers:
        for seat in seats:
            alike.setdefault((_silence(world, server, seat, least, most), server), []).append(seat)
    together: dict[tuple[_Silence, tuple[str, ...]], list[str]] = {}
    for (kind, server), found in alike.items():
        together.setdefault((kind, tuple(seat.name for seat in found)), []).append(server)
    by_name = {seat.name: seat for seat in seats}
    return [
        item
        for (kind, names), on in together.items()
        for item in _of_silence(world, [by_name[name] for name in names], tuple(on), kind, most)
    ]


class _Silence(NamedTuple):
    """What comes of it: None: nothing; else whether it is sure."""

    gap: bool | None
    resumed: bool | None
    loss: bool | None


def _silence(world: World, server: str, seat: Seat, least: float, most: float) -> _Silence:
    before = world.silence(server, seat)
    is_known = before is not None and least > 0
    # Who is not heard for another reason has been silent for as long as it takes.
    shortest, longest = (before or 0) + least, (PERIOD + 6 if before is None else before) + most
    return _Silence(
        is_known and shortest > _GAP + _SCAN if longest > _GAP else None,
        is_known and shortest > _GAP and longest <= _TIMEOUT
        if longest > _GAP and shortest <= _TIMEOUT + _SCAN
        else None,
        is_known and shortest > _TIMEOUT + _SCAN if longest > _TIMEOUT else None,
    )


def _of_silence(
    world: World, seats: Sequence[Seat], on: tuple[str, ...], kind: _Silence, most: float
) -> list[Expected]:
    names = _names(seats)
    found = []
    if kind.gap is not None:
        where = {"resumed": False}
        found.append(Expected(("HeartbeatGap",), on, _GAP + _SCAN, where, (_SILENT,), names, kind.gap))
    if kind.resumed is not None:
        where = {"resumed": True}
        found.append(Expected(("HeartbeatGap",), on, most + MOMENT, where, _REGISTERS, names, kind.resumed))
    if kind.loss is not None:
        reasons = {"reason": ["expired", "channel closed"]}
        causes = (_SILENT, "channel idle", "channel closed")
        within = _TIMEOUT + _SCAN if kind.loss else most
        found.append(Expected(("BrokerUnregistered",), on, within, reasons, causes, names, kind.loss))
        found.append(Expected(("BrokerRegistered",), on, most + MOMENT, {}, _REGISTERS, names, kind.loss))
        found += sure(_headless(world, on, seats, _TIMEOUT + _SCAN), kind.loss)
        found += sure(_lead(world, on, seats, most + MOMENT), kind.loss)
    return found


def _headless(world: World, servers: tuple[str, ...], seats: Sequence[Seat], within: float) -> list[Expected]:
    """Where a slave may act for its master, it does, and the topics can only be read."""
    found = []
    for seat in seats:
        name = seat.spec.broker_name
        if not seat.spec.acting_master:
            continue
        others = _others(world, seat, seats, servers)
        if others.are_known and not others.follow(seat):
            continue
        is_led = others.are_known and seat.spec.is_master
        led = {"brokerName": name, **({"minBrokerId": min(others.ids)} if others.are_known else {})}
        found.append(Expected(("MinBrokerIdChanged",), servers, within, led, sure=others.are_known))
        if is_led:
            where = {"brokerName": name, "reason": "unregistration", "changes.after.perm": 4}
            # What could be read only before is no change.
            wiped = {server for group, server in world.wiped if group == name}
            for on, was_open in apart(servers, set(servers) - wiped):
                found.append(Expected(("TopicsChanged",), on, within, where, sure=was_open))
    return found


def _lead(
    world: World, servers: tuple[str, ...], seats: Sequence[Seat], within: float, is_sure: bool = True
) -> list[Expected]:
    """The smallest id of a group is another one, if there was anybody else."""
    found = []
    for seat in seats:
        others = _others(world, seat, seats, servers)
        if others.are_known and is_sure and not others.follow(seat):
            continue
        where = {"brokerName": seat.spec.broker_name, "minBrokerId": seat.spec.broker_id}
        found.append(
            Expected(
                ("MinBrokerIdChanged",), servers, within, where, _REGISTERS, sure=is_sure and others.are_known
            )
        )
    return found


class _Others(NamedTuple):
    """The other ids of a group; they `are_known` unless somebody of it comes, goes or is silent as well."""

    ids: tuple[int, ...]
    are_known: bool

    def follow(self, seat: Seat) -> bool:
        """Whether there are some, all of them larger."""
        return bool(self.ids) and seat.spec.broker_id < min(self.ids)


def _others(world: World, seat: Seat, seats: Sequence[Seat], servers: Sequence[str]) -> _Others:
    group = [
        other
        for other in world.seats.values()
        if other is not seat and other.spec.broker_name == seat.spec.broker_name and other.state != "down"
    ]
    moving = [
        other for other in seats if other is not seat and other.spec.broker_name == seat.spec.broker_name
    ]
    are_known = not moving and all(world.hears(server, other) for server in servers for other in group)
    return _Others(tuple(other.spec.broker_id for other in group if other not in seats), are_known)
