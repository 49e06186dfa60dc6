"""What happened, the newest first."""

import pytest

from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import EventSeen
from nsadmin.tui.views.events import (
    EVENT_COLUMNS,
    EventsView,
    ObjectEventsView,
    StormEventsView,
    collapse_storms,
    notice_tone,
)
from nsadmin.tui.views.topics.topic_detail import TopicRouteView
from tests.support.screens import NOON, join_cells, make_broker_poll, make_server_poll, make_silent_broker

A = "10.0.1.1:10911"


def model() -> ClusterModel:
    model = ClusterModel()
    for poll in (
        make_server_poll(), make_broker_poll(A), make_silent_broker(A, NOON + 1),
        EventSeen(NOON + 2, "ns-1", "TopicsChanged", "orders new", ["orders"]),
    ):  # fmt: skip
        model.apply_poll(poll)
    return model


def test_the_newest_comes_first_with_who_says_so() -> None:
    view = EventsView()
    newest, oldest = view.build_rows(model())
    found = [column.render_cell(newest).text for column in EVENT_COLUMNS][1:]
    assert found == ["TopicsChanged", "orders new", "ns-1", "journal"]
    assert [column.render_cell(oldest).text for column in EVENT_COLUMNS][1:] == [
        "BrokerSilent", "broker-a 0: no answer within 1 s", A, "polls"
    ]  # fmt: skip
    assert join_cells(view.render_headline(model())) == "2 events  1 from journals, 1 from polls"
    assert view.row_key(newest) != view.row_key(oldest)
    assert view.subject_of_row(oldest).broker_name == "broker-a"
    assert view.subject_of_row(newest).broker_name is None


def test_enter_shows_all_that_happened_to_the_object_and_leads_on_to_a_topic() -> None:
    newest, oldest = EventsView().build_rows(model())
    assert isinstance(newest, ChangeNotice)
    target = EventsView().open_row(oldest)
    assert target is not None
    about = target
    assert about == ObjectEventsView("broker-a")
    assert isinstance(about, ObjectEventsView)
    [row] = about.build_rows(model())
    assert (about.title, about.row_key(row), about.open_row(row),
    about.subject_of_row(row).broker_name) == (
        "broker-a", EventsView().row_key(oldest), None, "broker-a"
    )  # fmt: skip
    topic = ObjectEventsView("orders").open_row(newest)
    assert topic is not None
    assert topic == TopicRouteView("orders")
    assert EventsView().open_row(newest._replace(object_names=())) is None


@pytest.mark.parametrize(
    ("kind", "found"),
    [("BrokerGone", "bad"), ("WritePermWiped", "warn"), ("BrokerBack", "good"), ("SettingsChanged", "info")],
)
def test_kinds_have_a_tone(kind: str, found: str) -> None:
    assert notice_tone(ChangeNotice(0, "", kind, "")) == found


def notice(at_seconds: float, kind: str, name: str, addr: str = "10.0.0.1:9876") -> ChangeNotice:
    return ChangeNotice(NOON + int(at_seconds * 1000), addr, kind, f"{name} is gone", (name,), False)


def test_a_storm_is_one_row_with_its_number_and_the_first_names(utc: None) -> None:
    gone = [notice(second, "BrokerGone", f"broker-{second}") for second in range(8)]
    other = notice(3.5, "TopicAdded", "orders")
    rows = collapse_storms(sorted([*gone, other], key=lambda one: -one.at_ms))
    storm, single = rows
    assert single == other
    assert storm.storm_begin_ms == NOON
    assert [column.render_cell(storm).text for column in EVENT_COLUMNS] == [
        "12:00:07", "BrokerGone", "8 events within 7 s: broker-0, broker-1, broker-2 and 5 more",
        "10.0.0.1:9876", "polls",
    ]  # fmt: skip


def test_few_events_and_events_long_apart_stay_rows() -> None:
    few = [notice(-second, "BrokerGone", "a") for second in range(4)]
    assert collapse_storms(few) == few
    apart = [notice(-40 * number, "BrokerGone", "a") for number in range(9)]
    assert collapse_storms(apart) == apart


def test_events_of_several_servers_are_one_storm_and_enter_shows_each() -> None:
    model = ClusterModel()
    model.notices.extend(
        notice(number / 10, "BrokerUnregistered", "broker-a", f"10.0.0.{number % 3}:9876")
        for number in range(6)
    )
    view = EventsView()
    [row] = view.build_rows(model)
    assert row.server_addr == "3 servers"
    assert view.is_problem(row) is True
    assert view.row_key(row) == f"storm BrokerUnregistered {NOON}"
    target = view.open_row(row)
    assert target is not None
    opened = target
    assert isinstance(opened, StormEventsView)
    assert [event_row.at_ms - NOON for event_row in opened.build_rows(model)] == [500, 400, 300, 200, 100, 0]
