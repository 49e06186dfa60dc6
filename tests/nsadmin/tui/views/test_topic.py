"""One topic: its route on each name server, its readers, and the way to it."""

from nsadmin.tui.model import Model
from nsadmin.tui.polls import AnyPoll, NameServerPolled, Queues, TopicPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views.group import GroupQueues
from nsadmin.tui.views.topic import Drawn, Readers, Route, TopicHistory
from nsadmin.tui.views.view import Line
from tests.support.screens import NOON, broker, server

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"
A = "10.0.1.1:10911"
ROUTE = {"broker-a": Queues(8, 8, 6)}
POLL = TopicPolled(
    NOON, "orders", {ONE: ROUTE, TWO: {"broker-a": Queues(8, 8, 4)}}, {"10.0.0.3:9876": "closed"}, ["g", "h"],
    {"broker-a": 12.0},
)  # fmt: skip


def model_of(*polls: AnyPoll) -> Model:
    model = Model()
    for poll in (server(ONE), server(TWO), broker(A), *polls):
        model.apply(poll)
    return model


def text(lines: list[Line]) -> str:
    return "\n".join("".join(cell.text for cell in line) for line in lines)


def test_a_route_says_what_each_name_server_has_where_they_differ() -> None:
    view = Route("orders")
    [side] = view.items(model_of(POLL))
    assert [column.cell(side).text for column in view.columns] == [
        "broker-a", "rw-", "8", "8", "12", "there", f"≠ {ONE} rw- 8/8  {TWO} r-- 8/8"
    ]  # fmt: skip
    assert (view.key(side), view.text(side), view.about(side)[0]) == ("broker-a", "broker-a", "broker-a")
    line = "".join(cell.text for cell in view.headline(model_of(POLL)))
    assert line == "known to 2 of 3 name servers  silent: 10.0.0.3:9876  in 12/s"


def test_a_topic_that_one_name_server_does_not_know() -> None:
    model = model_of(TopicPolled(NOON, "orders", {ONE: ROUTE, TWO: None}))
    assert f"not to {TWO}" in "".join(cell.text for cell in Route("orders").headline(model))
    [side] = Route("orders").items(model)
    assert Route("orders").columns[-1].cell(side).text == f"≠ {ONE} rw- 8/8  {TWO} absent"


def test_before_anything_was_told() -> None:
    model = Model()
    for view in (Route("orders"), Readers("orders"), TopicHistory("orders")):
        assert view.items(model) == []
        assert view.questions(model, [], None) == [Question("topic", "orders")]
    assert Route("orders").headline(model)[0].text == "its route is being asked for"
    assert text(Drawn("orders").draw(model, 80, 24)) == " its route is being asked for"


def test_what_no_name_server_tells_is_unknown_and_what_was_told_is_not_equal_any_more() -> None:
    dead = [NameServerPolled(NOON, addr, error="closed") for addr in (ONE, TWO)]
    silent = TopicPolled(NOON, "orders", {}, {ONE: "closed", TWO: "closed"})
    view = Route("orders")
    never = model_of(*dead, silent)
    assert view.headline(never)[0].text == "its route is unknown"
    assert view.nothing(never) == "unknown: no name server tells its route"
    assert Readers("orders").nothing(model_of(*dead)) == "unknown: no name server answers"
    assert view.nothing(model_of()) == "it is being asked for"
    history = TopicHistory("orders")
    assert (history.silence(never), history.nothing(never)) == (None, history.empty)
    told = TopicPolled(NOON, "orders", {ONE: ROUTE, TWO: ROUTE})
    [side] = view.items(model_of(told))
    assert view.columns[-1].cell(side).text == "equal"
    [side] = view.items(model_of(told, *dead, silent))
    assert [view.columns[at].cell(side).text for at in (1, 2, -1)] == ["rw-", "8", "–"]
    [side] = view.items(model_of(TopicPolled(NOON, "orders", {ONE: ROUTE}, {TWO: "closed"})))
    assert view.columns[-1].cell(side).text == "–"


def test_a_rate_of_which_no_master_tells_is_no_zero() -> None:
    model = model_of(TopicPolled(NOON, "orders", {ONE: ROUTE, TWO: ROUTE}, put_tps={}))
    assert Route("orders").headline(model)[-1].text == "–/s"


def test_its_readers_lead_to_their_queues() -> None:
    view = Readers("orders")
    assert view.items(model_of(POLL)) == ["g", "h"]
    assert (view.enter("g"), view.about("g").group) == (GroupQueues("g"), "g")
    assert [tab.name for tab in view.tabs()] == ["route", "groups", "drawn", "producers", "history"]


def test_the_way_from_name_servers_over_brokers_to_readers_is_drawn() -> None:
    assert (
        text(Drawn("orders").draw(model_of(POLL), 80, 40))
        == """
  orders  is known to
   ├─ ● 10.0.0.1:9876  1 brokers, 8 queues
   ├─ ● 10.0.0.2:9876  1 brokers, 8 queues
   └─ ✕ 10.0.0.3:9876  closed

  and lives on
   └─ broker-a             rw- 8/8      12/s  ≠ name servers differ
      └─ ● master   10.0.1.1:10911        up

  is read by
   ├─ g
   └─ h"""
    )
    assert len(Drawn("orders").draw(model_of(POLL), 80, 4)) == 4


def test_its_history() -> None:
    view = TopicHistory("orders")
    model = model_of(server(ONE, topics=()))
    assert [notice.kind for notice in view.items(model)] == ["TopicsChanged"]  # type: ignore[attr-defined]
    assert view.columns[0].key == "time"
