"""A rolling restart of a master with its slave, in virtual time."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from nsadmin.operations.drain.events import EventRecord
from nsadmin.operations.drain.events import describe_record as words_of_drain
from nsadmin.operations.drain.runner import DrainRefused
from nsadmin.operations.drain.store import DrainStore
from nsadmin.operations.restart.events import describe_record
from nsadmin.operations.restart.runner import BrokerRestartContext, RestartRules, RollingRestart
from nsadmin.operations.restart.state import BrokerProcess
from nsadmin.operations.restart.store import RestartStore
from tests.support.drain_cluster import (
    BROKER,
    MASTER,
    SLAVE,
    SYSTEM,
    DrainCluster,
    DrainKilled,
    select_events,
)

Groups = dict[str, dict[int, str]]
GROUP: Groups = {BROKER: {0: MASTER, 1: SLAVE}}


class Case:
    """`commands` are what the operator's commands do, by step and address."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.cluster = DrainCluster()
        self.ran: list[tuple[str, str]] = []
        self.exit_code = 0
        self.does_nothing = False

    def run(self, step: str, process: BrokerProcess) -> int:
        self.ran.append((step, process.addr))
        self.cluster.calls += 1
        if self.cluster.calls == self.cluster.kill_at:
            raise DrainKilled
        if not self.does_nothing:
            self.act(step, process)
        return self.exit_code

    def act(self, step: str, process: BrokerProcess) -> None:
        cluster = self.cluster
        if not process.is_master:
            cluster.slave_runs, cluster.slave_boot = step == "start", cluster.now
        elif step == "stop":
            assert not cluster.is_written, "somebody writes to it"
            cluster.stop_broker()
        else:
            cluster.restart_broker()

    def broker(self, name: str) -> BrokerRestartContext:
        keeping = DrainStore(self.home / "drains" / name, name)
        return BrokerRestartContext(self.cluster, keeping, self.cluster.make_plan(), SYSTEM, frozenset())

    def restart(self, groups: Groups = GROUP, pause_after: int | None = None) -> list[EventRecord]:
        brokers = {name: self.broker(name) for name in groups}
        rules, progress = RestartRules(60_000, pause_after), RestartStore(self.home, "C")
        restart = RollingRestart("C", rules, brokers.__getitem__, self.run, progress, self.cluster.clock)
        return list(restart.run_restart(groups))


@pytest.fixture
def case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def steps(told: Iterable[EventRecord]) -> list[tuple[str, str]]:
    return [(item["addr"], item["step"]) for item in select_events(told, "stepBegan")]


WHOLE = [
    (SLAVE, "stop"), (SLAVE, "start"), (SLAVE, "wait"),
    (MASTER, "drain"), (MASTER, "stop"), (MASTER, "start"), (MASTER, "wait"), (MASTER, "undrain"),
]  # fmt: skip
RAN = [("stop", SLAVE), ("start", SLAVE), ("stop", MASTER), ("start", MASTER)]


def test_a_slave_and_then_its_master(case: Case) -> None:
    before = case.cluster.topics_by_server()
    records = case.restart()
    assert (steps(records), case.ran) == (WHOLE, RAN)
    assert case.cluster.topics_by_server() == before
    assert records[-1] == {**records[-1], "event": "finished", "cluster": "C", "processes": 2}
    assert RestartStore(case.home, "C").load_state() is None
    assert [event for event in (item["event"] for item in records) if event in ("safe", "undone")] == [
        "safe",
        "undone",
    ]


def test_everything_has_words(case: Case) -> None:
    record_texts = [describe_record(item) or words_of_drain(item) for item in case.restart()]
    assert record_texts[0] == "restarting C: broker-a"
    assert "broker-a (slave 1) at 127.0.0.1:10921: stop" in record_texts
    assert record_texts[-1] == "C: 2 brokers restarted"


def test_a_command_that_does_nothing_is_noticed(case: Case) -> None:
    case.does_nothing = True
    with pytest.raises(DrainRefused, match=r"broker-a \(slave 1\) is not healthy: waiting for it to restart"):
        case.restart()
    assert case.ran == RAN[:2]


def test_events_are_written_and_a_new_restart_forgets_those_of_the_last(case: Case) -> None:
    records = case.restart()
    events_file = RestartStore(case.home, "C").events_file
    assert [json.loads(line) for line in events_file.read_text().splitlines()] == records
    case.exit_code = 3
    with pytest.raises(DrainRefused):
        case.restart()
    first, *_, last = [json.loads(line) for line in events_file.read_text().splitlines()]
    assert (first["event"], first["resumed"]) == ("began", False)
    assert describe_record(last) == "stopped: the command of --stop for broker-a (slave 1) exited with 3"


def test_a_command_that_fails_ends_it_and_it_goes_on_there(case: Case) -> None:
    case.exit_code = 3
    with pytest.raises(DrainRefused, match=r"the command of --stop for broker-a \(slave 1\) exited with 3"):
        case.restart()
    case.exit_code = 0
    records = case.restart()
    assert (steps(records), records[0]["resumed"]) == (WHOLE, True)


def test_a_slave_that_does_not_catch_up_keeps_its_master_from_being_stopped(case: Case) -> None:
    case.cluster.script = {1: lambda: setattr(case.cluster, "slave_is_behind", True)}
    case.cluster.pass_time(1)
    with pytest.raises(
        DrainRefused, match=r"so no broker was stopped: waiting for the slave 127.0.0.1:10921 to be in sync"
    ):
        case.restart()
    assert case.ran == []


def test_a_slave_that_is_behind_for_a_moment_keeps_nothing_from_going_on(case: Case) -> None:
    case.cluster.slave_is_behind = True
    case.cluster.script = {1: lambda: setattr(case.cluster, "slave_is_behind", False)}
    assert case.restart()[-1]["event"] == "finished"
    assert case.ran == RAN


def test_a_name_server_that_does_not_answer_keeps_it_from_going_on(case: Case) -> None:
    case.cluster.kill_server(1)
    with pytest.raises(DrainRefused, match=r"127.0.0.1:9877 to answer"):
        case.restart()
    assert case.ran == []


def test_a_broker_is_not_stopped_when_the_others_have_gone_meanwhile(case: Case) -> None:
    before = case.cluster.topics_by_server()
    case.cluster.script = {20: lambda: setattr(case.cluster, "others", 0)}
    with pytest.raises(
        DrainRefused,
        match=r"drained, but not stopped: \d topics? .*without a writable queue.* `nsadmin undrain broker-a`",
    ):
        case.restart()
    assert case.ran == RAN[:2]
    case.cluster.others = 8
    assert case.restart()[-1]["event"] == "finished"
    assert (case.ran, case.cluster.topics_by_server()) == (RAN, before)


def test_it_pauses_between_groups_and_goes_on(case: Case) -> None:
    # Two names for one group, as far as this cluster is concerned.
    two = {**GROUP, "broker-b": GROUP[BROKER]}
    first = case.restart(two, pause_after=1)
    assert (first[-1]["event"], first[-1]["left"], case.ran) == ("paused", ["broker-b"], RAN)
    second = case.restart(two, pause_after=1)
    assert (second[0]["left"], second[-1]["event"], case.ran) == (["broker-b"], "finished", RAN * 2)


def test_only_one_at_a_time(case: Case) -> None:
    other = RestartStore(case.home, "C")
    assert other.restart_lock.acquire_lock()
    with pytest.raises(DrainRefused, match="is already restarting C"):
        case.restart()
    other.restart_lock.release_lock()


@pytest.mark.parametrize("kill", [3, 5, 8, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60])
def test_killed_anywhere_and_started_again_it_ends_the_same(case: Case, kill: int) -> None:
    before = case.cluster.topics_by_server()
    case.cluster.calls, case.cluster.kill_at = 0, kill
    try:
        case.restart()
    except DrainKilled:
        case.cluster.kill_at = None
        assert case.restart()[-1]["event"] == "finished"
    assert case.cluster.topics_by_server() == before
    assert list(dict.fromkeys(case.ran)) == RAN
