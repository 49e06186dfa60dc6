"""A collector of name servers in the lab: at each poll it knows what they know, whatever was done to them."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from namesrv_core.history.records import Record
from namesrv_core.history.replay import Replay
from namesrv_core.lab import virtual
from namesrv_core.lab.play import play, verdict
from namesrv_core.lab.reading import built_in
from namesrv_core.lab.verdict import Finding
from namesrv_core.lab.world import World
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.storage import reading
from nsadmin import AdminClient
from nsadmin.operations.collector.keeping import Keeping
from nsadmin.operations.collector.pace import Pace
from nsadmin.operations.collector.polling import Poller
from nsadmin.operations.collector.watching import Turn, Voice, Watch

INTERVAL = 15
_SILENT = Voice(lambda text: None, lambda text: None)
_TABLES = ("clusters", "groups", "topics", "kv")


class Poll(NamedTuple):
    """One look at a name server, and whether it could answer; `time` is ms."""

    server: str
    time: int
    turn: Turn
    was_up: bool


class Collecting:
    """Polls each name server of a world every 15 s of its time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.polls: list[Poll] = []
        self._ends = ExitStack()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, world: World) -> None:
        self._task = asyncio.create_task(
            self._poll(world, {name: self._watch(world, name) for name in world.sites})
        )

    def _watch(self, world: World, name: str) -> Watch:
        addr, loop = world.sites[name].place.address, asyncio.get_running_loop()
        keeping = Keeping(self.folder / name, addr)
        self._ends.callback(keeping.close)
        admin = self._ends.enter_context(AdminClient(addr, timeout=0.3, read_only=True))
        poller = Poller(admin.tables, addr, [ORDER_TOPIC_CONFIG], Pace(1_000_000), 64)
        clocks = (lambda: int(world.clock() * 1000), lambda: int(loop.time() * 1000))
        return Watch(addr, poller, keeping, _SILENT, INTERVAL * 1000, *clocks)

    async def _poll(self, world: World, watches: dict[str, Watch]) -> None:
        # Faults come at whole seconds, and heartbeats at any part of one.
        await asyncio.sleep(7.3)
        while True:
            for name, watch in watches.items():
                was_up = world.sites[name].state == "up"
                time = int(world.clock() * 1000)
                turn = await asyncio.get_running_loop().run_in_executor(None, watch.turn)
                self.polls.append(Poll(name, time, turn, was_up))
            await asyncio.sleep(INTERVAL)

    def close(self) -> None:
        self._ends.close()


class Replayed:
    """The tables that a journal gives at moments that come in order."""

    def __init__(self, folder: Path) -> None:
        self.records = list(reading.records(folder))
        self.replay = Replay()
        self._at = 0

    def at(self, time: int) -> dict[str, object]:
        while self._at < len(self.records) and self.records[self._at].time <= time:
            self.replay.feed(self.records[self._at])
            self._at += 1
        found = self.replay.contents()
        return {name: found[name] for name in _TABLES}


@pytest.mark.parametrize(
    "name", ["flapping-broker", "undone-wipe", "split-brain", "acting-master", "rolling-restart"]
)
def test_each_poll_knows_what_the_name_server_knows(name: str, tmp_path: Path) -> None:
    scenario = built_in()[name]
    collecting = Collecting(tmp_path / "collected")
    deeds = virtual.run(play(scenario, tmp_path / "played", started=collecting))
    collecting.close()
    polls = 0
    for server in scenario.servers():
        own = Replayed(tmp_path / "played" / server / "journal")
        collected = Replayed(tmp_path / "collected" / server)
        for poll in (poll for poll in collecting.polls if poll.server == server):
            assert (poll.turn.error is None) is poll.was_up
            if poll.was_up:
                assert collected.at(poll.time) == own.at(poll.time), (server, poll.time)
                polls += 1
            else:
                collected.at(poll.time)
            assert collected.replay.is_certain is poll.was_up
    assert polls > 50
    findings = verdict(scenario, tmp_path / "played", deeds).findings
    lasting = [
        (finding, Replayed(tmp_path / "collected" / finding.server).records)
        for finding in findings
        if finding.expected.types == ("BrokerUnregistered",) and stays(finding, findings, collecting.polls)
    ]
    assert bool(lasting) is (name != "undone-wipe")
    for finding, records in lasting:
        assert any(is_of(finding, record) for record in records), finding


def stays(finding: Finding, findings: list[Finding], polls: list[Poll]) -> bool:
    """Whether a broker that left is away at the next poll, and had been there at the one before."""
    if finding.after is None:
        return False
    left = finding.deed.time + finding.after * 1000
    seen = [poll.time for poll in polls if poll.server == finding.server and poll.was_up]
    before, after = (
        max((t for t in seen if t < left), default=None),
        min((t for t in seen if t > left), default=None),
    )
    if before is None or after is None or after - before > INTERVAL * 1000:
        return False
    own = (finding.server, finding.broker)
    return not any(
        other.expected.types == ("BrokerRegistered",) and (other.server, other.broker) == own
        for other in findings
        if other.after is not None and before < other.deed.time + other.after * 1000 < after
    )


def is_of(finding: Finding, record: Record) -> bool:
    """Whether a collector wrote down, within its interval, that the broker left."""
    assert finding.after is not None
    left = finding.deed.time + finding.after * 1000
    name, _, number = finding.broker.rpartition(":")
    return (
        record.type == "BrokerUnregistered"
        and (record.fields["brokerName"], record.fields["brokerId"]) == (name, int(number))
        and left <= record.time <= left + INTERVAL * 1000
    )
