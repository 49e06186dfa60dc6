"""The functions of the message commands: without them, the screen still shows messages."""

from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.tui.messages.message_query import query_topic
from nsadmin.tui.messages.message_tools import MessageTools
from tests.support.screens import make_browsed_message


def test_without_the_commands_a_topic_is_followed_and_bodies_are_text() -> None:
    tools = MessageTools()
    assert tools.parse_query(["orders"]) == query_topic("orders")
    assert tools.decode_body(b"a\xff", ["json"]) == ("a\ufffd", None)
    assert (
        tools.make_row(LocatedMessage("broker-a", make_browsed_message(offset=7).message))["queue_offset"]
        == 7
    )
