"""A rolling restart of a master with its slave, in virtual time."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from nsadmin.operations.drain.events import describe_record as words_of_drain
from nsadmin.operations.drain.runner import DrainRefused
from nsadmin.operations.drain.state import DrainFolder
from nsadmin.operations.restart.events import describe_record
from nsadmin.operations.restart.runner import BrokerRestartContext, RestartRules, RollingRestart
from nsadmin.operations.restart.state import BrokerProcess, open_restart
from nsadmin.operations.run_folder import EventRecord
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
        keeping = DrainFolder(self.home / "drains" / name)
        return BrokerRestartContext(self.cluster, keeping, self.cluster.make_plan(), SYSTEM, frozenset())

    def restart(self, groups: Groups = GROUP, pause_after: int | None = None) -> list[EventRecord]:
        brokers = {name: self.broker(name) for name in groups}
        rules, progress = RestartRules(60_000, pause_after), open_restart(self.home, "C")
        restart = RollingRestart("C", rules, brokers.__getitem__, self.run, progress, self.cluster.clock)
        return list(restart.run_restart(groups))


@pytest.fixture
def restart_case(tmp_path: Path) -> Case:
    return Case(tmp_path)


def steps(told: Iterable[EventRecord]) -> list[tuple[str, str]]:
    return [(item["addr"], item["step"]) for item in select_events(told, "stepBegan")]


WHOLE = [
    (SLAVE, "stop"), (SLAVE, "start"), (SLAVE, "wait"),
    (MASTER, "drain"), (MASTER, "stop"), (MASTER, "start"), (MASTER, "wait"), (MASTER, "undrain"),
]  # fmt: skip
RAN = [("stop", SLAVE), ("start", SLAVE), ("stop", MASTER), ("start", MASTER)]


def test_a_slave_and_then_its_master(restart_case: Case) -> None:
    before = restart_case.cluster.topics_by_server()
    records = restart_case.restart()
    assert (steps(records), restart_case.ran) == (WHOLE, RAN)
    assert restart_case.cluster.topics_by_server() == before
    assert records[-1] == {**records[-1], "event": "finished", "cluster": "C", "processes": 2}
    assert open_restart(restart_case.home, "C").state.load() is None
    assert [event for event in (item["event"] for item in records) if event in ("safe", "undone")] == [
        "safe",
        "undone",
    ]


def test_everything_has_words(restart_case: Case) -> None:
    record_texts = [describe_record(item) or words_of_drain(item) for item in restart_case.restart()]
    assert record_texts[0] == "restarting C: broker-a"
    assert "broker-a (slave 1) at 127.0.0.1:10921: stopping it" in record_texts
    assert record_texts[-1] == "C: 2 brokers restarted"


def test_a_command_that_does_nothing_is_noticed(restart_case: Case) -> None:
    restart_case.does_nothing = True
    with pytest.raises(
        DrainRefused,
        match=r"broker-a \(slave 1\) is not healthy after .* s \(--patience\): waiting for the old process",
    ):
        restart_case.restart()
    assert restart_case.ran == RAN[:2]


def test_events_are_written_and_a_new_restart_forgets_those_of_the_last(restart_case: Case) -> None:
    records = restart_case.restart()
    events_file = open_restart(restart_case.home, "C").events.path
    assert [json.loads(line) for line in events_file.read_text().splitlines()] == records
    restart_case.exit_code = 3
    with pytest.raises(DrainRefused):
        restart_case.restart()
    first, *_, last = [json.loads(line) for line in events_file.read_text().splitlines()]
    assert (first["event"], first["resumed"]) == ("began", False)
    assert describe_record(last) == (
        "stopped: the command of --stop for broker-a (slave 1) failed with exit code 3; correct it, and run "
        "the command again to continue"
    )


def test_a_command_that_fails_ends_it_and_it_goes_on_there(restart_case: Case) -> None:
    restart_case.exit_code = 3
    with pytest.raises(
        DrainRefused, match=r"the command of --stop for broker-a \(slave 1\) failed with exit code 3"
    ):
        restart_case.restart()
    restart_case.exit_code = 0
    records = restart_case.restart()
    assert (steps(records), records[0]["resumed"]) == (WHOLE, True)


def test_a_slave_that_does_not_catch_up_keeps_its_master_from_being_stopped(restart_case: Case) -> None:
    restart_case.cluster.script = {1: lambda: setattr(restart_case.cluster, "slave_is_behind", True)}
    restart_case.cluster.pass_time(1)
    with pytest.raises(
        DrainRefused,
        match=r"so the restart does not go on: waiting for the slave 127.0.0.1:10921 to be in sync; run the",
    ):
        restart_case.restart()
    assert restart_case.ran == []


def test_a_slave_that_is_behind_for_a_moment_keeps_nothing_from_going_on(restart_case: Case) -> None:
    restart_case.cluster.slave_is_behind = True
    restart_case.cluster.script = {1: lambda: setattr(restart_case.cluster, "slave_is_behind", False)}
    assert restart_case.restart()[-1]["event"] == "finished"
    assert restart_case.ran == RAN


def test_a_name_server_that_does_not_answer_keeps_it_from_going_on(restart_case: Case) -> None:
    restart_case.cluster.kill_server(1)
    with pytest.raises(DrainRefused, match=r"127.0.0.1:9877 to answer"):
        restart_case.restart()
    assert restart_case.ran == []


def test_a_broker_is_not_stopped_while_the_others_have_gone(restart_case: Case) -> None:
    cluster = restart_case.cluster
    before = cluster.topics_by_server()
    cluster.script = {
        20: lambda: setattr(cluster, "others", 0),
        300: lambda: setattr(cluster, "others", 8),
    }
    told = restart_case.restart()
    waits = [record["time"] for record in told if "another broker" in str(record.get("waitingFor"))]
    assert waits
    assert waits[-1] >= cluster.now - 200_000
    assert (told[-1]["event"], restart_case.ran, cluster.topics_by_server()) == ("finished", RAN, before)


def test_it_pauses_between_groups_and_goes_on(restart_case: Case) -> None:
    # Two names for one group, as far as this cluster is concerned.
    two = {**GROUP, "broker-b": GROUP[BROKER]}
    first = restart_case.restart(two, pause_after=1)
    assert (first[-1]["event"], first[-1]["left"], restart_case.ran) == ("paused", ["broker-b"], RAN)
    second = restart_case.restart(two, pause_after=1)
    assert (second[0]["left"], second[-1]["event"], restart_case.ran) == (["broker-b"], "finished", RAN * 2)


def test_only_one_at_a_time(restart_case: Case) -> None:
    other = open_restart(restart_case.home, "C")
    assert other.lock.acquire()
    with pytest.raises(DrainRefused, match="is already restarting C"):
        restart_case.restart()
    other.lock.release()


@pytest.mark.parametrize("kill", [3, 5, 8, 12, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60])
def test_killed_anywhere_and_started_again_it_ends_the_same(restart_case: Case, kill: int) -> None:
    before = restart_case.cluster.topics_by_server()
    restart_case.cluster.calls, restart_case.cluster.kill_at = 0, kill
    try:
        restart_case.restart()
    except DrainKilled:
        restart_case.cluster.kill_at = None
        assert restart_case.restart()[-1]["event"] == "finished"
    assert restart_case.cluster.topics_by_server() == before
    assert list(dict.fromkeys(restart_case.ran)) == RAN
