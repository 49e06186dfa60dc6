"""Consumer groups: how far behind, and whether that grows."""

from msgspec.structs import replace

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.navigation.view_links import open_target
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, ClientConnection, GroupPolled, GroupsPolled, QueueLag
from nsadmin.tui.views.groups.group_detail import GroupQueuesView
from nsadmin.tui.views.groups.group_table import GROUP_COLUMNS, GroupsView
from tests.support.screens import NOON


def poll(lag: int, at: int, members: int = 1) -> GroupPolled:
    clients = [ClientConnection(f"c{number}", "h:1", "JAVA", "V5_5_0") for number in range(members)]
    lags = [
        QueueLag("orders", "broker-a", 0, 1000 + lag, 1000, 0, NOON - 60_000),
        QueueLag("orders", "broker-a", 1, 5, None, None, None),
    ]
    return GroupPolled(at, "g", 4.0, lags, clients, "CONSUME_PASSIVELY")


def texts(*polls: AnyPoll) -> dict[str, str]:
    model = ClusterModel()
    for group_poll in (GroupsPolled(NOON, ["g"]), *polls):
        model.apply_poll(group_poll)
    [row] = GroupsView().build_rows(model)
    return {column.key: column.render_cell(row).text for column in GROUP_COLUMNS}


def test_a_group_that_was_not_asked_yet_is_no_zero() -> None:
    assert set(texts().values()) == {"g", "–", ""}


def test_lag_clients_and_the_age_of_what_waits() -> None:
    assert texts(poll(20_000, NOON)) == {
        "group": "g", "members": "1", "lag": "20.0k", "trend": "           ▇", "growth": "",
        "catchUp": "", "delay": "1 min",
        "tps": "4.0", "topics": "1", "type": "CONSUME_PASSIVELY",
    }  # fmt: skip


def test_whether_it_falls_behind() -> None:
    assert texts(poll(100, NOON), poll(200, NOON + 10_000))["growth"] == "↑ 10/s"
    assert texts(poll(200, NOON), poll(100, NOON + 10_000))["growth"] == "↓ 10/s"
    assert texts(poll(100, NOON), poll(100, NOON + 10_000))["growth"] == "→"


def test_the_time_to_catch_up_at_the_present_trend() -> None:
    assert texts(poll(200, NOON), poll(100, NOON + 10_000))["catchUp"] == "in 10 s"
    assert texts(poll(100, NOON), poll(200, NOON + 10_000))["catchUp"] == "never"
    assert texts(poll(100, NOON), poll(0, NOON + 10_000))["catchUp"] == ""


def test_messages_that_nobody_reads_are_bad() -> None:
    model = ClusterModel()
    model.apply_poll(GroupsPolled(NOON, ["g"]))
    model.apply_poll(poll(5, NOON, members=0))
    [row] = GroupsView().build_rows(model)
    assert GROUP_COLUMNS[1].render_cell(row) == ("0", "bad")


def test_clients_are_unknown_if_a_broker_returned_progress_but_no_connections() -> None:
    silent = {"10.0.1.2:10911": "closed"}
    assert texts(replace(poll(5, NOON, members=0), unreported=silent))["members"] == "–"
    assert texts(replace(poll(5, NOON, members=2), unreported=silent))["members"] == "2+"


def test_the_view() -> None:
    model = ClusterModel()
    assert GroupsView().build_rows(model) == []
    model.apply_poll(GroupsPolled(NOON, ["g"], {"10.0.1.1:10911": "closed"}))
    model.apply_poll(poll(7, NOON))
    view = GroupsView()
    [row] = view.build_rows(model)
    line = "".join(cell.text for cell in view.render_headline(model))
    assert line == "1 group  backlog 7  updated 0 s ago  1 brokers returned no groups"
    assert (
        view.row_key(row),
        view.filter_text(row),
        view.subject_of_row(row).group,
        open_target(view.open_row(row)),
    ) == (
        "g",
        "g",
        "g",
        GroupQueuesView("g"),
    )
    assert view.list_queries(model, [], None) == [DetailQuery("groups")]


def test_groups_of_which_nobody_tells_are_unknown_or_those_of_before() -> None:
    view, model = GroupsView(), ClusterModel()
    assert (view.render_headline(model)[0].text, view.empty_message(model)) == (
        "– groups",
        "the groups are loading",
    )
    assert view.empty_message(ClusterModel(is_replay=True)) == "the groups are not in the recording"
    failed = GroupsPolled(NOON + 1000, (), {"": "no name server answers"})
    model.apply_poll(failed)
    assert (view.render_headline(model)[0].text, view.empty_message(model)) == (
        "– groups", "unknown: no name server answers"
    )  # fmt: skip
    for group_poll in (GroupsPolled(NOON, ["g"]), poll(7, NOON), failed):
        model.apply_poll(group_poll)
    assert "".join(cell.text for cell in view.render_headline(model)) == (
        "1 group  backlog 7  updated 1 s ago"
    )
    assert view.find_silence(model) == Silence("no name server answers", NOON + 1000)
    model.apply_poll(GroupsPolled(NOON, []))
    assert view.empty_message(model) == "no broker has a consumer group"


def test_a_lag_that_is_not_known_is_no_zero() -> None:
    model = ClusterModel()
    model.apply_poll(GroupsPolled(NOON, ["g"]))
    assert "".join(cell.text for cell in GroupsView().render_headline(model)) == (
        "1 group  backlog –  1 not read yet"
    )
