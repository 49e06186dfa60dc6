"""dlq replay: the preview, the question, and what is left for the next run."""

import json
from pathlib import Path
from time import monotonic

import pytest

from namesrv_core.protocol.command import RemotingCommand
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import RETRY, DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, answer_json
from tests.support.message_brokers import GroupReader


def test_a_preview_counts_and_sends_nothing(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.add_letter(b"two", origin="U")
    dead_letter_broker.add_letter(b"often", NSADMIN_REPLAYS="3")
    result = dlq("replay", "G", "--dry-run")
    assert json.loads(result.out) == [
        {"group": "G", "originTopic": topic, "age": "over 30d", "messageCount": 1, "result": "dry-run"}
        for topic in "TU"
    ]
    assert (result.code, result.err) == (
        0,
        "nsadmin: would skip 1 message that the group failed to consume again after 3 replays\n",
    )
    assert dead_letter_broker.sent == []
    assert dlq("replay", "G", "--key", "none", "--yes").code == 0
    assert dlq("replay", "G", "--origin", "T", "--yes").code == 0
    result = dlq("replay", "G", "--dry-run")
    assert [row["originTopic"] for row in json.loads(result.out)] == ["U"]
    assert "would skip 1 message that an earlier run replayed: --again replays these too" in result.err


@pytest.mark.parametrize("group", ["G", "unknown"])
def test_without_dead_letters_there_is_nothing_to_replay(
    dlq: Run, dead_letter_broker: DeadLetterBroker, group: str
) -> None:
    for words in (("--dry-run",), ("--yes",), ("--from", "1h", "--key", "k", "--dry-run"), ("--from", "1h")):
        result = dlq("replay", group, *words)
        assert result.code == 5
        assert result.err.startswith(f"nsadmin: no dead letters for {group}\n")


def test_a_replay_is_remembered_by_the_next_command(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")
    result = dlq("replay", "G")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == [
        {
            "brokerName": "broker-a", "group": "G", "deadLetters": 1, "examined": 1, "replayed": 1,
            "replayedBefore": 0, "copies": 0, "skipped": 0, "failed": 0, "failedAgain": 0, "result": "done",
            "error": None,
        }
    ]  # fmt: skip
    [row] = json.loads(dlq("replay", "G").out)
    assert (row["replayed"], row["replayedBefore"]) == (0, 1)
    assert len(dead_letter_broker.stored_messages(RETRY)) == 1


def test_one_dead_letter_is_replayed_by_its_id(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    for number in range(3):
        dead_letter_broker.add_letter(b"%d" % number)
    ids = [row["offsetMsgId"] for row in json.loads(dlq("show", "G").out)]
    assert dlq("replay", "G", "--id", ids[1], "--yes").code == 0
    assert [message.body for message in dead_letter_broker.stored_messages(RETRY)] == [b"1"]


def test_the_audit_has_the_sends_and_the_rows(
    dlq: Run, dead_letter_broker: DeadLetterBroker, tmp_path: Path
) -> None:
    for number in range(3):
        dead_letter_broker.add_letter(b"%d" % number)
    assert dlq("replay", "G").code == 0
    [record] = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(item["request"], item["times"]) for item in record["sent"]] == [("SEND_MESSAGE_V2", 3)]
    assert [row["replayed"] for row in record["results"]] == [3]


@pytest.mark.parametrize(
    "reader",
    [GroupReader(("c",), consume_type="CONSUME_ACTIVELY"), GroupReader(("c",), message_model="BROADCASTING")],
)
def test_consumers_that_do_not_read_the_retry_topic(
    dlq: Run, dead_letter_broker: DeadLetterBroker, reader: GroupReader
) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.readers["G"] = reader
    result = dlq("replay", "G")
    assert (result.code, "which do not read %RETRY%G: pass --to-topic" in result.err) == (1, True)
    result = dlq("replay", "G", "--to-topic")
    assert (result.code, result.err) == (0, "nsadmin: other groups get the messages of T again: H\n")
    assert [message.body for message in dead_letter_broker.stored_messages("T")] == [b"one"]


def test_a_group_without_consumers_gets_them_later(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.readers["G"] = GroupReader()
    result = dlq("replay", "G")
    assert (result.code, result.err) == (
        0,
        'nsadmin: no consumer of "G" is connected to a broker (gRPC consumers connect to proxies): '
        "the messages wait in the retry topic until the group reads it\n",

    )  # fmt: skip


def test_an_ordered_group_behind_a_proxy_reads_no_retry_topic(
    dlq: Run, dead_letter_broker: DeadLetterBroker
) -> None:
    dead_letter_broker.add_letter(b"one")
    dead_letter_broker.readers["G"] = GroupReader()
    table = {"G": {"groupName": "G", "consumeMessageOrderly": True}}
    dead_letter_broker.handlers[201] = lambda asked: answer_json(asked, {"subscriptionGroupTable": table})
    result = dlq("replay", "G")
    assert (result.code, dead_letter_broker.sent) == (1, [])
    assert "its gRPC consumers do not read retry topics: pass --to-topic" in result.err
    assert dlq("replay", "G", "--to-topic").code == 0


def test_copies_are_counted_and_not_replayed(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    for text in (b"one", b"two", b"one"):
        dead_letter_broker.add_letter(text)
    result = dlq("replay", "G", "--dry-run")
    assert [row["messageCount"] for row in json.loads(result.out)] == [2]
    assert "would skip further copies of dead letters: 1 message" in result.err
    [row] = json.loads(dlq("replay", "G").out)
    assert (row["replayed"], row["copies"], row["replayedBefore"]) == (2, 1, 0)
    dead_letter_broker.add_letter(b"two")
    [row] = json.loads(dlq("replay", "G").out)
    assert (row["replayed"], row["copies"], row["replayedBefore"]) == (0, 1, 3)


def test_failures_after_the_last_message_count_if_they_are_waited_for(
    dlq: Run, dead_letter_broker: DeadLetterBroker
) -> None:
    dead_letter_broker.add_letter(b"one")
    result = dlq("replay", "G", "--settle", "2h")
    assert (result.code, 'invalid time "2h" for --settle: use 0s to 1h' in result.err) == (2, True)
    began_at = monotonic()
    assert dlq("replay", "G", "--settle", "300ms").code == 0
    assert monotonic() - began_at >= 0.3


def test_a_group_that_fails_again_ends_it_with_rows(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")

    def die_again() -> None:
        properties = (dead_letter_broker.sent[-1].ext or {})["i"] or ""
        table = dict(item.split("\x01") for item in properties.split("\x02") if "NSADMIN" in item)
        dead_letter_broker.add_letter(b"again", "T", 0, **table)

    dead_letter_broker.on_send = die_again
    result = dlq("replay", "G", "--max-failures", "0")
    assert result.code == 1
    assert result.err == (
        "nsadmin: stopped because 1 of 1 replayed messages failed again (the limit is 0): fix the consumer, "
        "then run the same command to resume\n"
    )
    [row] = json.loads(result.out)
    assert (row["replayed"], row["failedAgain"], row["result"]) == (1, 1, "failed")


def test_ctrl_c_says_how_to_resume(
    dlq: Run, dead_letter_broker: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nsadmin.client.messages.queue_reader import QueueReader

    dead_letter_broker.add_letter(b"one")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(QueueReader, "read_pages", interrupt)
    result = dlq("replay", "G")
    assert (result.code, result.err) == (
        130,
        "nsadmin: interrupted after 0 replayed messages: run the same command to resume\n",
    )


def test_a_read_only_context_replays_nothing(
    run: Run, first_server: FakeNameServer, dead_letter_broker: DeadLetterBroker
) -> None:
    dead_letter_broker.add_letter(b"one")
    run("context", "set", "p", "-n", first_server.addr, "--read-only")
    assert run("dlq", "replay", "G", "--context", "p", "--yes").code == 6
    assert dead_letter_broker.sent == []


def test_a_file_of_replays_that_is_invalid_is_not_ignored(
    dlq: Run, dead_letter_broker: DeadLetterBroker, tmp_path: Path
) -> None:
    dead_letter_broker.add_letter(b"one")
    file = tmp_path / "state" / "dead-letters" / "C" / "G" / "replays.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("[]\n")
    result = dlq("replay", "G")
    assert (result.code, "line 1 is invalid" in result.err, "move the file away" in result.err) == (
        1,
        True,
        True,
    )
    assert dead_letter_broker.sent == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--rate", "0"), 'invalid number "0" for --rate: use more than 0'),
        (("--max-failures", "-1"), "--max-failures"),
    ],
)
def test_words_that_cannot_be(dlq: Run, words: tuple[str, ...], text: str) -> None:
    result = dlq("replay", "G", *words)
    assert (result.code, text in result.err) == (2, True), result.err


def test_brokers_that_stop_answering_are_named(dlq: Run, dead_letter_broker: DeadLetterBroker) -> None:
    dead_letter_broker.add_letter(b"one")

    def refuse_end(asked: RemotingCommand) -> bytes:
        return b""

    dead_letter_broker.handlers[310] = refuse_end
    dead_letter_broker.handlers[28] = refuse_end
    result = dlq("replay", "G")
    [row] = json.loads(result.out)
    assert (result.code, row["replayed"], row["result"]) == (4, 0, "failed")
    assert "broker broker-a: " in result.err
