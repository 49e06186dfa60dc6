"""printMsg, printMsgByQueue and consumeMessage."""

from collections import Counter

import pytest

from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.message_brokers import CREATED, MessageBroker


@pytest.fixture
def run_json(run_json: Run, message_broker: MessageBroker) -> Run:
    for queue, tags in ((0, "ABA"), (5, "AB")):
        for number, tag in enumerate(tags):
            message_broker.store_message(f"{queue}-{number}".encode(), queue_id=queue, TAGS=tag)
    return run_json


def bodies(result: CommandResult) -> list[object]:
    return [row["body"] for row in result.json]


def test_all_queues_of_a_topic(run_json: Run) -> None:
    result = run_json("printMsg", "T")
    assert (result.code, result.err) == (0, "")
    assert bodies(result) == ["0-0", "0-1", "0-2", "5-0", "5-1"]


def test_the_flags_of_a_topic(run_json: Run) -> None:
    times = ("-b", str(CREATED), "-e", str(CREATED + 1000))
    result = run_json("printMsg", "-t", "T", "-c", "utf-8", "-s", "A || C", *times, "-d", "false", "-l", "T")
    rows = result.json
    assert [(row["queueId"], row["queueOffset"], row["body"]) for row in rows] == [(0, 0, None), (5, 0, None)]
    assert bodies(run_json("printMsg", "T", "-s", "*", "-d", "true")) == ["0-0", "0-1", "0-2", "5-0", "5-1"]


def test_there_is_a_bound_and_it_is_told(run_json: Run) -> None:
    result = run_json("printMsg", "T", "--maxNum", "2")
    assert (result.code, len(bodies(result))) == (0, 2)
    assert result.err == "nsadmin: stopped after 2 messages (--limit): there are more\n"
    assert run_json("printMsg", "T", "--maxNum", "5").err == ""


def test_only_the_messages_within_the_limit_are_sorted(run_json: Run) -> None:
    result = run_json("printMsg", "T", "--limit", "2", "--sort", "-storeTime")
    assert result.err.splitlines() == [
        "nsadmin: stopped after 2 messages (--limit): there are more",
        "nsadmin: sorted only the 2 messages that were read: printMsg --last N shows the newest",
    ]
    assert run_json("printMsg", "T", "--limit", "5", "--sort", "-storeTime").err == ""


@pytest.mark.parametrize("command_name", ["printMsg", "consumeMessage"])
def test_each_queue_has_its_turn_within_the_limit(
    run_json: Run, message_broker: MessageBroker, command_name: str
) -> None:
    for _ in range(40):
        for queue in range(8):
            message_broker.store_message(b"", queue_id=queue)
    for limit, counts in ((3, [1, 1, 1]), (16, [2] * 8), (20, [2 + 4] + [2] * 7)):
        rows = run_json(command_name, "T", "--limit", str(limit)).json
        assert list(Counter(row["queueId"] for row in rows).values()) == counts


def test_the_last_messages_of_a_topic(run_json: Run) -> None:
    result = run_json("printMsg", "T", "--last", "3")
    assert (bodies(result), result.err) == (["0-1", "5-1", "0-2"], "")
    assert bodies(run_json("printMsg", "T", "--last", "9")) == ["0-0", "5-0", "0-1", "5-1", "0-2"]
    result = run_json("printMsg", "T", "--last", "1", "-s", "B")
    assert (bodies(result), result.err) == (["5-1"], "")
    result = run_json("printMsg", "T", "--last", "2", "-s", "A")
    assert bodies(result) == ["5-0", "0-2"]
    result = run_json("printMsg", "T", "--last", "1", "-s", "C")
    assert result == (0, "[]\n", "nsadmin: searched only the last 1 message of each queue\n")


@pytest.mark.parametrize("words", [("--from", "10m"), ("--until", "now"), ("--limit", "3")])
def test_the_last_messages_have_no_other_bounds(run_json: Run, words: tuple[str, ...]) -> None:
    result = run_json("printMsg", "T", "--last", "3", *words)
    assert (result.code, result.out) == (2, "")
    assert "--last reads the ends of the queues: leave out --from, --until and --limit" in result.err


@pytest.mark.parametrize("words", [("T", "broker-a", "5"), ("-t", "T", "-a", "broker-a", "-i", "5")])
def test_one_queue(run_json: Run, words: tuple[str, ...]) -> None:
    assert bodies(run_json("printMsgByQueue", *words, "-d", "true")) == ["5-0", "5-1"]
    assert bodies(run_json("printMsgByQueue", *words)) == [None, None]
    assert bodies(run_json("printMsgByQueue", *words, "-p", "true", "-f", "false")) == [None, None]


def test_tags_are_counted(run_json: Run) -> None:
    result = run_json("printMsgByQueue", "T", "broker-a", "0", "-f", "true", "--maxNum", "1")
    assert (result.code, result.err) == (0, "")
    assert result.json == [{"tag": "A", "count": 2}, {"tag": "B", "count": 1}]


def test_tags_of_a_whole_topic_are_counted(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(b"untagged", queue_id=3)
    result = run_json("printMsg", "T", "--calculate", "true", "--limit", "1")
    assert (result.code, result.err) == (0, "")
    assert {row["tag"]: row["count"] for row in result.json} == {"A": 3, "B": 2, None: 1}
    assert run_json("printMsg", "T", "-f", "true", "-s", "B").json == [{"tag": "B", "count": 2}]
    assert len(run_json("printMsg", "T", "-f", "false").json) == 6
    refused = run_json("printMsg", "T", "-f", "true", "--last", "3")
    assert (refused.code, "--last and -f true exclude each other" in refused.err) == (2, True)


def test_messages_and_the_number_of_their_tags(run_json: Run, message_broker: MessageBroker) -> None:
    message_broker.store_message(b"untagged")
    result = run_json("printMsgByQueue", "T", "broker-a", "0", "-p", "true", "-f", "true", "-d", "true")
    assert bodies(result) == ["0-0", "0-1", "0-2", "untagged"]
    assert (result.code, result.err) == (
        0,
        "nsadmin: tag A: 2 messages\nnsadmin: tag B: 1 message\nnsadmin: tag (none): 1 message\n",
    )


def test_an_empty_queue_has_no_messages(run_json: Run) -> None:
    done = run_json("printMsgByQueue", "T", "broker-a", "1")
    assert done == (0, "[]\n", "")


def test_a_dead_broker_is_mentioned_once(
    run_json: Run, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    first_server.clusters = {
        "C": {"broker-a": {0: message_broker.addr}, "broker-b": {0: f"127.0.0.1:{closed_port()}"}}
    }
    first_server.routes["T"]["broker-b"] = 6
    result = run_json("printMsg", "T")
    assert (result.code, len(bodies(result))) == (3, 5)
    assert result.err == (
        "nsadmin: broker broker-b, queue 0, 1, 2, 3, 4, 5, 6, 7: "
        "connection refused, no server listens on this port\n"
    )


def test_a_queue_that_breaks_off_is_mentioned(run_json: Run, message_broker: MessageBroker) -> None:
    from tests.support.fake_servers import refuse_with

    message_broker.handlers[11] = refuse_with(16, "not readable")
    result = run_json("printMsgByQueue", "T", "broker-a", "0", "-f", "true")
    assert result[:2] == (1, "[]\n")
    assert result.err.startswith("nsadmin: broker broker-a, queue 0: NO_PERMISSION (16): not readable\n")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("printMsg", "U"), 5, "No topic route info"),
        (("printMsg", "T", "--maxNum", "0"), 2, 'invalid value "0" for --limit: expected 1 or more'),
        (("printMsg", "T", "-d", "yes"), 2, 'invalid value "yes" for -d: expected true or false'),
        (("printMsg", "T", "-s", "||"), 2, 'invalid tags "||" for -s: write A || B'),
        (
            ("printMsg", "T", "-c", "hex"),
            2,
            'unknown encoding "hex" for -c: use utf-8, gbk, latin-1 or another one',
        ),
        (("printMsgByQueue", "T", "broker-x", "0"), 5, 'no broker "broker-x"; did you mean "broker-a"?'),
        (("printMsgByQueue", "T", "broker-a", "8"), 5, "T has no queue 8: it has queues 0 to 7"),
        (
            ("printMsgByQueue", "T", "broker-a", "0", "-p", "false"),
            2,
            "-p false hides all messages: add -f true to count tags",
        ),
    ],
)
def test_bad_input_is_one_line(run_json: Run, words: tuple[str, ...], code: int, text: str) -> None:
    result = run_json(*words)
    assert (result.code, result.out) == (code, "")
    assert text in result.err.splitlines()[0]


def test_consuming_is_reading(run_json: Run, message_broker: MessageBroker) -> None:
    result = run_json("consumeMessage", "-t", "T", "-g", "G", "-c", "2")
    assert bodies(result) == ["0-0", "5-0"] or len(bodies(result)) == 2
    assert result.err.splitlines() == [
        "nsadmin: reads without a group, and does not join G",
        "nsadmin: stopped after 2 messages (--limit): there are more",
    ]
    pulls = [item.ext or {} for item in message_broker.asked if item.code == 11]
    assert {item["consumerGroup"] for item in pulls} == {"TOOLS_CONSUMER"}
    # Neither a heartbeat nor an offset.
    assert {34, 15}.isdisjoint(message_broker.asked_codes())


def test_consuming_from_an_offset_on(run_json: Run) -> None:
    where = ("-b", "broker-a", "-i", "0")
    assert bodies(run_json("consumeMessage", "T", *where)) == ["0-0", "0-1", "0-2"]
    assert bodies(run_json("consumeMessage", "T", *where, "-o", "1")) == ["0-1", "0-2"]
    later = run_json("consumeMessage", "T", *where, "-o", "3")
    assert (later.code, later.err) == (
        5,
        "nsadmin: no message at offset 3 of queue 0: the queue has offsets 0 to 2\n",
    )
    since = ("-s", str(CREATED + 1000), "-e", str(CREATED + 1000))
    assert bodies(run_json("consumeMessage", "T", *since)) == ["0-1", "5-1"]


@pytest.mark.parametrize("words", [("-i", "0"), ("-b", "broker-a", "-o", "1"), ("-c", "0")])
def test_consuming_from_no_place(run_json: Run, words: tuple[str, ...]) -> None:
    assert run_json("consumeMessage", "T", *words).code == 2
