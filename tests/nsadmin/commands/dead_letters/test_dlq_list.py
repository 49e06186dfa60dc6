"""dlq list: how many dead letters each group has."""

from time import time

import pytest

from tests.nsadmin.conftest import Run
from tests.support import message_brokers
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, answer_json, refuse_with


def test_groups_with_dead_letters_are_counted(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.add_letter(b"two", origin="U")
    result = dlq("list")
    assert (result.code, result.err) == (0, "")
    assert result.json == [
        {
            "group": "G",
            "messageCount": 2,
            "replayedCount": 0,
            "lastHourCount": 0,
            "oldest": "2023-11-14T22:13:20.000Z",
            "newest": "2023-11-14T22:13:21.000Z",
            "originTopics": ["T", "U"],
            "brokerNames": ["broker-a"],
            "error": None,
        }
    ]
    assert [row["group"] for row in dlq("list", "--all").json] == ["G", "empty"]


def test_without_dead_letters_it_says_so(
    run: Run, first_server: FakeNameServer, dead_letter_broker: DeadLetterBroker
) -> None:
    assert run("dlq", "list", "-n", first_server.addr)[1:] == ("", "nsadmin: no group has dead letters\n")


def test_replayed_ones_are_counted_as_such(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    """Brokers keep them until they expire."""
    dead_letter_broker.add_letter(b"one")
    assert dlq("replay", "G", "--yes").code == 0
    dead_letter_broker.add_letter(b"two")
    [row] = dlq("list").json
    assert (row["messageCount"], row["replayedCount"]) == (2, 1)


def test_growth_counts_from_the_search_of_the_broker(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:

    for _ in range(3):
        dead_letter_broker.add_letter(b"x")
    began = int(time() * 1000)
    stored = dead_letter_broker.queues["%DLQ%G", 0]
    dead_letter_broker.queues["%DLQ%G", 0] = [
        item[:56] + (began - 1).to_bytes(8, "big") + item[64:] if number == 2 else item
        for number, item in enumerate(stored)
    ]
    dead_letter_broker.handlers[29] = lambda asked: message_brokers.answer_offset(asked, 2)
    [row] = dlq("list").json
    assert row["lastHourCount"] == 1


def test_a_broker_that_does_not_count_is_named(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.handlers[30] = refuse_with(16, "no permission")
    result = dlq("list")
    rows = result.json
    assert (result.code, {row["group"] for row in rows}) == (1, {"G", "empty"})
    assert "group G: NO_PERMISSION (16): no permission" in result.err


@pytest.mark.parametrize("words", [("show",), ("replay", "--yes"), ("purge", "--before", "now", "--yes")])
def test_an_unknown_group_is_not_one_without_dead_letters(
    dlq: Run, dead_letter_broker: DeadLetterBroker, words: tuple[str, ...]
) -> None:
    dead_letter_broker.handlers[201] = lambda asked: answer_json(asked, {"subscriptionGroupTable": {"G": {}}})
    result = dlq(words[0], "nosuch", *words[1:])
    assert (result.code, result.out) == (5, "")
    assert result.err.startswith('nsadmin: no broker has the consumer group "nosuch"\n')
