"""What an ideal observer concludes of what is done: events on name servers, with causes and deadlines.

Heartbeats come every thirty seconds, so a silence is longer than its fault: `least` and `most` are bounds.
"""

from collections.abc import Iterable, Sequence

from namesrv_core.fleet.broker import PERIOD
from namesrv_core.lab.truth import Expected
from namesrv_core.lab.world import Seat, World

MOMENT = 1.0
"""Seconds within which something is seen that is seen at once."""
RETURN = PERIOD + 6
"""Until the next heartbeat, also where one name server has to be waited for."""

_SCAN = 6.0
_TIMEOUT = 120.0
_REGISTERS, _SILENT = ("REGISTER_BROKER",), "no heartbeat"


def split(world: World, seats: Iterable[Seat]) -> dict[tuple[str, ...], list[Seat]]:
    """Brokers by the name servers that hear them now."""
    found: dict[tuple[str, ...], list[Seat]] = {}
    for seat in seats:
        servers = tuple(name for name in world.sites if world.hears(name, seat))
        found.setdefault(servers, []).append(seat)
    return found


def deaf(world: World, servers: Sequence[str]) -> tuple[str, ...]:
    """The others that run: what they make of it depends on what is the matter with them."""
    return tuple(name for name, site in world.sites.items() if name not in servers and site.state != "down")


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
        others = deaf(world, servers)
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
        others = deaf(world, servers)
        if others:
            late = Expected(("BrokerRegistered",), others, 10 * _TIMEOUT, {}, _REGISTERS, _names(group))
            found.append(late._replace(sure=False))
    return found


def silence(
    world: World, seats: Sequence[Seat], servers: Sequence[str], least: float, most: float
) -> list[Expected]:
    """Nothing is heard of brokers for so many seconds, then they register again."""
    if not servers or not seats:
        return []
    on, names = tuple(servers), _names(seats)
    gap, limit = _TIMEOUT * 3 / 4, _TIMEOUT
    found = []
    if most > gap:
        open_gap = Expected(("HeartbeatGap",), on, gap + _SCAN, {"resumed": False}, (_SILENT,), names)
        found.append(open_gap._replace(sure=least > gap + _SCAN))
        is_sure = least > gap + _SCAN and most < limit
        over = Expected(("HeartbeatGap",), on, most + MOMENT, {"resumed": True}, _REGISTERS, names, is_sure)
        found += [over] if least <= limit + _SCAN else []
    if most > limit:
        is_sure = least > limit + _SCAN
        where = {"reason": ["expired", "channel closed"]}
        causes = (_SILENT, "channel idle", "channel closed")
        loss = Expected(("BrokerUnregistered",), on, limit + _SCAN, where, causes, names, is_sure)
        if not is_sure:
            loss = loss._replace(within=most)
        again = Expected(("BrokerRegistered",), on, most + MOMENT, {}, _REGISTERS, names, is_sure)
        found += [loss, again]
        found += [
            item._replace(sure=is_sure and item.sure) for item in _headless(world, on, seats, limit + _SCAN)
        ]
        found += [
            item._replace(sure=is_sure and item.sure) for item in _lead(world, on, seats, most + MOMENT)
        ]
    return found


def _headless(world: World, servers: tuple[str, ...], seats: Sequence[Seat], within: float) -> list[Expected]:
    """Where a slave may act for its master, it does, and the topics can only be read."""
    found = []
    for seat in seats:
        name = seat.spec.broker_name
        if not seat.spec.acting_master:
            continue
        rest = _rest(world, seat, seats)
        is_led = bool(rest) and seat.spec.is_master
        led = {"brokerName": name, **({"minBrokerId": min(rest)} if is_led else {})}
        found.append(Expected(("MinBrokerIdChanged",), servers, within, led, sure=is_led))
        if is_led:
            where = {"brokerName": name, "reason": "unregistration", "changes.after.perm": 4}
            found.append(Expected(("TopicsChanged",), servers, within, where))
    return found


def _lead(
    world: World, servers: tuple[str, ...], seats: Sequence[Seat], within: float, is_sure: bool = True
) -> list[Expected]:
    """The smallest id of a group is another one, if there was anybody else."""
    return [
        Expected(
            ("MinBrokerIdChanged",),
            servers,
            within,
            {"brokerName": seat.spec.broker_name, "minBrokerId": seat.spec.broker_id},
            _REGISTERS,
            sure=is_sure and seat.spec.is_master and bool(_rest(world, seat, seats)),
        )
        for seat in seats
    ]


def _rest(world: World, seat: Seat, without: Sequence[Seat]) -> list[int]:
    """The ids of the others of its group that are up."""
    return [
        other.spec.broker_id
        for other in world.seats.values()
        if other.spec.broker_name == seat.spec.broker_name and other not in without and other.state == "up"
    ]
