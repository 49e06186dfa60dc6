"""One broker: its tabs."""

import pytest

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerTopicsPolled,
    ClientConnection,
    ConfigPolled,
    ConnectionsPolled,
    QueueCounts,
    ReplicasPolled,
    SlaveDifferenceRecord,
    SlaveRecord,
)
from nsadmin.tui.views.brokers.broker_detail import (
    BrokerConfigView,
    BrokerDetailView,
    BrokerFiguresView,
    BrokerHistoryView,
    BrokerProducersView,
    BrokerSummaryView,
    BrokerTopicsView,
    ReplicaDifferencesView,
)
from nsadmin.tui.views.groups.group_detail import GroupQueuesView
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import (
    NOON,
    join_cells,
    join_lines,
    make_broker_poll,
    make_model,
    make_server_poll,
    make_silent_broker,
)

A, B, C = (f"10.0.1.{number}:10911" for number in (1, 2, 3))
PLACE = ("broker-a", 0, A, "cluster-a")


def model_of(*polls: AnyPoll) -> ClusterModel:
    return make_model(
        make_server_poll(groups={"broker-a": {0: A, 1: C}, "broker-b": {0: B}}),
        make_broker_poll(A),
        make_broker_poll(B),
        make_broker_poll(C),
        *polls,
    )


def test_a_broker_has_seven_tabs_about_the_same() -> None:
    tabs = BrokerFiguresView(*PLACE).list_tabs()
    assert [tab.name for tab in tabs] == [
        "summary", "figures", "config", "topics", "producers", "replicas", "history"
    ]  # fmt: skip
    assert {tab.title for tab in tabs} == {"broker-a master"}
    assert BrokerFiguresView("broker-a", 2, C, "cluster-a").title == "broker-a slave 2"


def test_figures_stay_while_it_is_silent_and_say_how_old_they_are() -> None:
    model = model_of(make_silent_broker(A, NOON + 1_000), make_silent_broker(A, NOON + 4_000))
    model.now_ms = NOON + 61_000
    view = BrokerFiguresView(*PLACE)
    line = join_cells(view.render_headline(model))
    assert (
        line
        == f"● up  cluster-a  {A}".replace("● up", "◐ frozen")
        + "  no answer within 1 s  these figures are 1 min old"
    )
    assert "putTps" in [figure.figure_key for figure in view.build_rows(model)]
    assert view.row_key(view.build_rows(model)[0])


def test_a_broker_that_is_not_known_any_more() -> None:
    view = BrokerFiguresView("nobody", 0, "h:1", "c")
    assert view.build_rows(ClusterModel()) == []
    assert view.render_headline(ClusterModel())[0].text == "no name server lists h:1 any more"


@pytest.mark.parametrize(
    ("kind", "what", "failed", "told", "empty"),
    [
        (
            BrokerConfigView,
            "settings",
            ConfigPolled(NOON, A, None, "closed"),
            ConfigPolled(NOON, A, {}),
            "the broker returned no settings",
        ),
        (
            BrokerTopicsView,
            "topics",
            BrokerTopicsPolled(NOON, A, None, "closed"),
            BrokerTopicsPolled(NOON, A, {}),
            "the broker has no topics",
        ),
        (
            BrokerProducersView,
            "producers",
            ConnectionsPolled(NOON, A, None, "closed"),
            ConnectionsPolled(NOON, A, {}),
            "no producer is connected",
        ),
    ],
)
def test_a_tab_says_why_it_is_empty(
    kind: type[BrokerDetailView], what: str, failed: AnyPoll, told: AnyPoll, empty: str
) -> None:
    view = kind(*PLACE)
    assert view.empty_message(model_of()) == f"the {what} are loading"
    assert view.empty_message(ClusterModel(is_replay=True)) == f"the {what} are not in the recording"
    assert view.empty_message(model_of(failed)) == "unknown: closed"
    assert view.empty_message(model_of(told)) == empty


def test_its_topics_lead_to_their_routes() -> None:
    view = BrokerTopicsView(*PLACE)
    model = model_of(BrokerTopicsPolled(NOON, A, {"orders": QueueCounts(8, 4, 6)}))
    [topic] = view.build_rows(model)
    assert [column.render_cell(topic).text for column in view.columns] == ["orders", "rw-", "4", "8"]
    assert view.open_row(topic) == TopicRouteView("orders")
    assert view.subject_of_row(topic).topic == "orders"
    assert view.subject_of_row(topic).broker_name == "broker-a"
    assert view.list_queries(model, []) == [DetailQuery("brokerTopics", A)]
    assert BrokerTopicsView("b", 0, "h:1", "c").build_rows(model) == []


def test_its_producers() -> None:
    view = BrokerProducersView(*PLACE)
    model = model_of(ConnectionsPolled(NOON, A, {"g": [ClientConnection("id@1", "h:1", "JAVA", "V5_5_0")]}))
    [row] = view.build_rows(model)
    assert [column.render_cell(row).text for column in view.columns] == ["g", "id@1", "h:1", "JAVA", "V5_5_0"]
    assert view.row_key(row) == "g id@1 h:1"
    assert view.list_queries(model, []) == [DetailQuery("connections", A)]


def test_its_history() -> None:
    view = BrokerHistoryView(*PLACE)
    model = model_of(
        make_silent_broker(A, NOON + 1), make_broker_poll(A, NOON + 2), make_silent_broker(B, NOON + 3)
    )
    assert [notice.event_kind for notice in view.build_rows(model)] == ["BrokerAnswers", "BrokerSilent"]
    assert [column.key for column in view.columns][:2] == ["time", "kind"]


def model() -> ClusterModel:
    return make_model(
        make_server_poll(),
        make_broker_poll(A),
        make_broker_poll(A, NOON + 5000, putTps="300 1 1", commitLogDiskRatio="0.91"),
    )


def test_figures_come_first_with_their_tones_and_the_traffic_below() -> None:
    lines = BrokerSummaryView(*PLACE).draw_lines(model(), 100, 40)
    summary = join_lines(lines)
    assert "state       ● up" in summary
    assert "messages per second  ━━ in 300  ━━ out 200" in summary
    [disk] = [cell for line in lines for cell in line if "91%" in cell.text]
    assert disk.tone == "bad"
    assert len(lines) <= 40


def test_a_low_screen_has_no_graph_and_a_broker_that_is_gone_says_so() -> None:
    lines = BrokerSummaryView(*PLACE).draw_lines(model(), 60, 12)
    assert len(lines) == 12
    assert "per second" not in join_lines(lines)
    gone = BrokerSummaryView("broker-z", 0, "h:1", "c").draw_lines(model(), 60, 12)
    assert "no name server lists h:1 any more" in join_lines(gone)


def test_polls_without_a_figure_are_no_points_of_the_graph() -> None:
    known = make_model(make_server_poll(), make_broker_poll(A, putTps=""), make_broker_poll(A, NOON + 5000))
    assert "━━ out 200" in join_lines(BrokerSummaryView(*PLACE).draw_lines(known, 100, 40))


def test_settings_that_differ_from_the_default_and_from_peers_are_marked_and_come_first() -> None:
    own = {
        "brokerName": "broker-a",
        "flushDiskType": "SYNC_FLUSH",
        "registerNameServerPeriod": "30000",
        "x": "1",
    }
    model = model_of(
        ConfigPolled(NOON, A, own), ConfigPolled(NOON, B, {**own, "brokerName": "broker-b", "x": "2"})
    )
    view = BrokerConfigView(*PLACE)
    settings_by_name = {setting.setting_name: setting for setting in view.build_rows(model)}
    assert settings_by_name["flushDiskType"].is_changed
    assert not settings_by_name["registerNameServerPeriod"].is_changed
    assert settings_by_name["x"].differing_peers == ("broker-b:0",)
    assert settings_by_name["brokerName"].differing_peers == ()
    marks = {
        setting.setting_name: view.columns[2].render_cell(setting).text for setting in view.build_rows(model)
    }
    assert marks == {"brokerName": " ", "flushDiskType": " *", "registerNameServerPeriod": " ", "x": "≠"}
    order = sorted(view.build_rows(model), key=view.columns[2].read)
    assert [setting.setting_name for setting in order][:2] == ["x", "flushDiskType"]
    assert view.subject_of_row(settings_by_name["x"])._replace(
        broker_name=None, broker_addr=None, cluster=None
    ) == RowSubject(key="x", value="1")
    assert view.list_queries(model, []) == [DetailQuery("config", A), DetailQuery("config", B)]
    assert view.row_key(settings_by_name["x"]) == "x"


def test_settings_that_were_not_told_are_none() -> None:
    assert BrokerConfigView(*PLACE).build_rows(model_of(ConfigPolled(NOON, A, None, "closed"))) == []


TOPIC = SlaveDifferenceRecord("topic", "orders", "drift", "missing on the slave", "same version", NOON)
OFFSET = SlaveDifferenceRecord("offset", "orders@G", "lag", "6 messages behind", "may copy", NOON - 30_000)
GROUP = SlaveDifferenceRecord("group", "G", "lag", "missing on the slave", "may copy", NOON)
DRIFTED = SlaveRecord("broker-a", 1, "drift", 1, 7, None, [TOPIC, OFFSET])
LAGGING = SlaveRecord("broker-a", 2, "lag", 0, 1, None, [GROUP])
OTHER = SlaveRecord("broker-b", 1, "drift", 1, 0, None, [TOPIC])
MASTER = ReplicaDifferencesView("broker-a", 0, "10.0.1.1:10911", "cluster-a")
SLAVE = ReplicaDifferencesView("broker-a", 1, "10.0.1.2:10911", "cluster-a")


def compared_model(*slaves: SlaveRecord) -> ClusterModel:
    model = make_model(
        make_server_poll(at=NOON, groups={"broker-a": {0: MASTER.key.addr, 1: SLAVE.key.addr}}),
        make_broker_poll(MASTER.key.addr),
        make_broker_poll(SLAVE.key.addr),
        ReplicasPolled(NOON, slaves),
    )
    model.now_ms = NOON + 12_000
    return model


def compared_headline(view: ReplicaDifferencesView, *slaves: SlaveRecord) -> list[str]:
    return [cell.text.strip() for cell in view.render_headline(compared_model(*slaves))][2:]


def test_a_slave_has_its_own_differences_and_its_master_those_of_all_slaves() -> None:
    model = compared_model(DRIFTED, LAGGING, OTHER)
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
    assert [MASTER.open_row(row) for row in MASTER.build_rows(compared_model(DRIFTED, LAGGING))] == [
        TopicRouteView("orders"), None, GroupQueuesView("G"),
    ]  # fmt: skip


def test_the_headline_has_the_counts_and_the_age_of_the_comparison() -> None:
    found = compared_headline(SLAVE, DRIFTED, LAGGING)
    assert found == ["1 drift", "7 lag", "6 not shown", "compared 12 s ago"]
    unread = SlaveRecord("broker-a", 2, "unknown", error="closed")
    assert compared_headline(MASTER, unread) == ["0 drift", "0 lag", "compared 12 s ago", "slave 2: closed"]
    assert compared_headline(SLAVE, OTHER) == []


def test_without_rows_the_screen_says_why() -> None:
    assert SLAVE.empty_message(ClusterModel()) == "the comparison is loading"
    assert SLAVE.empty_message(ClusterModel(is_replay=True)) == "the comparison is not in the recording"
    equal = SlaveRecord("broker-a", 1, "equal")
    # Bytes of the commit log are not compared here.
    for view in (SLAVE, MASTER):
        found = view.empty_message(compared_model(equal))
        assert found == "no difference in topics, groups, offsets and settings"
    assert SLAVE.empty_message(compared_model(OTHER)) == "the slave was not compared yet"
    assert MASTER.empty_message(compared_model(OTHER)) == "the broker has no slaves"
    unread = SlaveRecord("broker-a", 1, "unknown", error="closed")
    assert SLAVE.empty_message(compared_model(unread)) == "unknown: closed"
