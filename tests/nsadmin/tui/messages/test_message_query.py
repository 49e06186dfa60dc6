"""Queries of messages: their defaults, their text, and when two are the same."""

import re

from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.topic_follower import FROM_EARLIEST
from nsadmin.tui.messages.message_query import MessageQuery, query_topic
from tests.support.screens import make_browsed_message


def test_a_topic_is_followed_and_dead_letters_are_read_from_the_first() -> None:
    assert query_topic("T").is_tail
    dead = query_topic("%DLQ%g", "broker-a", 3)
    assert (dead.is_tail, dead.follow_start, dead.broker_name, dead.queue_id) == (
        False, FROM_EARLIEST, "broker-a", 3,
    )  # fmt: skip
    assert dead.conditions_text == "from earliest  broker broker-a  queue 3"
    assert not MessageQuery("T", index_key="k").is_tail


def test_a_search_is_the_same_with_another_limit() -> None:
    query = MessageQuery("T", message_filter=MessageFilter(body_pattern=re.compile("x")))
    assert query.is_same_search(query.read_more())
    assert query.read_more().read_limit == 2000
    assert not query.is_same_search(query._replace(opened_ms=1))


def test_tags_are_filtered_by_the_broker_and_other_conditions_here() -> None:
    assert not MessageQuery("T", message_filter=MessageFilter(tags=frozenset("A"))).has_client_filter
    assert MessageQuery("T", message_filter=MessageFilter(keys=frozenset("k"))).has_client_filter


def test_messages_of_the_same_time_are_in_the_order_of_their_places() -> None:
    first, second = make_browsed_message(offset=1), make_browsed_message(offset=2)
    assert first.sort_key < second.sort_key
    assert first.position_text == "broker-a/0 1"
