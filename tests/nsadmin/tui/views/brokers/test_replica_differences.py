"""The differences of slaves as a tab of a broker, and the age of the comparison."""

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import ReplicasPolled
from nsadmin.tui.polling.replica_records import SlaveDifferenceRecord, SlaveRecord
from nsadmin.tui.views.brokers.replica_differences import ReplicaDifferencesView
from nsadmin.tui.views.view_targets import GroupTarget, TopicTarget
from tests.support.screens import NOON, make_broker_poll, make_server_poll

TOPIC = SlaveDifferenceRecord("topic", "orders", "drift", "missing on the slave", "same version", NOON)
OFFSET = SlaveDifferenceRecord("offset", "orders@G", "lag", "6 messages behind", "may copy", NOON - 30_000)
GROUP = SlaveDifferenceRecord("group", "G", "lag", "missing on the slave", "may copy", NOON)
DRIFTED = SlaveRecord("broker-a", 1, "drift", 1, 7, None, [TOPIC, OFFSET])
LAGGING = SlaveRecord("broker-a", 2, "lag", 0, 1, None, [GROUP])
OTHER = SlaveRecord("broker-b", 1, "drift", 1, 0, None, [TOPIC])
MASTER = ReplicaDifferencesView("broker-a", 0, "10.0.1.1:10911", "cluster-a")
SLAVE = ReplicaDifferencesView("broker-a", 1, "10.0.1.2:10911", "cluster-a")


def model_of(*slaves: SlaveRecord) -> ClusterModel:
    model = ClusterModel()
    model.apply_poll(
        make_server_poll(at=NOON, groups={"broker-a": {0: MASTER.broker_addr, 1: SLAVE.broker_addr}})
    )
    model.apply_poll(make_broker_poll(MASTER.broker_addr))
    model.apply_poll(make_broker_poll(SLAVE.broker_addr))
    model.apply_poll(ReplicasPolled(NOON, slaves))
    model.now_ms = NOON + 12_000
    return model


def headline(view: ReplicaDifferencesView, *slaves: SlaveRecord) -> list[str]:
    return [cell.text.strip() for cell in view.render_headline(model_of(*slaves))][2:]


def test_a_slave_has_its_own_differences_and_its_master_those_of_all_slaves() -> None:
    model = model_of(DRIFTED, LAGGING, OTHER)
    rows = SLAVE.build_rows(model)
    assert [{column.key: column.render_cell(row).text for column in SLAVE.columns} for row in rows] == [
        {
            "slave": "1", "kind": "topic", "name": "orders", "state": "drift",
            "differs": "missing on the slave", "since": "12 s", "reason": "same version",
        },
        {
            "slave": "1", "kind": "offset", "name": "orders@G", "state": "lag",
            "differs": "6 messages behind", "since": "42 s", "reason": "may copy",
        },
    ]  # fmt: skip
    assert [SLAVE.is_problem(row) for row in rows] == [True, False]
    assert [MASTER.row_key(row) for row in MASTER.build_rows(model)] == [
        "1 topic orders", "1 offset orders@G", "2 group G",
    ]  # fmt: skip


def test_enter_opens_a_topic_or_a_group() -> None:
    assert [MASTER.open_row(row) for row in MASTER.build_rows(model_of(DRIFTED, LAGGING))] == [
        TopicTarget("orders"), None, GroupTarget("G"),
    ]  # fmt: skip


def test_the_headline_has_the_counts_and_the_age_of_the_comparison() -> None:
    assert headline(SLAVE, DRIFTED, LAGGING) == ["1 drift", "7 lag", "6 not shown", "compared 12 s ago"]
    unread = SlaveRecord("broker-a", 2, "unknown", error="closed")
    assert headline(MASTER, unread) == ["0 drift", "0 lag", "compared 12 s ago", "slave 2: closed"]
    assert headline(SLAVE, OTHER) == []


def test_without_rows_the_screen_says_why() -> None:
    assert SLAVE.empty_message(ClusterModel()) == "the comparison is loading"
    assert SLAVE.empty_message(ClusterModel(is_replay=True)) == "the comparison is not in the recording"
    equal = SlaveRecord("broker-a", 1, "equal")
    # Bytes of the commit log are not compared here.
    for view in (SLAVE, MASTER):
        assert view.empty_message(model_of(equal)) == "no difference in topics, groups, offsets and settings"
    assert SLAVE.empty_message(model_of(OTHER)) == "the slave was not compared yet"
    assert MASTER.empty_message(model_of(OTHER)) == "the broker has no slaves"
    unread = SlaveRecord("broker-a", 1, "unknown", error="closed")
    assert SLAVE.empty_message(model_of(unread)) == "unknown: closed"
