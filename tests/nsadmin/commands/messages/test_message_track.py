"""message track: the story of a message in the order of its times."""

from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DEAD, RETRY, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, refuse_with
from tests.support.message_brokers import GroupReader

KEY = "7F00000126FE7DAF6CD06917D8E20000"


def test_a_message_is_followed_to_its_dead_letter(
    stream: Run, store: DeadLetterBroker, first_server: FakeNameServer
) -> None:
    first_server.routes |= {DEAD: {"broker-a": 6}, RETRY: {"broker-a": 6}}
    store.readers = {"G": GroupReader(("c1",), 7), "H": GroupReader()}
    store.store_message(b"one", "T", 3, 0, UNIQ_KEY=KEY)
    store.store_message(b"other", "T", 3, 0, UNIQ_KEY=KEY[:-1] + "1")
    store.store_message(b"", RETRY, 0, 0, UNIQ_KEY=KEY[:-1] + "1")
    store.store_message(b"one", RETRY, 0, 0, UNIQ_KEY=KEY)
    store.store_message(b"", DEAD, 0, 0, UNIQ_KEY="x")
    store.store_message(b"", DEAD, 0, 0, UNIQ_KEY="x")
    store.store_message(b"one", DEAD, 0, 0, UNIQ_KEY=KEY)
    result = stream("message", "track", "T", KEY, "--json")
    rows = result.json
    assert (result.code, result.err) == (0, "")
    assert [(row["step"], row["group"], row["queueOffset"]) for row in rows] == [
        ("produced", None, None),
        ("stored", None, 0),
        ("retry", "G", 1),
        ("dead letter", "G", 2),
        ("group", "G", None),
        ("group", "H", None),
    ]
    assert [row["detail"] for row in rows[-2:]] == [
        "consumed", "unknown, because no client of the group is connected to its broker",
    ]  # fmt: skip


def test_what_cannot_be_read_is_named_and_the_rest_is_shown(stream: Run, store: DeadLetterBroker) -> None:
    store.store_message(b"one", UNIQ_KEY=KEY)
    store.handlers[300] = refuse_with(16, "no permission")
    result = stream("message", "track", "T", KEY, "--json")
    assert [row["step"] for row in result.json] == ["produced", "stored"]
    assert (result.code, "groups of the topic: NO_PERMISSION (16): no permission" in result.err) == (3, True)


def test_a_message_that_is_not_there(stream: Run, store: DeadLetterBroker) -> None:
    result = stream("message", "track", "T", KEY)
    assert (result.code, result.err) == (
        5,
        f'nsadmin: no message of T has the id "{KEY}": '
        "compare its topic, cluster and time with the log of the producer\n",
    )
    store.store_message(b"x", "SCHEDULE_TOPIC_XXXX", UNIQ_KEY=KEY, REAL_TOPIC="T")
    text = ", but 1 delayed message has it: `nsadmin delayed list T` shows when they are delivered"
    assert stream("message", "track", "T", KEY).err.endswith(f"{text}\n")


def test_a_message_is_found_by_its_key(stream: Run, store: DeadLetterBroker) -> None:
    store.store_message(b"one", UNIQ_KEY=KEY, KEYS="order-1 order-2")
    store.store_message(b"two", UNIQ_KEY=KEY[:-1] + "1", KEYS="order-2")
    result = stream("message", "track", "T", "order-1", "--json")
    assert [(row["step"], row["queueOffset"]) for row in result.json] == [("produced", None), ("stored", 0)]
    assert (result.code, result.err) == (0, "")
    result = stream("message", "track", "T", "order-2", "--json")
    assert [(row["step"], row["queueOffset"]) for row in result.json] == [("produced", None), ("stored", 1)]
    assert (result.code, result.err) == (
        0,
        "nsadmin: the newest of 2 messages with the key; to list all, run nsadmin queryMsgByKey T order-2\n",
    )
    assert stream("message", "track", "T", "order-3").err.startswith(
        'nsadmin: no message of T has the key "order-3"'
    )
