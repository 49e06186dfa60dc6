"""Putting back what name servers told before a drain."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from namesrv_core.events import QueueData
from nsadmin.client import NotFound
from nsadmin.operations.drain.facts import NameServerFacts, QueuesByTopic, ServerTopic
from nsadmin.operations.drain.state import DrainFolder, QueueSnapshot
from nsadmin.operations.drain.undo import DrainBusyError, find_differing_queues
from tests.support.drain_cluster import PERMS, RW, DrainCluster, DrainKilled, R, make_queue, select_events

CLOSED, OPEN, NARROW, WIDE = make_queue(R), make_queue(RW), make_queue(R, 4), make_queue(RW, 16)


@pytest.mark.parametrize(
    ("saved", "own_before", "own", "current", "target"),
    [
        (OPEN, OPEN, OPEN, CLOSED, OPEN),
        (OPEN, OPEN, OPEN, OPEN, None),
        # The broker's topic changed, was deleted or was created during the drain.
        (OPEN, OPEN, WIDE, CLOSED, WIDE),
        (OPEN, OPEN, None, CLOSED, None),
        (None, None, OPEN, CLOSED, OPEN),
        # The number of queues is that of the broker, or without its answer that of the name server.
        (OPEN, WIDE, WIDE, CLOSED, WIDE),
        (CLOSED, WIDE, WIDE, CLOSED, make_queue(R, 16)),
        (OPEN, OPEN, "unknown", NARROW, make_queue(RW, 4)),
        (OPEN, "unknown", WIDE, CLOSED, WIDE),
        # Somebody deleted the topic on the name server.
        (OPEN, OPEN, OPEN, None, None),
        # The snapshot lacks the topic.
        (None, OPEN, OPEN, CLOSED, OPEN),
        (None, "unknown", "unknown", CLOSED, None),
    ],
)
def test_a_topic_gets_its_permission_back_with_the_queues_of_the_broker(
    saved: QueueData | None,
    own_before: QueueData | str | None,
    own: QueueData | str | None,
    current: QueueData | None,
    target: QueueData | None,
) -> None:
    def by_topic(queue: QueueData | str | None) -> dict[str, QueueData] | None:
        return None if isinstance(queue, str) else {} if queue is None else {"T": queue}

    snapshot = QueueSnapshot({"h:1": by_topic(saved) or {}}, by_topic(own_before))
    server = NameServerFacts("h:1", None, "C", {0: "b:1"}, {"T": ServerTopic(current)} if current else {})
    assert find_differing_queues(snapshot, by_topic(own), server) == (by_topic(target) or {})


def test_only_name_servers_with_the_broker_that_the_drain_closed_are_changed() -> None:
    own = {"T": OPEN}
    saved, unsaved = QueueSnapshot({"h:1": own}, own), QueueSnapshot({}, own)
    server = NameServerFacts("h:1", None, "C", {0: "b:1"}, {"T": ServerTopic(CLOSED)})
    gone, silent = server._replace(member_addrs={}), server._replace(error="no answer")
    assert [find_differing_queues(saved, own, each) for each in (server, gone, silent)] == [own, {}, {}]
    assert find_differing_queues(unsaved, own, server) == {}
    assert find_differing_queues(unsaved._replace(closes_all=True), own, server) == own
    assert find_differing_queues(unsaved._replace(closes_all=True), None, server) == {}


@pytest.mark.parametrize("old", [(), (0,), (0, 1)])
def test_each_name_server_gets_back_what_it_had(tmp_path: Path, old: tuple[int, ...]) -> None:
    cluster = DrainCluster(old=old)
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path)
    start = cluster.now
    records = cluster.run_undrain(tmp_path)
    assert (cluster.topics_by_server(), cluster.now) == (before, start)
    assert records[-1] == {"time": start, "event": "undone", "broker": "broker-a"}
    assert {record["time"] for record in records} == {start}
    # The registration that a 4.x name server needs restores the others, too.
    hows = ["by a registration of the broker" if at in old else "nothing to do" for at in (0, 1)]
    assert [record["how"] for record in select_events(records, "putBack")] == (
        hows if old else ["topic by topic"] * 2
    )
    assert [record["topics"] for record in select_events(records, "putBack")] == [len(cluster.own)] * 2
    assert DrainFolder(tmp_path).load() is None


def test_a_server_that_had_something_else_than_the_broker_gets_that_back(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.nodes[1].topics["orders"] = make_queue(R)
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path)
    records = cluster.run_undrain(tmp_path)
    assert cluster.topics_by_server() == before
    assert [(record["how"], record["closed"]) for record in select_events(records, "putBack")] == [
        ("topic by topic", []),
        ("topic by topic", ["orders"]),
    ]


def test_a_4x_server_whose_topics_were_closed_before_is_closed_again(tmp_path: Path) -> None:
    cluster = DrainCluster(old=(0, 1))
    cluster.wipe_write_permission((cluster.nodes[0].addr,))
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path)
    first, second, undone = cluster.run_undrain(tmp_path)
    assert cluster.topics_by_server() == before
    assert (first["how"], "orders" in first["closed"]) == ("write permission removed", True)
    assert (second["how"], undone["event"]) == ("by a registration of the broker", "undone")


def test_a_4x_server_that_only_missed_a_change_is_registered_anew(tmp_path: Path) -> None:
    cluster = DrainCluster(1, old=(0,))
    cluster.run_drain(tmp_path)
    cluster.register_broker()
    cluster.own["orders"] = make_queue(RW, 16)
    assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"
    assert cluster.topics_by_server()[0]["orders"] == make_queue(RW, 16)


@pytest.mark.parametrize("old", [(), (0,)])
def test_what_was_created_changed_or_deleted_since_stays_so(tmp_path: Path, old: tuple[int, ...]) -> None:
    cluster = DrainCluster(old=old)
    cluster.run_drain(tmp_path)
    cluster.create_topic("fresh", queues=3)
    cluster.create_topic("orders", R, 16)
    cluster.delete_topic("payments")
    cluster.run_drain(tmp_path)
    start = cluster.now
    cluster.run_undrain(tmp_path)
    assert cluster.now == start
    for picture in cluster.topics_by_server():
        assert picture["fresh"] == make_queue(RW, 3)
        assert picture["orders"] == make_queue(R, 16)
        assert "payments" not in picture


def test_a_durable_drain_gives_the_broker_its_permission_back(tmp_path: Path) -> None:
    cluster = DrainCluster()
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path, durable=True)
    start = cluster.now
    records = cluster.run_undrain(tmp_path)
    [permission_set] = select_events(records, "permissionSet")
    assert (permission_set["before"], permission_set["after"], permission_set["time"]) == (4, 6, start)
    # The broker has registered its topics at once: nobody waits.
    assert cluster.now == start
    assert (cluster.brokers_perm, cluster.topics_by_server()) == (6, before)


def test_a_durable_drain_is_not_undone_while_the_broker_keeps_its_permission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster()
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path, durable=True)
    monkeypatch.setattr(cluster, "set_permission", lambda master, perm: "no permission")
    records = cluster.run_undrain(tmp_path)
    assert [record["event"] for record in records] == ["permissionSet", "putBack", "putBack"]
    assert (records[0]["error"], cluster.topics_by_server()) == ("no permission", before)


def test_a_name_server_that_does_not_answer_is_named_and_the_drain_is_kept(tmp_path: Path) -> None:
    cluster = DrainCluster()
    cluster.run_drain(tmp_path)
    cluster.kill_server(1)
    records = cluster.run_undrain(tmp_path)
    assert [record["error"] for record in records if record["event"] == "putBack"] == [
        None,
        "connection refused, no server listens on this port",
    ]
    assert select_events(records, "undone") == []
    kept = DrainFolder(tmp_path).load()
    assert kept is not None
    assert (kept.state.phase, kept.state.safe_since) == ("undrain", None)
    cluster.nodes[1].is_up = True
    assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"
    assert cluster.topics_by_server()[0] == cluster.topics_by_server()[1] == dict(sorted(cluster.own.items()))


def test_a_stopped_broker_has_to_be_started_first(tmp_path: Path) -> None:
    cluster = DrainCluster(1)
    cluster.run_drain(tmp_path)
    cluster.stop_broker()
    assert [record["error"] for record in cluster.run_undrain(tmp_path)] == [
        "the broker is not registered there"
    ]


def test_where_the_broker_takes_no_order_4x_gets_rw_if_all_had_that(tmp_path: Path) -> None:
    cluster = DrainCluster(1, old=(0,), perms={"orders": 6, "TBW102": 7})
    cluster.run_drain(tmp_path)
    cluster.refuses_config = "no permission"
    [record] = cluster.run_undrain(tmp_path)
    assert record["how"] == "rw- for all"
    assert record["differing"] == {
        "TBW102": "rw- instead of rwi; the broker did not accept the request to register: no permission"
    }
    assert cluster.topics_by_server() == [{"TBW102": make_queue(6), "orders": make_queue(6)}]


def test_what_changes_while_the_broker_registers_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster(3, old=(0,))
    cluster.run_drain(tmp_path)
    # The broker does not reach the last name server.
    closed = cluster.nodes[2].topics
    request = cluster.request_registration

    def register_changed(master: str) -> str | None:
        cluster.own["orders"] = make_queue(RW, 12)
        error = request(master)
        cluster.nodes[2].topics = closed
        return error

    monkeypatch.setattr(cluster, "request_registration", register_changed)
    assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"
    assert [topics["orders"] for topics in cluster.topics_by_server()] == [make_queue(RW, 12)] * 3


def test_a_topic_that_somebody_deletes_meanwhile_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster(1)
    cluster.run_drain(tmp_path)
    read_own_queues = cluster.read_own_queues

    def delete_after_reading(master: str) -> QueuesByTopic | str:
        queues = read_own_queues(master)
        cluster.nodes[0].topics.pop("orders", None)
        return queues

    monkeypatch.setattr(cluster, "read_own_queues", delete_after_reading)
    assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"
    assert "orders" not in cluster.topics_by_server()[0]


def test_without_the_broker_s_own_topics_name_servers_get_back_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster()
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path)
    monkeypatch.setattr(cluster, "read_own_queues", lambda master: "no answer")
    assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"
    assert cluster.topics_by_server() == before


def test_what_is_not_as_before_has_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = DrainCluster(1)
    cluster.run_drain(tmp_path)
    cluster.nodes[0].topics["payments"] = make_queue(RW, 4)
    monkeypatch.setattr(cluster, "restore_queues", lambda addr, queues: dict.fromkeys(queues, "no answer"))
    [record] = cluster.run_undrain(tmp_path)
    assert (record["topics"], record["how"]) == (1, "topic by topic")
    assert record["differing"] == {
        "%RETRY%billing": "r-- instead of rw-; no answer",
        "TBW102": "r-i instead of rwi; no answer",
        "orders": "r-- instead of rw-; no answer",
        "payments": "4/4 queues instead of 8/8; no answer",
    }


def test_a_topic_that_changes_while_it_is_restored_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster(1)
    cluster.run_drain(tmp_path)
    restore = cluster.restore_queues

    def change_then_restore(addr: str, queues: Mapping[str, QueueData]) -> Mapping[str, str | None]:
        cluster.create_topic("orders", queues=12)
        return restore(addr, queues)

    monkeypatch.setattr(cluster, "restore_queues", change_then_restore)
    [record] = cluster.run_undrain(tmp_path)
    assert record["differing"] == {"orders": "8/8 queues instead of 12/12"}
    monkeypatch.setattr(cluster, "restore_queues", restore)
    assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"


def test_a_registration_that_takes_no_effect_is_waited_for_10_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster(1, old=(0,))
    cluster.run_drain(tmp_path)
    monkeypatch.setattr(cluster, "register_broker", lambda: None)
    start = cluster.now
    [record] = cluster.run_undrain(tmp_path)
    assert (record["how"], record["error"]) == ("by a registration of the broker", None)
    # The clock of the test has steps of a second.
    assert cluster.now - start == 20_000


def test_where_the_broker_has_no_master_4x_gets_rw_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = DrainCluster(1, old=(0,), perms={"orders": 6, "TBW102": 7})
    cluster.run_drain(tmp_path)
    read = cluster.read_servers
    slave_only = {1: "127.0.0.1:10921"}
    monkeypatch.setattr(
        cluster, "read_servers", lambda: tuple(s._replace(member_addrs=slave_only) for s in read())
    )
    [record] = cluster.run_undrain(tmp_path)
    assert record["differing"] == {
        "TBW102": "rw- instead of rwi; the broker did not accept the request to register: the broker has no "
        "master"
    }


@pytest.mark.parametrize("is_new", [False, True])
def test_no_read_only_topic_is_ever_opened(tmp_path: Path, is_new: bool) -> None:
    cluster = DrainCluster(1, old=(0,), perms={name: RW for name in PERMS} if is_new else PERMS)
    cluster.run_drain(tmp_path)
    if is_new:
        cluster.own["history"] = make_queue(R, 16)
    closed = cluster.topics_by_server()
    cluster.refuses_config = "no permission"
    [record] = cluster.run_undrain(tmp_path)
    assert cluster.topics_by_server() == closed
    assert {"%RETRY%billing", "TBW102", "orders", "payments"} <= set(record["differing"])


@pytest.mark.parametrize("kill", range(1, 12))
def test_killed_anywhere_and_started_again_it_ends_as_before(tmp_path: Path, kill: int) -> None:
    cluster = DrainCluster(old=(1,))
    before = cluster.topics_by_server()
    cluster.run_drain(tmp_path)
    cluster.calls, cluster.kill_at = 0, kill
    try:
        cluster.run_undrain(tmp_path)
    except DrainKilled:
        cluster.kill_at = None
        assert cluster.run_undrain(tmp_path)[-1]["event"] == "undone"
    assert cluster.topics_by_server() == before


def test_what_nobody_drained_cannot_be_undone(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="broker-a has no drain"):
        DrainCluster().run_undrain(tmp_path)


def test_who_is_at_it_is_not_disturbed(tmp_path: Path) -> None:
    first = DrainFolder(tmp_path)
    assert first.lock.acquire()
    with pytest.raises(DrainBusyError, match="is running this drain"):
        DrainCluster().run_undrain(tmp_path)
    first.lock.release()
