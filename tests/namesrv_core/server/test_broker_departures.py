"""Brokers of a server leave in turns, and the channels of those that expired are closed."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from namesrv_core.events import BrokerUnregistered, Event, HeartbeatGap
from namesrv_core.server.broker_departures import BrokerDepartures
from namesrv_core.transport.fair_scheduler import FairScheduler
from tests.support.brokers import TableHarness
from tests.support.name_servers import wait_until


class Stream:
    """As much of a connection as an expiry needs."""

    def __init__(self, channel_id: int) -> None:
        self.channel_id = channel_id
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Server:
    """Tables, and what is published of their changes. Each publication takes a millisecond of its clock."""

    def __init__(self, *streams: Stream) -> None:
        self.lab = TableHarness()
        self.clock = 0.0
        self.published: list[tuple[str, str, str | None]] = []
        self.scheduler = FairScheduler(lambda: self.clock)
        self.departures = BrokerDepartures(
            self.lab.tables,
            streams,  # type: ignore[arg-type]
            self.scheduler,
            self.publish,
        )

    def publish(self, events: Sequence[Event], cause: str, client_addr: str | None) -> None:
        self.clock += 0.001
        for event in events:
            if isinstance(event, BrokerUnregistered | HeartbeatGap):
                self.published.append((event.broker_addr, cause, client_addr))

    def register_crowd(self, count: int, channel: int = 7) -> None:
        for number in range(count):
            self.lab.register_broker(f"b{number}", 0, [], channel=channel)

    async def finish(self) -> None:
        await wait_until(lambda: not len(self.scheduler))


async def test_many_brokers_of_a_channel_leave_in_turns_and_others_have_the_loop_in_between() -> None:
    server = Server()
    server.register_crowd(50)
    server.departures.end_channel(7, "channel closed", "peer:1")
    departures_seen = [50]
    while server.lab.tables.live_brokers:
        departures_seen.append(len(server.lab.tables.live_brokers))
        await asyncio.sleep(0)
    assert max(before - after for before, after in pairwise(departures_seen)) <= 4
    assert server.published == [(f"b{n}0", "channel closed", "peer:1") for n in range(50)]


async def test_channels_that_close_while_others_leave_come_next_each_with_its_own_cause() -> None:
    server = Server()
    server.register_crowd(3, channel=7)
    server.lab.register_broker("x", 0, [], channel=8)
    server.lab.register_broker("y", 0, [], channel=9)
    server.departures.end_channel(7, "channel closed", "peer:7")
    server.departures.end_channel(8, "channel idle", "peer:8")
    server.departures.end_channel(9, "channel closed", "peer:9")
    await server.finish()
    assert [entry[1:] for entry in server.published[-2:]] == [
        ("channel idle", "peer:8"),
        ("channel closed", "peer:9"),
    ]
    assert server.lab.is_empty()
    server.lab.register_broker("z", 0, channel=10)
    server.departures.end_channel(10, "channel closed", "peer:10")
    await server.finish()
    assert server.lab.is_empty()


async def test_brokers_expire_in_turns_and_the_channels_of_those_that_had_a_place_are_closed() -> None:
    streams = [Stream(number) for number in range(1, 7)]
    server = Server(*streams)
    for number in range(1, 5):
        server.lab.register_broker(f"b{number}", 0, channel=number, timeout=10)
    server.lab.register_broker("b4", 1, channel=4, timeout=10)
    server.lab.register_broker("alive", 0, channel=6, timeout=100)
    # It has taken another address, and still uses the channel.
    server.lab.register_broker("moved", 0, addr="old", channel=5, timeout=10)
    server.lab.register_broker("moved", 0, addr="new", channel=5, now=5, timeout=10)
    server.departures.expire_silent_brokers(11)
    await server.finish()
    assert [stream.closed for stream in streams] == [1, 1, 1, 1, 0, 0]
    assert server.lab.tables.live_brokers.keys() == {("c", "new"), ("c", "alive0")}
    assert [entry[1:] for entry in server.published] == [("no heartbeat", None)] * 5


async def test_brokers_that_are_silent_are_reported_in_turns_and_those_that_expire_are_not() -> None:
    server = Server()
    for number in range(30):
        server.lab.register_broker(f"b{number}", 0, [], timeout=100)
    server.lab.register_broker("late", 0, timeout=50)
    server.departures.expire_silent_brokers(80)
    reported = []
    while len(server.scheduler):
        reported.append(len(server.published))
        await asyncio.sleep(0)
    assert max(after - before for before, after in pairwise(reported)) <= 4
    assert [entry[0] for entry in server.published].count("late0") == 1
    assert len(server.published) == 31


async def test_a_server_that_stops_removes_no_more_brokers() -> None:
    server = Server()
    server.register_crowd(20)
    server.departures.end_channel(7, "channel closed", "peer:1")
    server.departures.expire_silent_brokers(100_000)
    server.departures.stop()
    await server.finish()
    assert len(server.published) <= 2
