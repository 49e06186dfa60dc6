"""Who could send to a topic."""

from nsadmin.tui.model import Model
from nsadmin.tui.polls import AnyPoll, ConnectionsPolled, Member, Queues, TopicPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views.topic import Route
from nsadmin.tui.views.topic_producers import TopicProducers
from tests.support.screens import NOON, server

A, B, SLAVE = "10.0.1.1:10911", "10.0.2.1:10911", "10.0.1.2:10911"
ONE, TWO = Member("client-1", "10.9.0.1:5000", "JAVA", "V5_5_0"), Member("client-2", "", "GO", "")


def model_of(*connections: ConnectionsPolled) -> Model:
    model = Model()
    queues = Queues(8, 8, 6)
    routes = {"10.0.0.1:9876": {"broker-a": queues, "broker-b": queues}}
    polls: list[AnyPoll] = [
        server(groups={"broker-a": {0: A, 1: SLAVE}, "broker-b": {0: B}}),
        TopicPolled(NOON, "orders", routes),
        *connections,
    ]
    for poll in polls:
        model.apply(poll)
    return model


def test_the_masters_of_a_topic_are_asked_and_their_answers_are_one() -> None:
    view = TopicProducers("orders")
    model = model_of(
        ConnectionsPolled(NOON, A, {"web": [ONE], "batch": [TWO]}),
        ConnectionsPolled(NOON, B, {"web": [ONE]}),
    )
    assert view.questions(model, (), None) == [
        Question("topic", "orders"), Question("connections", A), Question("connections", B),
    ]  # fmt: skip
    rows = view.items(model)
    assert [[column.cell(row).text for column in view.columns] for row in rows] == [
        ["batch", "client-2", "1", "", "GO", ""],
        ["web", "client-1", "2", "10.9.0.1:5000", "JAVA", "V5_5_0"],
    ]
    assert [view.key(row) for row in rows] == ["batch client-2", "web client-1"]


def test_a_master_that_does_not_tell_is_named() -> None:
    view = TopicProducers("orders")
    model = model_of(ConnectionsPolled(NOON, A, None, "no permission"))
    assert view.items(model) == []
    assert "".join(cell.text for cell in view.headline(model)).endswith("not told by broker-a")
    assert view.items(Model()) == []


def test_it_is_a_tab_of_a_topic() -> None:
    assert Route("orders").tabs()[3] == TopicProducers("orders")
