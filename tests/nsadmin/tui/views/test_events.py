"""What happened, the newest first."""

import pytest

from nsadmin.tui.model import Model
from nsadmin.tui.noticing import Notice
from nsadmin.tui.polls import EventSeen
from nsadmin.tui.views.events import COLUMNS, Events, Object, tone
from nsadmin.tui.views.topic import Route
from tests.support.screens import NOON, broker, server, silent

A = "10.0.1.1:10911"


def model() -> Model:
    found = Model()
    for poll in (
        server(), broker(A), silent(A, NOON + 1),
        EventSeen(NOON + 2, "ns-1", "TopicsChanged", "orders new", ["orders"]),
    ):  # fmt: skip
        found.apply(poll)
    return found


def test_the_newest_comes_first_with_who_says_so() -> None:
    view = Events()
    newest, oldest = view.items(model())
    assert [column.cell(newest).text for column in COLUMNS][1:] == [
        "TopicsChanged",
        "orders new",
        "ns-1",
        "journal",
    ]
    assert [column.cell(oldest).text for column in COLUMNS][1:] == [
        "BrokerSilent", "broker-a 0: no answer within 1 s", A, "polls"
    ]  # fmt: skip
    assert "".join(cell.text for cell in view.headline(model())) == "2 events  1 from journals, 1 from polls"
    assert view.key(newest) != view.key(oldest)
    assert (view.about(oldest).broker_name, view.about(newest).broker_name) == ("broker-a", None)


def test_enter_shows_all_that_happened_to_the_object_and_leads_on_to_a_topic() -> None:
    newest, oldest = Events().items(model())
    about = Events().enter(oldest)
    assert about == Object("broker-a")
    assert isinstance(about, Object)
    [one] = about.items(model())
    assert (about.title, about.key(one), about.enter(one), about.about(one).broker_name) == (
        "broker-a", Events().key(oldest), None, "broker-a"
    )  # fmt: skip
    assert Object("orders").enter(newest) == Route("orders")
    assert Events().enter(newest._replace(names=())) is None


@pytest.mark.parametrize(
    ("kind", "found"),
    [("BrokerGone", "bad"), ("WritePermWiped", "warn"), ("BrokerBack", "good"), ("SettingsChanged", "info")],
)
def test_kinds_have_a_tone(kind: str, found: str) -> None:
    assert tone(Notice(0, "", kind, "")) == found
