"""How far each drain has come."""

import msgspec

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import (
    DrainRecord,
    DrainsPolled,
    MovingTopicRecord,
    RebalanceRecord,
    RestartRecord,
)
from nsadmin.tui.views import display_states
from nsadmin.tui.views.brokers.broker_table import list_broker_rows
from nsadmin.tui.views.drains import DrainLogView, DrainsView, RebalanceView
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import (
    NOON,
    join_cells,
    make_broker_poll,
    make_model,
    make_server_poll,
    make_silent_broker,
)

DRAIN = DrainRecord(
    "cluster-a",
    "broker-a",
    "wait",
    NOON - 90_000,
    "me",
    None,
    False,
    1,
    None,
    "wait: puts 12 a minute",
    12,
    NOON - 9_000,
)
A = "10.0.1.1:10911"


def model_of(*drains: DrainRecord) -> ClusterModel:
    return make_model(make_server_poll(), make_broker_poll(A), DrainsPolled(NOON, drains, ["/x: no JSON"]))


def test_a_drain_with_its_phase_and_who_is_at_it() -> None:
    view, model = DrainsView(), model_of(DRAIN)
    [row] = view.build_rows(model)
    assert {column.key: column.render_cell(row).text for column in view.columns} == {
        "broker": "broker-a", "cluster": "cluster-a", "steps": "■■■□□", "phase": "wait",
        "puts": "12 9 s ago", "safe": "–",
        "since": "2 min", "reopened": "1", "by": "me", "at": "not running", "last": "wait: puts 12 a minute",
    }  # fmt: skip
    assert view.render_headline(model)[-1].text == "  /x: no JSON"
    assert (view.row_key(row), view.open_row(row), view.subject_of_row(row).broker_name) == (
        "cluster-a broker-a", DrainLogView("cluster-a", "broker-a"), "broker-a"
    )  # fmt: skip
    assert DrainsView().build_rows(ClusterModel()) == []


def test_a_safe_one_and_one_that_is_being_undone() -> None:
    view = DrainsView()
    safe = msgspec.structs.replace(DRAIN, phase="safe", safe_since=NOON - 30_000, pid=7, puts=0)
    undone = msgspec.structs.replace(DRAIN, phase="undrain")
    first, second = view.build_rows(model_of(safe, undone))
    cells = {column.key: column.render_cell(first).text for column in view.columns}
    assert (cells["steps"], cells["safe"], cells["at"]) == ("■■■■■", "30 s", "pid 7")
    [puts] = [column for column in view.columns if column.key == "puts"]
    assert puts.render_cell(first) == ("0", "good")
    assert puts.render_cell(first._replace(drain=msgspec.structs.replace(safe, puts=3))) == ("3", "warn")
    assert [column.render_cell(second).text for column in view.columns][2:4] == ["", "undoing"]


def test_a_broker_says_that_it_is_drained_unless_worse_is_known() -> None:
    model = model_of(DRAIN)
    assert list_broker_rows(model)[0].state == display_states.DRAINING
    model.apply_poll(DrainsPolled(NOON, [msgspec.structs.replace(DRAIN, phase="safe")]))
    assert list_broker_rows(model)[0].state == display_states.DRAINED
    model.apply_poll(make_silent_broker(A))
    assert list_broker_rows(model)[0].state == display_states.DRAINED
    model.apply_poll(make_silent_broker(A))
    assert list_broker_rows(model)[0].state == display_states.FROZEN
    model.apply_poll(make_broker_poll(A))
    model.apply_poll(DrainsPolled(NOON, [msgspec.structs.replace(DRAIN, phase="undrain")]))
    assert list_broker_rows(model)[0].state == display_states.UP


def test_a_drain_that_no_process_holds_is_red() -> None:
    view = DrainsView()
    held = msgspec.structs.replace(DRAIN, pid=7)
    undone = msgspec.structs.replace(DRAIN, phase="undrain")
    [holder] = [column for column in view.columns if column.key == "at"]
    cells = [holder.render_cell(row) for row in view.build_rows(model_of(DRAIN, held, undone))]
    assert cells == [("not running", "bad"), ("pid 7", ""), ("undoing", "info")]
    found = [view.subject_of_row(row).holder_pid for row in view.build_rows(model_of(DRAIN, held))]
    assert found == [None, 7]


RESTART = RestartRecord(
    "cluster-a", "broker-a (slave 1)", "wait", 1, 3, NOON - 90_000, "me", None, "ssh stop", "ssh start",
    "broker-a (slave 1) is waiting for its registration", ["2026-11-24T10:00:00Z  restarting cluster-a"],
)  # fmt: skip


def test_a_rolling_restart_is_a_job_with_its_progress_and_its_commands() -> None:
    model = make_model(DrainsPolled(NOON, [DRAIN], (), [RESTART]))
    view = DrainsView()
    row, _ = view.build_rows(model)
    assert {column.key: column.render_cell(row).text for column in view.columns} == {
        "broker": "broker-a (slave 1)", "cluster": "cluster-a", "steps": "1/3", "phase": "restart: wait",
        "puts": "", "safe": "", "since": "2 min", "reopened": "", "by": "me", "at": "not running",
        "last": "broker-a (slave 1) is waiting for its registration",
    }  # fmt: skip
    assert (view.row_key(row), view.is_problem(row)) == ("cluster-a restart", True)
    subject = view.subject_of_row(row)
    assert subject.cluster == "cluster-a"
    assert subject.broker_name is None
    assert subject.restart_commands == ("ssh stop", "ssh start")
    log_view = view.open_row(row)
    assert log_view == DrainLogView("cluster-a", None)
    assert log_view.title == "restart of cluster-a"
    assert log_view.draw_lines(model, 80, 5)[0][0].text == "  2026-11-24T10:00:00Z  restarting cluster-a"
    model.apply_poll(DrainsPolled(NOON))
    assert log_view.draw_lines(model, 80, 5)[1][0].text == "  this restart is finished"


def test_the_log_of_a_drain_ends_with_the_last_event_and_wraps() -> None:
    log_lines = [f"2026-11-24T10:00:{second:02}Z  wait: puts {second} a minute" for second in range(30)]
    model = model_of(msgspec.structs.replace(DRAIN, log_lines=log_lines))
    view = DrainLogView("cluster-a", "broker-a")
    assert view.title == "drain of broker-a"
    lines = [join_cells(line) for line in view.draw_lines(model, 100, 10)]
    assert (len(lines), lines[-1]) == (10, f"  {log_lines[-1]}")
    narrow = [join_cells(line) for line in view.draw_lines(model, 44, 10)]
    assert narrow[-2:] == ["  2026-11-24T10:00:29Z  wait: puts 29 a", "      minute"]
    assert "undone" in view.draw_lines(ClusterModel(), 80, 10)[1][0].text


ORDERS = MovingTopicRecord(
    "orders", "closeWrites", 3, 4, NOON - 60_000, {"broker-a": (4, 0), "broker-b": (4, 4)},
    ["group billing to consume 7 messages", "time"],
)  # fmt: skip
WAITING = MovingTopicRecord("parcels", "", 1, 0, NOON, {}, [])
RUN = RebalanceRecord("cluster-a", "abc", "running", NOON - 90_000, "me", 7, 2, None, "/p", [ORDERS, WAITING])
VIEW = RebalanceView("cluster-a", "abc")


def rebalance_model(*rebalances: RebalanceRecord) -> ClusterModel:
    return make_model(DrainsPolled(NOON, rebalances=rebalances))


def test_each_broker_of_a_moving_topic_has_a_row() -> None:
    rows = VIEW.build_rows(rebalance_model(RUN))
    first, second, waiting = rows
    assert {column.key: column.render_cell(first).text for column in VIEW.columns} == {
        "topic": "orders", "broker": "broker-a", "read": "4", "write": "0", "steps": "■■□□",
        "step": "closeWrites", "since": "1 min", "waits": "group billing to consume 7 messages; time",
    }  # fmt: skip
    assert [column.render_cell(second).text for column in VIEW.columns][1:4] == ["broker-b", "4", "4"]
    assert [column.render_cell(waiting).text for column in VIEW.columns][:4] == ["parcels", "", "", ""]
    assert VIEW.open_row(first) == TopicRouteView("orders")
    assert (VIEW.row_key(first), VIEW.subject_of_row(first).topic) == ("orders broker-a", "orders")


def test_the_headline_has_the_counts_and_the_reason_of_a_pause() -> None:
    assert [cell.text for cell in VIEW.render_headline(rebalance_model(RUN))] == [
        "running", "  2 moved, 2 moving  pid 7",
    ]  # fmt: skip
    paused = msgspec.structs.replace(RUN, phase="paused", pid=None, pause="disk full")
    assert [cell.text for cell in VIEW.render_headline(rebalance_model(paused))] == [
        "paused", "  2 moved, 2 moving  not running", "  disk full",
    ]  # fmt: skip
    assert [cell.text for cell in VIEW.render_headline(rebalance_model())] == ["this rebalance is finished"]
    assert VIEW.build_rows(ClusterModel()) == []


def test_a_rebalance_is_a_row_among_the_drains() -> None:
    view = DrainsView()
    [row] = view.build_rows(rebalance_model(RUN))
    assert {column.key: column.render_cell(row).text for column in view.columns} == {
        "broker": "2 topics", "cluster": "cluster-a", "steps": "2 moved", "phase": "rebalance: running",
        "puts": "", "safe": "", "since": "2 min", "reopened": "", "by": "me", "at": "pid 7",
        "last": "orders: group billing to consume 7 messages",
    }  # fmt: skip
    assert view.row_key(row) == "cluster-a rebalance abc"
    assert view.subject_of_row(row).cluster == "cluster-a"
    opened = view.open_row(row)
    assert isinstance(opened, RebalanceView)
    assert opened.cluster_name == "cluster-a"
    assert opened.digest == "abc"
    assert opened.title == "rebalance of cluster-a"
