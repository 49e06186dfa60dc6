"""One group: its queues, its members, its lag over time."""

from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import GroupPolled, Lag, Member
from nsadmin.tui.questions import Question
from nsadmin.tui.views.group import GroupQueues, LagGraph, Members
from nsadmin.tui.views.topic import Route
from tests.support.screens import NOON

LAGS = [Lag("orders", "broker-a", 3, 1500, 1000, 20, NOON), Lag("orders", "broker-a", 4, 5, None, None, None)]


def model() -> Model:
    found = Model()
    found.apply(GroupPolled(NOON, "g", 4.0, LAGS, [Member("c", "h:1", "GO", "V5")], "PULL", "CLUSTERING"))
    return found


def test_queues_with_what_is_not_known_of_them(utc: None) -> None:
    view = GroupQueues("g")
    first, second = view.items(model())
    assert [column.cell(first).text for column in view.columns] == [
        "orders", "broker-a", "3", "500", "20", "1500", "1000", "2025-12-31 12:00:00"
    ]  # fmt: skip
    assert [column.cell(second).text for column in view.columns][3:] == ["–", "–", "5", "–", "–"]
    assert (view.key(first), view.enter(first)) == ("orders broker-a 3", Route("orders"))
    assert (view.about(first).topic, view.about(first).group) == ("orders", "g")


def test_members_and_the_line_above() -> None:
    view = Members("g")
    [member] = view.items(model())
    assert [column.cell(member).text for column in view.columns] == ["c", "h:1", "GO", "V5"]
    assert view.key(member) == "c h:1"
    line = "".join(cell.text for cell in view.headline(model()))
    assert line == "behind by 500  1 clients  PULL CLUSTERING"
    assert view.about(member).group == "g"
    assert [tab.name for tab in view.tabs()] == ["queues", "members", "graph"]
    assert view.questions(model(), [], None) == [Question("group", "g")]


def test_what_was_not_told_and_since_when() -> None:
    unknown, failing = Model(), model()
    assert GroupQueues("g").headline(unknown)[0].text == "it is being asked for"
    assert (GroupQueues("g").items(unknown), Members("g").items(unknown)) == ([], [])
    unknown.apply(GroupPolled(NOON, "g", error="nobody knows it"))
    assert GroupQueues("g").headline(unknown)[0].text == "nothing is known of it"
    assert GroupQueues("g").nothing(unknown) == "unknown: nobody knows it"
    failing.apply(GroupPolled(NOON + 1000, "g", error="closed"))
    failing.now = NOON + 6000
    assert GroupQueues("g").silence(failing) == Silence("closed", NOON + 1000)


def test_its_lag_is_drawn_when_there_are_two_looks() -> None:
    found = model()
    assert "two looks" in LagGraph("g").draw(found, 60, 12)[1][0].text
    found.apply(GroupPolled(NOON + 5000, "g", 4.0, LAGS))
    assert "messages behind" in LagGraph("g").draw(found, 60, 12)[0][0].text
    assert LagGraph("nobody").draw(found, 60, 12)
