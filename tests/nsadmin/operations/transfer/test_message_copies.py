"""Copies name their source, keep what the application set, and have the hash of their original."""

from namesrv_core.protocol.stored_messages import StoredMessage, decode_messages
from nsadmin.operations.transfer.message_copies import (
    SourcePlace,
    SourceQueue,
    build_copy_properties,
    find_source,
    hash_content,
)
from tests.support.messages import record

QUEUE = SourceQueue("C", "broker-a", "T", 3)


def message(body: bytes = b"body", offset: int = 0, **properties: str) -> StoredMessage:
    [found] = decode_messages(record(body, table=properties, queue_offset=offset)).messages
    return found


def test_a_copy_names_its_source() -> None:
    original = message(offset=17, KEYS="k", TAGS="t", UNIQ_KEY="id", color="red")
    copy = message(**build_copy_properties(original, QUEUE))
    assert find_source(copy) == SourcePlace(QUEUE, 17, original.store_timestamp)
    assert {name: copy.properties[name] for name in ("KEYS", "TAGS", "UNIQ_KEY", "color")} == {
        "KEYS": "k", "TAGS": "t", "UNIQ_KEY": "id", "color": "red",
    }  # fmt: skip
    assert copy.properties["NSADMIN_SOURCE_BORN_TIME"] == str(original.born_timestamp)
    assert find_source(original) is None
    assert find_source(message(**{**copy.properties, "NSADMIN_SOURCE_OFFSET": "x"})) is None


def test_a_copy_is_neither_delayed_nor_half_of_a_transaction() -> None:
    properties = build_copy_properties(message(DELAY="3", TRAN_MSG="true", TIMER_DELAY_MS="500"), QUEUE)
    assert properties.keys().isdisjoint({"DELAY", "TRAN_MSG", "TIMER_DELAY_MS"})
    assert properties["NSADMIN_SOURCE_DELAY"] == "3"
    assert properties["NSADMIN_SOURCE_TIMER_DELAY_MS"] == "500"


def test_a_copy_of_a_copy_names_the_nearer_source() -> None:
    copy = message(offset=5, **build_copy_properties(message(offset=1), QUEUE._replace(cluster_name="first")))
    source = find_source(message(**build_copy_properties(copy, QUEUE)))
    assert source is not None
    assert (source.queue, source.offset) == (QUEUE, 5)


def test_the_hash_sees_what_a_copy_keeps_and_nothing_else() -> None:
    original = message(KEYS="k", TAGS="t", color="red", MSG_REGION="here", DELAY="2")
    copy = message(**build_copy_properties(original, QUEUE), TRACE_ON="true")
    assert hash_content(copy) == hash_content(original)
    changed = [
        message(b"other", KEYS="k", TAGS="t", color="red"),
        message(KEYS="l", TAGS="t", color="red"),
        message(KEYS="k", TAGS="u", color="red"),
        message(KEYS="k", TAGS="t", color="blue"),
        message(KEYS="k", TAGS="t"),
    ]
    assert len({hash_content(other) for other in [original, *changed]}) == 6
