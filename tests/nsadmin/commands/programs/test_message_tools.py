"""The options of `consume` as a query of the screen, and its decoders."""

import re

import pytest

from nsadmin.client.messages.topic_follower import FROM_EARLIEST, FollowStart
from nsadmin.commands.programs.message_tools import create_message_tools
from nsadmin.tui.messages.message_query import InvalidMessageQueryError

TOOLS = create_message_tools()


def test_a_topic_alone_waits_for_messages() -> None:
    query = TOOLS.parse_query(["orders"])
    assert (query.topic, query.is_tail, query.conditions, query.read_limit) == ("orders", True, (), 1000)


def test_the_options_of_consume_are_conditions() -> None:
    query = TOOLS.parse_query(
        [
            "--topic=orders", "--from=earliest", "--tag=A", "--tag", "B", "--key=k1", "--property=color=red",
            "--body=x{2}", "--field=order.id=7", "--broker", "broker-a", "--queue=3", "--decode=gzip",
            "--decode=json", "--limit", "50",
        ]
    )  # fmt: skip
    assert (query.follow_start, query.expression, query.broker_name, query.queue_id) == (
        FROM_EARLIEST, "A || B", "broker-a", 3,
    )  # fmt: skip
    assert (query.decoders, query.read_limit) == (("gzip", "json"), 50)
    message_filter = query.message_filter
    assert (message_filter.tags, message_filter.keys) == (frozenset("AB"), frozenset({"k1"}))
    assert (message_filter.properties, message_filter.body_fields) == ({"color": "red"}, {"order.id": "7"})
    assert message_filter.body_pattern == re.compile("x{2}")
    assert query.conditions_text == (
        "from earliest  tag A  tag B  key k1  property color=red  body x{2}  field order.id=7  "
        "broker broker-a  queue 3  decode gzip  decode json"
    )


def test_where_to_begin() -> None:
    assert TOOLS.parse_query(["orders", "--from", "offset:7"]).follow_start == FollowStart(offset=7)
    by_time = TOOLS.parse_query(["orders", "--from", "2025-12-31T12:00Z", "--until", "2025-12-31T13:00Z"])
    assert by_time.follow_start.time_ms == by_time.message_filter.begin_ms == 1_767_182_400_000
    assert by_time.message_filter.end_ms == 1_767_186_000_000
    by_key = TOOLS.parse_query(["orders", "--from", "key:k 7"])
    assert (by_key.index_key, by_key.is_tail, by_key.conditions) == ("k 7", False, (("from", "key:k 7"),))
    by_sql = TOOLS.parse_query(["orders", "--sql", "a > 5"])
    assert (by_sql.expression, by_sql.expression_type) == ("a > 5", "SQL92")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["orders", "--from", "offset:x"], 'messages: invalid offset "x" in --from: use a number from 0'),
        (["orders", "--from", "key:"], "messages: missing key in --from: use key:KEY"),
        (["orders", "--body", "("], 'messages: invalid regular expression "("'),
        (["orders", "--decode", "avr0"], '"avr0"'),
        (["orders", "--format", "x"], "messages: --format does not apply to the screen"),
        (["orders", "--tag", "A", "--sql", "b"], "exclude each other"),
        (["orders", "--none"], "--none"),
        (["orders", "--help"], "see `:consume --help` for the options"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], problem: str) -> None:
    with pytest.raises(InvalidMessageQueryError) as raised:
        TOOLS.parse_query(words)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_decoders_of_consume_decode_bodies() -> None:
    assert TOOLS.decode_body(b"eyJhIjoxfQ==", ["base64", "json"]) == ({"a": 1}, None)
    value, problem = TOOLS.decode_body(b"!", ["base64"])
    assert (value, (problem or "")[:10]) == ("!", "not base64")
    with pytest.raises(InvalidMessageQueryError):
        TOOLS.decode_body(b"", ["none"])
    assert "base64" in TOOLS.decoder_help
