"""Many events of one kind within a short time are one row."""

from nsadmin.tui.model.change_detection import ChangeNotice
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation.view_links import open_target
from nsadmin.tui.views.event_storms import EventStorm, collapse_storms
from nsadmin.tui.views.events import EVENT_COLUMNS, EventsView, StormEventsView
from tests.support.screens import NOON


def notice(at_seconds: float, kind: str, name: str, addr: str = "10.0.0.1:9876") -> ChangeNotice:
    return ChangeNotice(NOON + int(at_seconds * 1000), addr, kind, f"{name} is gone", (name,), False)


def test_a_storm_is_one_row_with_its_number_and_the_first_names(utc: None) -> None:
    gone = [notice(second, "BrokerGone", f"broker-{second}") for second in range(8)]
    other = notice(3.5, "TopicAdded", "orders")
    rows = collapse_storms(sorted([*gone, other], key=lambda one: -one.at_ms))
    storm, single = rows
    assert single == other
    assert isinstance(storm, EventStorm)
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
    assert (row.server_addr, view.is_problem(row), view.row_key(row)) == (
        "3 servers",
        True,
        f"storm BrokerUnregistered {NOON}",
    )
    target = view.open_row(row)
    assert target is not None
    opened = open_target(target)
    assert isinstance(opened, StormEventsView)
    assert [event_row.at_ms - NOON for event_row in opened.build_rows(model)] == [500, 400, 300, 200, 100, 0]
