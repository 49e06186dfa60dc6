"""A drain from its check to the moment when the broker can be stopped, and killed anywhere on the way."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm
from nsadmin.client import NotFound
from nsadmin.client.consumers.lag import Lag
from nsadmin.client.results import NoneReachable
from nsadmin.operations.drain.events import CommandEnded
from nsadmin.operations.drain.facts import OwnTopics, SlaveGap
from nsadmin.operations.drain.runner import DrainRefused, DrainRun, check_plan
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import DrainFolder
from tests.support.drain_cluster import (
    MASTER,
    PERMS,
    SYSTEM,
    DrainCluster,
    DrainKilled,
    make_queue,
    select_events,
)

WIPED = {topic: make_queue(perm & ~Perm.WRITE) for topic, perm in PERMS.items()}


def test_it_ends_when_nobody_writes_any_more(tmp_path: Path) -> None:
    cluster = DrainCluster()
    records = cluster.run_drain(tmp_path)
    assert [record["event"] for record in records if record["event"] != "progress"] == [
        "started", "checked", "snapshotTaken", "snapshotTaken", "wiped", "wiped", "closed", "safe",
    ]  # fmt: skip
    assert records[0] == {
        "time": 1_700_000_000_000, "event": "started", "cluster": "C", "broker": "broker-a",
        "nameServers": [node.addr for node in cluster.nodes], "resumed": None,
    }  # fmt: skip
    assert cluster.topics_by_server() == [dict(sorted(WIPED.items()))] * 2
    assert not cluster.is_written
    [closed], [safe] = select_events(records, "closed"), select_events(records, "safe")
    assert safe["time"] - closed["time"] >= 60_000
    assert [record["phase"] for record in select_events(records, "progress")] == (
        ["snapshot", "settle", "settle", "settle", "wait", "wait", "wait", "safe"]
    )


def test_a_drain_that_was_stopped_resumes_with_the_name_of_its_phase(tmp_path: Path) -> None:
    cluster = DrainCluster()
    records = cluster.run_drain(tmp_path, limit=10, by="me@here")
    assert select_events(records, "progress")[-1]["phase"] == "settle"
    saved = DrainFolder(tmp_path).load()
    assert saved is not None
    assert (saved.state.by, saved.state.started) == ("me@here", records[0]["time"])
    assert cluster.run_drain(tmp_path)[0]["resumed"] == "settle"


def test_the_times_of_its_events_run_forwards(tmp_path: Path) -> None:
    cluster = DrainCluster()
    plan, servers = cluster.make_plan(), cluster.read_servers()
    checked = check_plan(plan, servers, SYSTEM, frozenset(), cluster.now - 6)
    drain = DrainRun(plan, cluster, DrainFolder(tmp_path), cluster.clock)
    times = [record["time"] for record in drain.run_drain(checked, servers)]
    assert times == sorted(times)


def test_what_is_opened_again_is_closed_again_and_waited_for_anew(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {45: lambda: cluster.create_topic("fresh")}
    records = cluster.run_drain(tmp_path)
    assert [(record["topics"], record["cause"]) for record in select_events(records, "reopened")] == [
        (["fresh"], "created during the drain")
    ] * 2
    [first, second], [safe] = select_events(records, "closed"), select_events(records, "safe")
    assert safe["time"] - second["time"] >= 60_000
    assert second["time"] > first["time"]
    assert select_events(records, "wiped")[-1]["times"] == 2
    assert not cluster.is_written


@pytest.mark.parametrize(
    ("disturb", "cause"),
    [
        (lambda cluster: cluster.restart_broker(), "the broker restarted"),
        (
            lambda cluster: cluster.delete_topic("payments"),
            "the broker registered all its topics after a change: payments deleted",
        ),
        (
            lambda cluster: cluster.create_topic("orders", queues=16),
            "changed on the broker: orders readQueueNums 8 -> 16 and writeQueueNums 8 -> 16",
        ),
        (
            lambda cluster: cluster.flip_order("%RETRY%billing"),
            "the broker registered all its topics after a change: %RETRY%billing order false -> true",
        ),
        (
            lambda cluster: cluster.flip_order("%RETRY%billing", times=2),
            "the broker registered all its topics after changes that were reverted, such as the order flag "
            "of a retry topic",
        ),
        (
            lambda cluster: cluster.register_broker(),
            "the broker registered all its topics, without a change: the connection was lost",
        ),
    ],
)
def test_it_says_why_topics_are_open_again(tmp_path: Path, disturb: object, cause: str) -> None:
    cluster = DrainCluster()
    cluster.script = {45: lambda: disturb(cluster)}  # type: ignore[operator]
    records = cluster.run_drain(tmp_path)
    assert all(record["cause"].startswith(cause) for record in select_events(records, "reopened"))
    assert len(select_events(records, "reopened")) == 2
    assert not cluster.is_written


def test_each_reason_counts_from_the_reading_before(tmp_path: Path) -> None:
    cluster = DrainCluster()
    retry = "%RETRY%billing"
    cluster.script = {45: lambda: cluster.flip_order(retry), 65: lambda: cluster.flip_order(retry)}
    records = cluster.run_drain(tmp_path)
    assert [record["cause"].rpartition("order ")[2] for record in select_events(records, "reopened")] == [
        "false -> true", "false -> true", "true -> false", "true -> false",
    ]  # fmt: skip


def test_a_reason_that_cannot_be_read_is_said_to_be_unknown(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.refuses_topics = True
    cluster.script = {45: lambda: cluster.flip_order("%RETRY%billing")}
    records = cluster.run_drain(tmp_path)
    assert {record["cause"] for record in select_events(records, "reopened")} == {
        "the broker registered all its topics: a topic changed, or the connection was lost"
    }


def test_topics_are_read_only_to_explain_what_is_open(tmp_path: Path) -> None:
    quiet, disturbed = DrainCluster(), DrainCluster()
    reads: dict[int, int] = {}

    def count(cluster: DrainCluster) -> None:
        read = cluster.read_own_topics

        def read_and_count(master: str) -> OwnTopics | None:
            reads[id(cluster)] = reads.get(id(cluster), 0) + 1
            return read(master)

        cluster.read_own_topics = read_and_count  # type: ignore[method-assign]

    count(quiet)
    count(disturbed)
    disturbed.script = {45: lambda: disturbed.register_broker()}
    quiet.run_drain(tmp_path / "quiet")
    disturbed.run_drain(tmp_path / "disturbed")
    assert reads == {id(quiet): 1, id(disturbed): 2}


def test_reopened_topics_are_counted_for_each_name_server(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {
        15: lambda: cluster.kill_server(1),
        45: lambda: cluster.restart_server(1),
        65: lambda: cluster.create_topic("fresh"),
    }
    cluster.run_drain(tmp_path)
    saved = DrainFolder(tmp_path).load()
    assert saved is not None
    first, second = (node.addr for node in cluster.nodes)
    assert (saved.state.reopened, dict(saved.state.reopens)) == (3, {first: 1, second: 2})


def test_a_name_server_that_dies_changes_what_is_known_and_not_what_is_done(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {15: lambda: cluster.kill_server(1)}
    records = cluster.run_drain(tmp_path)
    assert [(record["addr"], record["error"]) for record in select_events(records, "serverLost")] == [
        (cluster.nodes[1].addr, "connection refused, no server listens on this port")
    ]
    assert [record["unknown"] for record in select_events(records, "safe")] == [[cluster.nodes[1].addr]]
    assert not cluster.is_written


def test_one_that_comes_back_open_is_closed(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {15: lambda: cluster.kill_server(1), 45: lambda: cluster.restart_server(1)}
    records = cluster.run_drain(tmp_path)
    [reopened] = select_events(records, "reopened")
    assert reopened["cause"].startswith("the name server restarted")
    assert [record["unknown"] for record in select_events(records, "safe")] == [[]]
    assert not cluster.is_written


def test_one_that_was_never_seen_is_saved_before_it_is_closed(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.kill_server(1)
    cluster.script = {25: lambda: cluster.restart_server(1)}
    records = cluster.run_drain(tmp_path, allow_unreachable=True)
    assert [record["addr"] for record in select_events(records, "snapshotTaken")] == [
        n.addr for n in cluster.nodes
    ]
    saved = DrainFolder(tmp_path).load()
    assert saved is not None
    assert saved.snapshot.queues_by_server[cluster.nodes[1].addr] == cluster.own


def test_it_holds_until_somebody_ends_it(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {150: lambda: cluster.stop_broker(), 300: lambda: cluster.restart_broker()}
    records = cluster.run_drain(tmp_path, hold=True, limit=80)
    assert [record["event"] for record in records if record["event"] not in ("progress", "wiped")][5:] == [
        "safe", "brokerGone", "brokerGone", "brokerBack", "reopened", "brokerBack", "reopened", "unsafe",
        "closed", "safe",
    ]  # fmt: skip
    assert not cluster.is_written


def test_the_command_of_the_operator_runs_once_it_is_safe(tmp_path: Path) -> None:
    cluster = DrainCluster()
    calls: list[tuple[str, bool]] = []

    def then(addr: str) -> CommandEnded:
        calls.append((addr, cluster.is_written))
        return CommandEnded(cluster.now, "stop", 0)

    records = cluster.run_drain(tmp_path, then=then)
    assert calls == [(MASTER, False)]
    assert records[-1]["event"] == "commandEnded"
    # Once, also if the drain goes on.
    calls.clear()
    DrainCluster().run_drain(tmp_path / "held", then=then, hold=True, limit=40)
    assert len(calls) == 1


def test_the_command_does_not_run_while_a_name_server_is_not_known_to_agree(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {15: lambda: cluster.kill_server(1)}
    ran: list[str] = []

    def then(addr: str) -> CommandEnded:
        ran.append(addr)
        return CommandEnded(cluster.now, "stop", 0)

    cluster.run_drain(tmp_path / "one", then=then)
    assert ran == []
    other = DrainCluster()
    other.script = {15: lambda: other.kill_server(1)}
    other.run_drain(tmp_path / "other", then=then, allow_unreachable=True)
    assert ran == [MASTER]


def test_for_good_waits_for_consumers(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.lag = {"billing": Lag(5), "risk": Lag(0)}
    cluster.script = {200: lambda: cluster.lag is not None and cluster.lag.update(billing=Lag(0))}  # type: ignore[dict-item]
    records = cluster.run_drain(tmp_path, rules=SafetyRules(for_good=True))
    [safe] = select_events(records, "safe")
    assert safe["time"] >= 1_700_000_000_000 + 200_000
    assert select_events(records, "progress")[-2]["waitingFor"] == ["consumers to read all messages"]


def test_it_waits_for_a_slave(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.slave_is_behind = True

    def catch_up() -> None:
        cluster.slave_is_behind = False

    cluster.script = {200: catch_up}
    records = cluster.run_drain(tmp_path)
    assert select_events(records, "safe")[0]["time"] >= 1_700_000_000_000 + 200_000


def test_writes_that_do_not_end_are_named(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.residue = {"%RETRY%billing": 7, "orders": 2}

    def come() -> None:
        cluster.puts += 9

    cluster.script = {second: come for second in range(1, 120)}
    records = cluster.run_drain(tmp_path)
    late = [record for record in select_events(records, "progress") if record["phase"] == "wait"]
    assert late[0]["sources"] == {"%RETRY%billing": "retries of consumers", "orders": "clients"}
    assert late[0]["waitingFor"] == ["writes to stop"]
    assert select_events(records, "safe")[0]["time"] >= 1_700_000_000_000 + 150_000


def test_a_threshold_counts_as_none(tmp_path: Path) -> None:
    cluster = DrainCluster()

    def come() -> None:
        cluster.puts += 1

    cluster.script = {second: come for second in range(1, 1000)}
    cluster.residue = {"orders": 60}
    records = cluster.run_drain(tmp_path, rules=SafetyRules(write_threshold=60))
    assert select_events(records, "safe")[0]["time"] < 1_700_000_000_000 + 100_000


def test_a_durable_drain_goes_through_the_broker(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.script = {45: lambda: cluster.restart_broker()}
    records = cluster.run_drain(tmp_path, durable=True)
    [permission_set] = select_events(records, "permissionSet")
    assert (permission_set["addr"], permission_set["before"], permission_set["after"]) == (MASTER, 6, 4)
    assert select_events(records, "wiped", "reopened") == []
    assert cluster.topics_by_server() == [dict(sorted(WIPED.items()))] * 2


def test_the_permission_of_before_is_saved_before_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster()

    def end_process(master: str, perm: int) -> str | None:
        raise DrainKilled

    monkeypatch.setattr(cluster, "set_permission", end_process)
    with pytest.raises(DrainKilled):
        cluster.run_drain(tmp_path, durable=True)
    saved = DrainFolder(tmp_path).load()
    assert saved is not None
    assert (saved.state.permission, saved.state.started) == (6, 1_700_000_000_000)


CHECKED = [
    (
        lambda cluster: cluster.kill_server(1), DrainRefused,
        "its clients could continue to write; pass --allow-unreachable to drain without it$",
    ),
    (lambda cluster: cluster.stop_broker(), NotFound, 'no name server lists a broker "broker-a"'),
]  # fmt: skip


@pytest.mark.parametrize(("prepare", "error", "says"), CHECKED)
def test_what_cannot_be_drained_is_refused(prepare: object, error: type[Exception], says: str) -> None:
    cluster = DrainCluster()
    prepare(cluster)  # type: ignore[operator]
    with pytest.raises(error, match=says):
        check_plan(cluster.make_plan(), cluster.read_servers(), SYSTEM, frozenset(), 0)


def test_without_any_name_server_nothing_is_known() -> None:
    cluster = DrainCluster()
    servers = [server._replace(error="no answer") for server in cluster.read_servers()]
    first, second = (server.namesrv_addr for server in servers)
    with pytest.raises(NoneReachable) as refused:
        check_plan(cluster.make_plan(allow_unreachable=True), tuple(servers), SYSTEM, frozenset(), 0)
    assert str(refused.value) == f"no name server answered: {first}, {second}: no answer"


def test_name_servers_that_do_not_answer_are_named_with_their_errors() -> None:
    cluster = DrainCluster(3)
    first, second, third = cluster.read_servers()
    servers = (first._replace(error="no answer"), second, third._replace(error="refused"))
    with pytest.raises(DrainRefused) as refused:
        check_plan(cluster.make_plan(), servers, SYSTEM, frozenset(), 0)
    assert str(refused.value) == (
        f"{first.namesrv_addr}: no answer; {third.namesrv_addr}: refused: its clients could continue to "
        "write; pass --allow-unreachable to drain without it"
    )


def test_the_check_tells_all_risks_and_the_share_of_the_broker() -> None:
    cluster = DrainCluster()
    servers = cluster.read_servers()
    gap = SlaveGap(1, "s:1", ("orders",))
    checked = check_plan(cluster.make_plan(durable=True), servers, SYSTEM, frozenset({"orders"}), 7, (gap,))
    assert (checked.time, checked.topics, checked.share) == (7, len(cluster.own), 3 / 7)
    assert [risk.kind for risk in checked.risks] == ["refused", "slave"]


def test_a_second_drain_joins_the_first(tmp_path: Path) -> None:
    """It tells what the first one does and, when that has ended, goes on."""
    cluster = DrainCluster()
    first = DrainFolder(tmp_path)
    assert first.lock.acquire()
    cluster.script = {
        3: lambda: first.events.append({"time": 1, "event": "serverBack", "addr": "h:1"}),
        9: first.lock.release,
    }
    records = cluster.run_drain(tmp_path)
    assert [record["event"] for record in records[:3]] == ["joined", "serverBack", "started"]
    assert records[0]["pid"] is not None
    assert records[-1]["event"] == "safe"
    assert not cluster.is_written


@settings(max_examples=60, deadline=None)
@given(
    kills=st.lists(st.integers(1, 40), max_size=4),
    disturbances=st.dictionaries(
        st.integers(5, 90), st.sampled_from(["create", "broker", "server", "change"]), max_size=3
    ),
)
def test_killed_anywhere_and_started_again_it_ends_in_the_same_state(
    tmp_path_factory: pytest.TempPathFactory, kills: list[int], disturbances: dict[int, str]
) -> None:
    folder = tmp_path_factory.mktemp("drain")
    cluster = DrainCluster()
    before = cluster.topics_by_server()
    acts = {
        "create": lambda: cluster.create_topic("fresh"),
        "broker": cluster.restart_broker,
        "server": lambda: cluster.restart_server(1),
        "change": lambda: cluster.create_topic("orders", queues=16),
    }
    cluster.script = {second: acts[name] for second, name in disturbances.items()}
    for kill in kills:
        cluster.calls, cluster.kill_at = 0, kill
        try:
            cluster.run_drain(folder)
        except DrainKilled:
            cluster.pass_time(7)
    cluster.kill_at = None
    records = cluster.run_drain(folder)
    assert (records[-1]["event"], records[-2]["phase"]) == ("safe", "safe")
    assert not cluster.is_written
    assert all(
        not item.perm & Perm.WRITE for picture in cluster.topics_by_server() for item in picture.values()
    )
    cluster.script = {}
    assert cluster.run_undrain(folder)[-1]["event"] == "undone"
    expected = [{**picture, **_since(cluster, disturbances, picture)} for picture in before]
    assert cluster.topics_by_server() == [dict(sorted(picture.items())) for picture in expected]


def _since(
    cluster: DrainCluster, disturbances: dict[int, str], picture: dict[str, QueueData]
) -> dict[str, QueueData]:
    """What was created or changed on the broker since keeps that."""
    return {topic: item for topic, item in cluster.own.items() if picture.get(topic) != item}


@pytest.mark.parametrize("step_seconds", [3600, -3600])
def test_a_step_of_the_clock_changes_no_wait(tmp_path: Path, step_seconds: int) -> None:
    cluster = DrainCluster()
    shown_ms = {"step": 0}
    cluster.script = {5: lambda: shown_ms.update(step=step_seconds * 1000)}
    clock = cluster.clock._replace(now_ms=lambda: cluster.now + shown_ms["step"])
    servers, plan, began = cluster.read_servers(), cluster.make_plan(), cluster.now
    checked = check_plan(plan, servers, SYSTEM, frozenset(), cluster.now)
    told = list(DrainRun(plan, cluster, DrainFolder(tmp_path), clock).run_drain(checked, servers))
    assert told[-1]["event"] == "safe"
    assert cluster.now - began == 60_000


def test_topics_are_not_closed_again_before_other_brokers_take_them(tmp_path: Path) -> None:
    cluster = DrainCluster(1)

    def restart() -> None:
        cluster.restart_server(0)
        cluster.others = 0

    cluster.script = {5: restart, 95: lambda: setattr(cluster, "others", 8)}
    told = cluster.run_drain(tmp_path)
    [closed_again] = select_events(told, "wiped")[1:]
    assert closed_again["time"] >= 1_700_000_095_000
    waits = [
        record["waitingFor"] for record in told if record["event"] == "progress" and record["waitingFor"]
    ]
    assert any("another broker that takes messages of " in text for wait in waits for text in wait)
