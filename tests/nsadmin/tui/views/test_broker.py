"""One broker: its tabs."""

import pytest

from nsadmin.tui.model import Model
from nsadmin.tui.polls import AnyPoll, BrokerTopicsPolled, ConfigPolled, ConnectionsPolled, Member, Queues
from nsadmin.tui.questions import Question
from nsadmin.tui.views.broker import AskedFor, BrokerTopics, Config, Figures, History, ProducersOf
from nsadmin.tui.views.topic import Route
from tests.support.screens import NOON, broker, server, silent

A, B, C = (f"10.0.1.{number}:10911" for number in (1, 2, 3))
PLACE = ("broker-a", 0, A, "cluster-a")


def model_of(*polls: AnyPoll) -> Model:
    model = Model()
    model.apply(server(groups={"broker-a": {0: A, 1: C}, "broker-b": {0: B}}))
    for poll in (broker(A), broker(B), broker(C), *polls):
        model.apply(poll)
    return model


def test_a_broker_has_five_tabs_about_the_same() -> None:
    tabs = Figures(*PLACE).tabs()
    assert [tab.name for tab in tabs] == ["figures", "config", "topics", "producers", "history"]
    assert {tab.title for tab in tabs} == {"broker-a master"}
    assert Figures("broker-a", 2, C, "cluster-a").title == "broker-a slave 2"


def test_figures_stay_while_it_is_silent_and_say_how_old_they_are() -> None:
    model = model_of(silent(A, NOON + 1_000))
    model.now = NOON + 61_000
    view = Figures(*PLACE)
    line = "".join(cell.text for cell in view.headline(model))
    assert (
        line
        == f"● up  cluster-a  {A}".replace("● up", "◐ frozen")
        + "  no answer within 1 s  these figures are 1 min old"
    )
    assert "putTps" in [figure.key for figure in view.items(model)]
    assert view.key(view.items(model)[0])


def test_a_broker_that_is_not_known_any_more() -> None:
    view = Figures("nobody", 0, "h:1", "c")
    assert view.items(Model()) == []
    assert view.headline(Model())[0].text == "h:1 is not there any more"


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
    view = Config(*PLACE)
    found = {setting.key: setting for setting in view.items(model)}
    assert found["flushDiskType"].is_own
    assert not found["registerNameServerPeriod"].is_own
    assert (found["x"].peers, found["brokerName"].peers) == (("broker-b:0",), ())
    marks = {setting.key: view.columns[2].cell(setting).text for setting in view.items(model)}
    assert marks == {"brokerName": " ", "flushDiskType": " *", "registerNameServerPeriod": " ", "x": "≠"}
    order = sorted(view.items(model), key=view.columns[2].value)
    assert [setting.key for setting in order][:2] == ["x", "flushDiskType"]
    assert view.about(found["x"])[-3:] == ("x", "1", None)
    assert view.questions(model, [], None) == [Question("config", A), Question("config", B)]
    assert view.key(found["x"]) == "x"


def test_settings_that_were_not_told_are_none() -> None:
    assert Config(*PLACE).items(model_of(ConfigPolled(NOON, A, None, "closed"))) == []


@pytest.mark.parametrize(
    ("kind", "what", "failed", "told", "empty"),
    [
        (
            Config,
            "settings",
            ConfigPolled(NOON, A, None, "closed"),
            ConfigPolled(NOON, A, {}),
            "it has told none",
        ),
        (
            BrokerTopics,
            "topics",
            BrokerTopicsPolled(NOON, A, None, "closed"),
            BrokerTopicsPolled(NOON, A, {}),
            "it has none",
        ),
        (
            ProducersOf,
            "producers",
            ConnectionsPolled(NOON, A, None, "closed"),
            ConnectionsPolled(NOON, A, {}),
            "nobody is connected",
        ),
    ],
)
def test_a_tab_says_why_it_is_empty(
    kind: type[AskedFor], what: str, failed: AnyPoll, told: AnyPoll, empty: str
) -> None:
    view = kind(*PLACE)
    assert view.nothing(model_of()) == f"its {what} are being asked for"
    assert view.nothing(Model(is_played=True)) == f"its {what} are not recorded"
    assert view.nothing(model_of(failed)) == "unknown: closed"
    assert view.nothing(model_of(told)) == empty


def test_its_topics_lead_to_their_routes() -> None:
    view = BrokerTopics(*PLACE)
    model = model_of(BrokerTopicsPolled(NOON, A, {"orders": Queues(8, 4, 6)}))
    [topic] = view.items(model)
    assert [column.cell(topic).text for column in view.columns] == ["orders", "rw-", "4", "8"]
    assert view.enter(topic) == Route("orders")
    assert (view.about(topic).topic, view.about(topic).broker_name) == ("orders", "broker-a")
    assert view.questions(model, [], None) == [Question("brokerTopics", A)]
    assert BrokerTopics("b", 0, "h:1", "c").items(model) == []


def test_its_producers() -> None:
    view = ProducersOf(*PLACE)
    model = model_of(ConnectionsPolled(NOON, A, {"g": [Member("id@1", "h:1", "JAVA", "V5_5_0")]}))
    [one] = view.items(model)
    assert [column.cell(one).text for column in view.columns] == ["g", "id@1", "h:1", "JAVA", "V5_5_0"]
    assert (view.key(one), view.questions(model, [], None)) == ("g id@1 h:1", [Question("connections", A)])


def test_its_history() -> None:
    view = History(*PLACE)
    model = model_of(silent(A, NOON + 1), broker(A, NOON + 2), silent(B, NOON + 3))
    assert [notice.kind for notice in view.items(model)] == ["BrokerAnswers", "BrokerSilent"]  # type: ignore[attr-defined]
    assert [column.key for column in view.columns][:2] == ["time", "kind"]
