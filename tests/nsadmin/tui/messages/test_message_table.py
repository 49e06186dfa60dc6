"""The table of messages: its columns, what the line above says, and what a dead letter can do."""

from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.tui.messages.message_query import BrowsedMessage, MessageQuery, query_topic
from nsadmin.tui.messages.message_table import MessagesView
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.poll_records import MessagesPolled
from nsadmin.tui.views.groups.group_detail import GroupLettersView
from nsadmin.tui.views.table import SortOrder
from nsadmin.tui.views.topics.topic_detail import TopicMessagesView
from tests.support.screens import NOON, join_cells, make_browsed_message

TAIL = query_topic("orders")
DEAD = "%DLQ%payers"


def model_of(query: MessageQuery, *messages: BrowsedMessage, **fields: object) -> ClusterModel:
    model = ClusterModel()
    model.apply_poll(MessagesPolled(NOON, query, 1, messages, **fields))  # type: ignore[arg-type]
    return model


def headline(view: MessagesView, model: ClusterModel) -> str:
    return join_cells(view.render_headline(model))


def cells(view: MessagesView, row: BrowsedMessage) -> dict[str, str]:
    return {column.key: column.render_cell(row).text for column in view.columns}


def test_a_message_has_its_place_and_a_preview(utc: None) -> None:
    row = make_browsed_message(b'{"id": 7}', offset=42, queue_id=3, at=NOON + 7, KEYS="k1 k2", TAGS="created")
    assert cells(MessagesView(TAIL), row) == {
        "time": "12-31 12:00:00.007", "queue": "broker-a/3", "offset": "42", "key": "k1 k2",
        "tag": "created", "size": "9 B", "body": '{"id": 7}',
    }  # fmt: skip


def test_a_dead_letter_has_its_origin_and_its_replays() -> None:
    row = make_browsed_message(topic=DEAD, RETRY_TOPIC="payments", NSADMIN_REPLAYS="2")
    row_cells = cells(MessagesView(query_topic(DEAD)), row)
    assert (row_cells["origin"], row_cells["attempts"], row_cells["replays"]) == ("payments", "0", "2")


def test_live_messages_are_shown_newest_first_and_old_ones_oldest_first() -> None:
    live, old = MessagesView(TAIL), MessagesView(query_topic("orders", offset=7))
    assert (live.default_sort, live.follows_first_row) == (SortOrder("time", True), True)
    assert (old.default_sort, old.follows_first_row) == (SortOrder("time", False), False)


def test_rows_are_those_of_its_own_query() -> None:
    model = model_of(TAIL, make_browsed_message())
    assert len(MessagesView(TAIL).build_rows(model)) == 1
    assert len(TopicMessagesView("orders").build_rows(model)) == 1
    assert MessagesView(query_topic("payments")).build_rows(model) == ()
    assert headline(MessagesView(query_topic("payments")), model) == "reading"


def test_the_line_above_says_how_far_reading_is() -> None:
    query = TAIL._replace(
        conditions=(("key", "k1"),), message_filter=MessageFilter(keys=frozenset({"k1"})), read_limit=2000
    )
    view = MessagesView(query)
    found = headline(view, model_of(query, examined=10, state="waiting"))
    assert found == "waiting for messages  key k1  10 examined"
    found = headline(view, model_of(query, state="full"))
    assert found == "stopped after 2000 messages, press > to read on  key k1  0 examined"
    found = headline(MessagesView(TAIL), model_of(TAIL, skipped=5000, lost=3))
    assert found == "reading  5000 skipped to keep up  3 deleted before they were read"


def test_a_broker_that_does_not_answer_is_named() -> None:
    errors = {"broker-b": "connection refused", "broker-c": "no answer"}
    found = headline(MessagesView(TAIL), model_of(TAIL, errors=errors, state="waiting"))
    assert found == "waiting for messages  ✕ broker-b: connection refused and 1 more"


def test_an_empty_table_says_why() -> None:
    view, old = MessagesView(TAIL), MessagesView(query_topic("orders", offset=0))
    assert view.empty_message(ClusterModel()) == "reading"
    found = view.empty_message(model_of(TAIL, state="waiting"))
    assert found == "no message since this view was opened; v shows older ones"
    assert old.empty_message(model_of(old.query, state="waiting")) == "no messages"
    found = old.empty_message(model_of(old.query, state="waiting", examined=3))
    assert found == "no message meets the conditions"
    assert old.empty_message(model_of(old.query, state="waiting", errors={"": "no route"})) == "no route"
    assert view.empty_message(ClusterModel(is_replay=True)) == "a recording contains no messages"


def test_reading_more_keeps_the_view_and_its_rows() -> None:
    view = TopicMessagesView("orders")
    view.read_more()
    assert view.query.read_limit == 2000
    assert view == TopicMessagesView("orders") != TopicMessagesView("payments")
    assert hash(view) == hash(TopicMessagesView("orders"))
    assert len(view.build_rows(model_of(TAIL, make_browsed_message()))) == 1


def test_a_dead_letter_can_be_replayed_and_another_message_cannot() -> None:
    row = make_browsed_message(topic=DEAD, offset=1, at=NOON)
    subject = GroupLettersView("payers").subject_of_row(row)
    assert (subject.group, subject.letter_ids, subject.letter_times) == (
        "payers", (row.message.offset_msg_id,), (NOON, NOON),
    )  # fmt: skip
    assert MessagesView(TAIL).subject_of_row(make_browsed_message()).letter_ids == ()


def test_details_are_the_message_with_its_body() -> None:
    view, row = MessagesView(TAIL), make_browsed_message(b'{"id": 7}')
    lines = [join_cells(line) for line in view.draw_details(ClusterModel(), row, 50, 40)]
    assert '    "id": 7' in lines
    assert "lines more" in view.draw_details(ClusterModel(), row, 50, 5)[-1][0].text
