"""Consumer groups: how far behind, and whether that grows."""

from array import array

from msgspec.structs import replace

from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.model.server_states import LatestAnswer, Silence
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, ClientConnection, GroupPolled, GroupsPolled, QueueLag
from nsadmin.tui.views.groups.group_detail import GroupQueuesView
from nsadmin.tui.views.groups.group_table import GROUP_COLUMNS, GroupRow, GroupsView
from tests.support.screens import NOON, join_cells, make_model


def poll(lag: int, at: int, members: int = 1) -> GroupPolled:
    clients = [ClientConnection(f"c{number}", "h:1", "JAVA", "V5_5_0") for number in range(members)]
    lags = [
        QueueLag("orders", "broker-a", 0, 1000 + lag, 1000, 0, NOON - 60_000),
        QueueLag("orders", "broker-a", 1, 5, None, None, None),
    ]
    return GroupPolled(at, "g", 4.0, lags, clients, "CONSUME_PASSIVELY")


def texts(*polls: AnyPoll) -> dict[str, str]:
    model = make_model(GroupsPolled(NOON, ["g"]), *polls)
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
    model = make_model(GroupsPolled(NOON, ["g"]), poll(5, NOON, members=0))
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
    line = join_cells(view.render_headline(model))
    assert line == "1 group  lag 7  updated 0 s ago  1 broker returned no groups"
    assert view.row_key(row) == "g"
    assert view.filter_text(row) == "g"
    assert view.subject_of_row(row).group == "g"
    assert view.open_row(row) == GroupQueuesView("g")
    assert view.list_queries(model, []) == [DetailQuery("groups")]


def test_groups_of_which_nobody_tells_are_unknown_or_those_of_before() -> None:
    view, model = GroupsView(), ClusterModel()
    assert view.render_headline(model)[0].text == "– groups"
    assert view.empty_message(model) == "the groups are loading"
    assert view.empty_message(ClusterModel(is_replay=True)) == "the groups are not in the recording"
    failed = GroupsPolled(NOON + 1000, (), {"": "no name server answers"})
    model.apply_poll(failed)
    assert (view.render_headline(model)[0].text, view.empty_message(model)) == (
        "– groups", "unknown: no name server answers"
    )  # fmt: skip
    for group_poll in (GroupsPolled(NOON, ["g"]), poll(7, NOON), failed):
        model.apply_poll(group_poll)
    assert join_cells(view.render_headline(model)) == ("1 group  lag 7  updated 1 s ago")
    assert view.find_silence(model) == Silence("no name server answers", NOON + 1000)
    model.apply_poll(GroupsPolled(NOON, []))
    assert view.empty_message(model) == "no broker has a consumer group"


def test_a_lag_that_is_not_known_is_no_zero() -> None:
    model = make_model(GroupsPolled(NOON, ["g"]))
    assert join_cells(GroupsView().render_headline(model)) == ("1 group  lag –  1 not read yet")


def row(lags: list[QueueLag], trend: Trend | None = None) -> GroupRow:
    answer: LatestAnswer[GroupPolled] = LatestAnswer()
    answer.record_answer(GroupPolled(NOON, "g", 4.0, lags))
    return GroupRow("g", answer, trend, NOON)


def test_what_was_not_asked_is_unknown() -> None:
    unasked = GroupRow("g", None, None, NOON)
    assert (unasked.poll, unasked.total_lag, unasked.growth_rate, unasked.delay_ms) == (None,) * 4


def test_queues_without_an_offset_count_for_nothing() -> None:
    group_row = row(
        [
            QueueLag("orders", "broker-a", 0, 1007, 1000, 0, NOON - 60_000),
            QueueLag("orders", "broker-a", 1, 5, None, None, None),
            QueueLag("orders", "broker-a", 2, 5, 5, 0, NOON - 90_000),
        ]
    )
    assert (group_row.total_lag, group_row.delay_ms) == (7, 60_000)
    assert group_row.lag_reason == "no consumer offset on 1 of 3 queues"


def test_an_unknown_lag_is_not_0_and_has_no_trend() -> None:
    assert (row([]).total_lag, row([]).lag_reason) == (None, "no consumer offset")
    broadcasting = row([QueueLag("orders", "broker-a", 0, 1007, 1000, 0, NOON - 60_000, True)])
    assert (broadcasting.total_lag, broadcasting.delay_ms) == (None, None)
    beyond_end = row([QueueLag("orders", "broker-a", 0, 7, 647_260_490, 0, NOON - 60_000)])
    assert (beyond_end.total_lag, beyond_end.lag_reason) == (
        None,
        "the consumer offset is beyond the end of the queue",
    )
    model = make_model(GroupPolled(NOON, "g", 1.0, [QueueLag("orders", "broker-a", 0, 9, 5, 0, None)]))
    assert list(model.lag_trends["g"].values) == [4]
    model.apply_poll(GroupPolled(NOON, "g", 1.0, []))
    assert "g" not in model.lag_trends


def test_growth_is_that_of_the_last_ten_polls() -> None:
    times, values = array("q", range(0, 20_000, 1000)), array("d", [0.0] * 9 + [float(v) for v in range(11)])
    assert row([], Trend(times, values)).growth_rate == 1.0
    assert row([], Trend(times[:1], values[:1])).growth_rate is None
