"""A collector of name servers in the lab: at each poll it knows what they know, whatever was done to them."""

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from namesrv_core.history.records import JournalRecord
from namesrv_core.history.replay import JournalReplay
from namesrv_core.lab import virtual_time
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario_player import judge_run, play_scenario
from namesrv_core.lab.scenario_reader import load_built_in_scenarios
from namesrv_core.lab.verdict import ExpectationFinding
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.collector.journals import NameServerJournal
from nsadmin.operations.collector.name_server_poller import NameServerPoller
from nsadmin.operations.collector.name_server_watch import MessageSink, NameServerWatch, PollResult
from nsadmin.operations.collector.request_pace import RequestPace

INTERVAL = 15
_SILENT = MessageSink(lambda text: None, lambda text: None)
_TABLES = ("clusters", "groups", "topics", "kv")


class Poll(NamedTuple):
    """One look at a name server, and whether it could answer; `time` is ms."""

    server: str
    time: int
    turn: PollResult
    was_up: bool


class Collecting:
    """Polls each name server of a world every 15 s of its time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.polls: list[Poll] = []
        self._ends = ExitStack()
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, world: LabCluster) -> None:
        self._task = asyncio.create_task(
            self._poll(world, {name: self._watch(world, name) for name in world.name_servers})
        )

    def _watch(self, world: LabCluster, name: str) -> NameServerWatch:
        addr, loop = world.name_servers[name].reserved_port.socket_addr, asyncio.get_running_loop()
        keeping = NameServerJournal(self.folder / name, addr)
        self._ends.callback(keeping.close)
        admin = self._ends.enter_context(AdminClient(addr, timeout=10, read_only=True))
        poller = NameServerPoller(
            admin.name_server_tables, addr, [ORDER_TOPIC_CONFIG], RequestPace(1_000_000), 64
        )
        clocks = (lambda: int(world.clock_seconds() * 1000), lambda: int(loop.time() * 1000))
        return NameServerWatch(addr, poller, keeping, _SILENT, INTERVAL * 1000, *clocks)

    async def _poll(self, world: LabCluster, watches: dict[str, NameServerWatch]) -> None:
        # Faults come at whole seconds, and heartbeats at any part of one.
        await asyncio.sleep(7.3)
        while True:
            for name, watch in watches.items():
                was_up = world.name_servers[name].run_state == "up"
                time = int(world.clock_seconds() * 1000)
                turn = await asyncio.get_running_loop().run_in_executor(None, watch.run_turn)
                self.polls.append(Poll(name, time, turn, was_up))
            await asyncio.sleep(INTERVAL)

    def close(self) -> None:
        self._ends.close()


class Replayed:
    """The tables that a journal gives at moments that come in order."""

    def __init__(self, folder: Path) -> None:
        self.records = list(reader.read_records(folder))
        self.replay = JournalReplay()
        self._at = 0

    def at(self, time: int) -> dict[str, object]:
        while self._at < len(self.records) and self.records[self._at].time_ms <= time:
            self.replay.feed_record(self.records[self._at])
            self._at += 1
        tables = self.replay.table_contents()
        return {name: tables[name] for name in _TABLES}


@pytest.mark.parametrize(
    "name", ["flapping-broker", "undone-wipe", "split-brain", "acting-master", "rolling-restart"]
)
def test_each_poll_knows_what_the_name_server_knows(name: str, tmp_path: Path) -> None:
    scenario = load_built_in_scenarios()[name]
    collecting = Collecting(tmp_path / "collected")
    deeds = virtual_time.run_virtual(play_scenario(scenario, tmp_path / "played", on_started=collecting))
    collecting.close()
    polls = 0
    for server in scenario.server_names():
        own = Replayed(tmp_path / "played" / server / "journal")
        collected = Replayed(tmp_path / "collected" / server)
        for poll in (poll for poll in collecting.polls if poll.server == server):
            assert (poll.turn.poll_error is None) is poll.was_up
            if poll.was_up:
                assert collected.at(poll.time) == own.at(poll.time), (server, poll.time)
                polls += 1
            else:
                collected.at(poll.time)
            assert collected.replay.is_certain is poll.was_up
    assert polls > 50
    findings = judge_run(scenario, tmp_path / "played", deeds).findings
    lasting = [
        (finding, Replayed(tmp_path / "collected" / finding.server_name).records)
        for finding in findings
        if finding.expected.types == ("BrokerUnregistered",) and stays(finding, findings, collecting.polls)
    ]
    assert bool(lasting) is (name != "undone-wipe")
    for finding, records in lasting:
        assert any(is_of(finding, record) for record in records), finding


def stays(finding: ExpectationFinding, findings: list[ExpectationFinding], polls: list[Poll]) -> bool:
    """Whether a broker that left is away at the next poll, and had been there at the one before."""
    if finding.after_seconds is None:
        return False
    left = finding.deed.time_ms + finding.after_seconds * 1000
    poll_times = [poll.time for poll in polls if poll.server == finding.server_name and poll.was_up]
    before, after = (
        max((t for t in poll_times if t < left), default=None),
        min((t for t in poll_times if t > left), default=None),
    )
    if before is None or after is None or after - before > INTERVAL * 1000:
        return False
    own = (finding.server_name, finding.broker_id_text)
    return not any(
        other.expected.types == ("BrokerRegistered",) and (other.server_name, other.broker_id_text) == own
        for other in findings
        if other.after_seconds is not None
        and before < other.deed.time_ms + other.after_seconds * 1000 < after
    )


def is_of(finding: ExpectationFinding, record: JournalRecord) -> bool:
    """Whether a collector wrote down, within its interval, that the broker left."""
    assert finding.after_seconds is not None
    left = finding.deed.time_ms + finding.after_seconds * 1000
    name, _, number = finding.broker_id_text.rpartition(":")
    return (
        record.event_type == "BrokerUnregistered"
        and (record.event_fields["brokerName"], record.event_fields["brokerId"]) == (name, int(number))
        and left <= record.time_ms <= left + INTERVAL * 1000
    )
