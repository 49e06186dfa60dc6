"""Copies name their source, keep what the application set, and have the hash of their original."""

from collections.abc import Mapping

from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from nsadmin.client.messages.message_copies import build_copy
from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.operations.copy_source import (
    SourcePlace,
    SourceQueue,
    build_source_properties,
    find_source,
    hash_content,
    keep_first_source,
)
from tests.support.messages import encode_message

QUEUE = SourceQueue("C", "broker-a", "T", 3)
SEND_QUEUE = SendQueue("U", "broker-b", "127.0.0.1:1", 3)


def message(body: bytes = b"body", offset: int = 0, **properties: str) -> StoredMessage:
    return stored(body, properties, offset)


def stored(body: bytes, properties: Mapping[str, str], offset: int = 0) -> StoredMessage:
    [message] = decode_messages(encode_message(body, table=dict(properties), queue_offset=offset)).messages
    return message


def copy_of(original: StoredMessage, queue: SourceQueue = QUEUE) -> StoredMessage:
    copy = build_copy(original, SEND_QUEUE, build_source_properties(original, queue))
    return stored(copy.body, {**copy.properties, "TRACE_ON": "true"})


def test_a_copy_names_its_source() -> None:
    original = message(offset=17, KEYS="k", UNIQ_KEY="id", color="red")
    copy = copy_of(original)
    assert find_source(copy) == SourcePlace(QUEUE, 17, original.store_timestamp)
    assert copy.properties["NSADMIN_SOURCE_BORN_TIME"] == str(original.born_timestamp)
    assert find_source(original) is None
    assert find_source(stored(b"", {**copy.properties, "NSADMIN_SOURCE_OFFSET": "x"})) is None


def test_a_delay_is_kept_as_a_property_without_effect() -> None:
    properties = copy_of(message(DELAY="3", TRAN_MSG="true", TIMER_DELAY_MS="500")).properties
    assert properties.keys().isdisjoint({"DELAY", "TRAN_MSG", "TIMER_DELAY_MS"})
    assert properties["NSADMIN_SOURCE_DELAY"] == "3"
    assert properties["NSADMIN_SOURCE_TIMER_DELAY_MS"] == "500"


def test_a_copy_of_a_copy_names_the_nearer_source() -> None:
    copy = copy_of(message(offset=1), QUEUE._replace(cluster_name="first"))._replace(queue_offset=5)
    source = find_source(copy_of(copy))
    assert source is not None
    assert (source.queue, source.offset) == (QUEUE, 5)


def test_an_import_keeps_the_first_source_and_names_no_source_of_a_new_message() -> None:
    original = message(offset=17)
    named = keep_first_source(original, "broker-a")
    expected = build_source_properties(
        original, SourceQueue("C", "broker-a", original.topic, original.queue_id)
    )
    assert named == {name: value for name, value in expected.items() if name != "NSADMIN_SOURCE_CLUSTER"}
    assert find_source(stored(b"", named)) is None
    for copy in (stored(b"", named), message(NSADMIN_STORE_TIME="3"), original._replace(store_timestamp=0)):
        assert keep_first_source(copy, "broker-a") == {}


def test_the_hash_sees_what_a_copy_keeps_and_nothing_else() -> None:
    original = message(KEYS="k", TAGS="t", color="red", MSG_REGION="here", DELAY="2")
    assert hash_content(copy_of(original)) == hash_content(original)
    changed = [
        message(b"other", KEYS="k", TAGS="t", color="red"),
        message(KEYS="l", TAGS="t", color="red"),
        message(KEYS="k", TAGS="u", color="red"),
        message(KEYS="k", TAGS="t", color="blue"),
        message(KEYS="k", TAGS="t"),
    ]
    assert len({hash_content(other) for other in [original, *changed]}) == 6
