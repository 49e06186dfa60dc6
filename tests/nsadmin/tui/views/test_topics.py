"""The list of topics: what is known beside a name, and for how many of them it is asked."""

from nsadmin.tui.model import Model, Silence
from nsadmin.tui.polls import AnyPoll, NameServerPolled, Queues, TopicPolled
from nsadmin.tui.questions import Question
from nsadmin.tui.views.topic import Route
from nsadmin.tui.views.topics import COLUMNS, Topics, kind_of
from tests.support.screens import NOON, server

ONE, TWO = "10.0.0.1:9876", "10.0.0.2:9876"


def model_of(*polls: AnyPoll) -> Model:
    model = Model()
    for poll in (
        server(ONE, topics=("orders", "%RETRY%g", "TBW102")),
        server(TWO, topics=("orders",)),
        *polls,
    ):
        model.apply(poll)
    return model


def texts(model: Model, name: str) -> dict[str, str]:
    [row] = [row for row in Topics().items(model) if row.name == name]
    return {column.key: column.cell(row).text for column in COLUMNS}


def test_a_name_alone_is_no_zero() -> None:
    assert texts(model_of(), "%RETRY%g") == {
        "topic": "%RETRY%g", "kind": "retry", "known": "1/2", "brokers": "–", "queues": "–", "perm": "–",
        "same": "", "rate": "–",
    }  # fmt: skip


def test_a_route_that_all_tell_alike_and_one_that_they_do_not() -> None:
    route = {"broker-a": Queues(8, 8, 6), "broker-b": Queues(8, 4, 4)}
    equal = model_of(TopicPolled(NOON, "orders", {ONE: route, TWO: route}, put_tps={"broker-a": 1.5}))
    assert texts(equal, "orders") == {
        "topic": "orders", "kind": "", "known": "2/2", "brokers": "2", "queues": "12", "perm": "r--/rw-",
        "same": "equal", "rate": "1.5",
    }  # fmt: skip
    assert texts(model_of(TopicPolled(NOON, "orders", {ONE: route, TWO: None})), "orders")["same"] == "≠"
    assert texts(model_of(TopicPolled(NOON, "orders", {ONE: None, TWO: None})), "orders")["perm"] == "none"


def test_what_no_name_server_tells_is_neither_none_nor_equal() -> None:
    route = {"broker-a": Queues(8, 8, 6)}
    before = TopicPolled(NOON, "orders", {ONE: route, TWO: route}, put_tps={"broker-a": 1.5})
    never = TopicPolled(NOON, "%RETRY%g", {}, {ONE: "closed", TWO: "closed"})
    dead = [NameServerPolled(NOON, addr, error="closed") for addr in (ONE, TWO)]
    model = model_of(before, *dead, never, TopicPolled(NOON, "orders", {}, {ONE: "closed", TWO: "closed"}))
    assert texts(model, "orders") == {
        "topic": "orders", "kind": "", "known": "–", "brokers": "1", "queues": "8", "perm": "rw-",
        "same": "–", "rate": "1.5",
    }  # fmt: skip
    assert texts(model, "%RETRY%g") == {
        "topic": "%RETRY%g", "kind": "retry", "known": "–", "brokers": "–", "queues": "–", "perm": "–",
        "same": "–", "rate": "–",
    }  # fmt: skip
    view = Topics()
    assert view.silence(model) == Silence("no name server answers", NOON)
    nobody = Model([ONE])
    nobody.apply(NameServerPolled(NOON, ONE, error="closed"))
    assert view.headline(nobody)[0].text == "– topics"
    assert view.nothing(nobody) == "unknown: no name server answers"


def test_one_name_server_alone_is_equal_to_nobody() -> None:
    route = {"broker-a": Queues(8, 8, 6)}
    model = model_of(TopicPolled(NOON, "orders", {ONE: route}, {TWO: "closed"}, put_tps={}))
    assert (texts(model, "orders")["same"], texts(model, "orders")["rate"]) == ("–", "–")


def test_kinds_are_told_by_the_name() -> None:
    names = ("%DLQ%g", "%RETRY%g", "TBW102", "rmq_sys_wheel_timer", "orders")
    assert [kind_of(name) for name in names] == ["dead letters", "retry", "system", "system", ""]


def test_only_what_is_to_be_seen_is_asked_and_the_row_of_the_cursor_first() -> None:
    model = Model()
    model.apply(server(topics=tuple(f"t{number:05}" for number in range(20_000))))
    view = Topics()
    found = view.items(model)
    asked = view.questions(model, found[:100], found[50])
    assert (len(asked), asked[0], asked[1]) == (
        60,
        Question("topicRow", "t00050"),
        Question("topicRow", "t00000"),
    )
    assert view.questions(model, [], None) == []
    row = found[0]
    assert (view.key(row), view.enter(row), view.about(row).topic, view.text(row)) == (
        "t00000", Route("t00000"), "t00000", "t00000 "
    )  # fmt: skip


def test_the_line_above_counts_those_of_applications() -> None:
    line = "".join(cell.text for cell in Topics().headline(model_of()))
    assert line == "3 topics  1 of applications"
