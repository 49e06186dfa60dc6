"""The progress of a rebalance by topic and broker, and its row among the drains."""

import msgspec

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.view_links import open_target
from nsadmin.tui.polling.poll_records import DrainsPolled, MovingTopicRecord, RebalanceRecord
from nsadmin.tui.views.drains import DrainsView
from nsadmin.tui.views.rebalances import RebalanceView
from nsadmin.tui.views.view_targets import TopicTarget
from tests.support.screens import NOON

ORDERS = MovingTopicRecord(
    "orders", "closeWrites", 3, 4, NOON - 60_000, {"broker-a": (4, 0), "broker-b": (4, 4)},
    ["group billing to consume 7 messages", "time"],
)  # fmt: skip
WAITING = MovingTopicRecord("parcels", "", 1, 0, NOON, {}, [])
RUN = RebalanceRecord("cluster-a", "abc", "running", NOON - 90_000, "me", 7, 2, None, "/p", [ORDERS, WAITING])
VIEW = RebalanceView("cluster-a", "abc")


def model_of(*rebalances: RebalanceRecord) -> ClusterModel:
    model = ClusterModel()
    model.apply_poll(DrainsPolled(NOON, rebalances=rebalances))
    return model


def test_each_broker_of_a_moving_topic_has_a_row() -> None:
    rows = VIEW.build_rows(model_of(RUN))
    first, second, waiting = rows
    assert {column.key: column.render_cell(first).text for column in VIEW.columns} == {
        "topic": "orders", "broker": "broker-a", "read": "4", "write": "0", "steps": "■■□□",
        "step": "closeWrites", "since": "1 min", "waits": "group billing to consume 7 messages; time",
    }  # fmt: skip
    assert [column.render_cell(second).text for column in VIEW.columns][1:4] == ["broker-b", "4", "4"]
    assert [column.render_cell(waiting).text for column in VIEW.columns][:4] == ["parcels", "", "", ""]
    assert VIEW.open_row(first) == TopicTarget("orders")
    assert (VIEW.row_key(first), VIEW.subject_of_row(first).topic) == ("orders broker-a", "orders")


def test_the_headline_has_the_counts_and_the_reason_of_a_pause() -> None:
    assert [cell.text for cell in VIEW.render_headline(model_of(RUN))] == [
        "running", "  2 moved, 2 moving  pid 7",
    ]  # fmt: skip
    paused = msgspec.structs.replace(RUN, phase="paused", pid=None, pause="disk full")
    assert [cell.text for cell in VIEW.render_headline(model_of(paused))] == [
        "paused", "  2 moved, 2 moving  not running", "  disk full",
    ]  # fmt: skip
    assert [cell.text for cell in VIEW.render_headline(model_of())] == ["this rebalance is finished"]
    assert VIEW.build_rows(ClusterModel()) == []


def test_a_rebalance_is_a_row_among_the_drains() -> None:
    view = DrainsView()
    [row] = view.build_rows(model_of(RUN))
    assert {column.key: column.render_cell(row).text for column in view.columns} == {
        "broker": "2 topics", "cluster": "cluster-a", "steps": "2 moved", "phase": "rebalance: running",
        "puts": "", "safe": "", "since": "2 min", "reopened": "", "by": "me", "at": "pid 7",
        "last": "orders: group billing to consume 7 messages",
    }  # fmt: skip
    assert view.row_key(row) == "cluster-a rebalance abc"
    assert view.subject_of_row(row).cluster == "cluster-a"
    opened = open_target(view.open_row(row))
    assert isinstance(opened, RebalanceView)
    assert (opened.cluster_name, opened.digest, opened.view_title) == (
        "cluster-a",
        "abc",
        "rebalance of cluster-a",
    )
