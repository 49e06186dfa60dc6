"""Journals of a busy fleet with any number of events, for `tests.bench.reports`.

A cluster has 64 masters and three name servers, each with a journal. The topics of each broker change every
three minutes (two records each). Each name server writes a heartbeat record every minute and a snapshot
every hour. A broker restarts about every five days, and about twenty times a day a broker is silent for 90
to 118 s. That makes about 190,000 events a day. The lines are those of a real name server.
"""

import random
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from namesrv_core.events import (
    BrokerChanged,
    BrokerRegistered,
    BrokerUnregistered,
    Event,
    Group,
    HeartbeatGap,
    Heartbeats,
    Member,
    QueueData,
    ServerStarted,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.history.record_lines import encode_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.storage.journal import segments
from tests.support.journals import make_snapshot

BROKERS, SERVERS = 64, ("ns-1:9876", "ns-2:9876", "ns-3:9876")
BEGIN = 1_735_689_600_000
"""2025-01-01T00:00:00Z"""

DAY, HOUR, MINUTE, SECOND = 86_400_000, 3_600_000, 60_000, 1_000
CHANGES_EVERY = 3 * MINUTE
RESTARTS_A_DAY, GAPS_A_DAY = 13, 20
OPENING = 2 + BROKERS
"""Records with which each journal begins: a start, a snapshot, and everybody comes."""
_ITSELF = "name server"
_HEAD = b'{"v":1,"seq":0,"time":0'

Timed = tuple[int, bytes]
"""When, and the line behind its number and time."""


class Fault(NamedTuple):
    """From when to when (ms) a broker is away (`lost`), or only silent."""

    broker: int
    since: int
    until: int
    lost: bool


def write(folder: Path, wanted: int) -> int:
    """Journals with at least so many events in folders of `folder`; how many they have."""
    numbers = dict.fromkeys(SERVERS, 1)
    day = 0
    while sum(numbers.values()) - len(SERVERS) < wanted:
        faults = _faults(day)
        for number, server in enumerate(SERVERS):
            home = folder / f"ns-{number + 1}"
            home.mkdir(parents=True, exist_ok=True)
            numbers[server] = _segment(home, server, numbers[server], day, faults)
        day += 1
    return sum(numbers.values()) - len(SERVERS)


def _segment(home: Path, server: str, first: int, day: int, faults: list[Fault]) -> int:
    """A day of one journal; the number of the next record."""
    begun = BEGIN + day * DAY
    events = [*_quiet(server, day, faults), *_faulty(server, faults), *_changes(server, begun, faults)]
    events.sort(key=itemgetter(0))
    with (home / segments.segment_name(first, begun)).open("wb") as file:
        file.writelines(
            b'{"v":1,"seq":%d,"time":%d%b' % (number, time, rest)
            for number, (time, rest) in enumerate(events, first)
        )
    return first + len(events)


def _faults(day: int) -> list[Fault]:
    """What befalls brokers on a day; it is over before midnight, and befalls each of them once."""
    chance = random.Random(day)
    victims = chance.sample(range(BROKERS), RESTARTS_A_DAY + GAPS_A_DAY)
    begun = BEGIN + day * DAY
    fault_events = []
    for number, broker in enumerate(victims):
        since = begun + chance.randrange(HOUR, DAY - HOUR)
        lost = number < RESTARTS_A_DAY
        length = chance.randrange(60, 600) if lost else chance.randrange(91, 118)
        fault_events.append(Fault(broker, since, since + length * SECOND, lost))
    return fault_events


def _quiet(server: str, day: int, faults: list[Fault]) -> Iterator[Timed]:
    """What a name server tells of itself; on the first day, that it was started and everybody came."""
    begun = BEGIN + day * DAY
    if day == 0:
        yield begun, _rest(server, ServerStarted("5.5.0", 1), _ITSELF)
        yield begun, _rest(server, make_snapshot("start"), _ITSELF)
        for broker in range(BROKERS):
            yield begun + SECOND, _rest(server, _registered(broker), *_by(broker))
    proof = _rest(server, Heartbeats(BROKERS, 29_000, _addr(0)), _ITSELF)
    for minute in range(1, DAY // MINUTE):
        now = begun + minute * MINUTE
        yield now, proof
        if minute % 60 == 0:
            away = {fault.broker for fault in faults if fault.lost and fault.since <= now < fault.until}
            groups = tuple(_group(broker) for broker in range(BROKERS) if broker not in away)
            yield now, _rest(server, make_snapshot("interval", groups=groups), _ITSELF)


def _faulty(server: str, faults: list[Fault]) -> Iterator[Timed]:
    for broker, since, until, lost in faults:
        who = ("c", _name(broker), 0, _addr(broker))
        if lost:
            yield since, _rest(server, BrokerUnregistered(*who, "channel closed", 1), "channel closed")
            yield until, _rest(server, _registered(broker), *_by(broker))
        else:
            yield since + 90_000, _rest(server, HeartbeatGap(*who, 90_000, False), _ITSELF)
            yield until, _rest(server, HeartbeatGap(*who, until - since, True), *_by(broker))


def _changes(server: str, begun: int, faults: list[Fault]) -> Iterator[Timed]:
    away = {fault.broker: fault for fault in faults}
    for broker in range(BROKERS):
        fault = away.get(broker, Fault(broker, 0, 0, True))
        who = ("c", _name(broker), 0, _addr(broker))
        queues = [QueueData(_name(broker), number, number, 6) for number in (4, 8)]
        changed = _rest(server, BrokerChanged(*who, 157), *_by(broker))
        snapshots = [
            _rest(
                server,
                TopicsChanged(
                    _name(broker),
                    "registration",
                    group_topic_changes([TopicChange("orders-eu-17", old, new)]),
                ),
                *_by(broker),
            )
            for old, new in (queues, queues[::-1])
        ]
        for number in range(DAY // CHANGES_EVERY):
            time = begun + number * CHANGES_EVERY + (broker + 1) * 2_500
            if not fault.since <= time <= fault.until:
                yield time, changed
                yield time, snapshots[number % 2]


def _rest(server: str, event: Event, cause: str, client: str | None = None) -> bytes:
    """Its line, without the number and the time."""
    return encode_record_line(0, server, RecordOrigin(0, cause, client), event).removeprefix(_HEAD)


def _registered(broker: int) -> BrokerRegistered:
    return BrokerRegistered("c", _name(broker), 0, _addr(broker), 157)


def _group(broker: int) -> Group:
    return Group("c", _name(broker), False, None, (Member(0, _addr(broker)),))


def _by(broker: int) -> tuple[str, str]:
    return "REGISTER_BROKER", f"10.0.1.{broker}:40001"


def _name(broker: int) -> str:
    return f"broker-{broker:03d}"


def _addr(broker: int) -> str:
    return f"10.0.1.{broker}:10911"
