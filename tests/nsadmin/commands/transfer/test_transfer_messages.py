"""transfer messages: its rows, its preview, mistakes, and how it is interrupted."""

import pytest

from nsadmin.commands.procedures.signals import StopRequestedError, StopSignal
from tests.nsadmin.conftest import Run
from tests.support.transfer_clusters import ClusterPair


def test_a_row_for_each_queue(transfer: Run, pair: ClusterPair) -> None:
    for number in range(3):
        pair.source.store_message(b"%d" % number, queue_id=2)
    preview = transfer("messages", "T", "--dry-run").json
    assert [(row["remaining"], row["result"]) for row in preview[1:3]] == [(0, "dry-run"), (3, "dry-run")]
    assert pair.target_server.kv == {}
    result = transfer("messages", "T", "--yes")
    assert (result.code, result.err) == (0, "")
    assert result.json[2] == {
        "topic": "T", "brokerName": "broker-a", "queueId": 2, "targetTopic": "T", "targetBroker": "broker-a",
        "targetQueue": 2, "beginOffset": 0, "nextOffset": 3, "remaining": 0, "copied": 3, "skipped": 0,
        "lost": 0, "result": "done", "error": None,
    }  # fmt: skip


def test_topics_get_other_names_in_the_target(transfer: Run, pair: ClusterPair) -> None:
    pair.source_server.routes = pair.target_server.routes = {topic: {"broker-a": 6} for topic in "TUV"}
    pair.source.store_message(b"t")
    pair.source.store_message(b"u", topic="U")
    assert transfer("messages", "T,U", "--map-topic", "U=V", "--yes").code == 0
    assert [message.body for message in pair.target.stored_messages("V")] == [b"u"]
    assert pair.target.stored_messages("U") == []


def test_topics_that_the_target_lacks_are_transferred_first(transfer: Run, pair: ClusterPair) -> None:
    pair.source_server.routes = {topic: {"broker-a": 6} for topic in "TUV"}
    ends = f"--from {pair.source_server.addr} --to {pair.target_server.addr}"
    result = transfer("messages", "T,U,V", "--yes")
    assert (result.code, result.err) == (
        5,
        f"nsadmin: the target has no topic U, V: run `nsadmin transfer topics U,V {ends}` first\n",
    )
    mapped = transfer("messages", "T", "--map-topic", "T=W", "--yes")
    assert "the target has no topic W: create it there, see `nsadmin updateTopic --help`" in mapped.err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("T", "--rate", "0"), 'invalid number "0" for --rate: use more than 0'),
        (("T", "--tag", "a", "--sql", "b = 1"), "--tag and --sql exclude each other"),
        (("T", "--map-topic", "U=V"), '--map-topic names "U", which is not among the topics'),
        (("T", "--map-topic", "U"), 'invalid value "U" for --map-topic: use NAME=VALUE'),
        ((",",), 'invalid list "," for TOPICS: write names separated by commas, such as A,B'),
    ],
)
def test_mistakes_in_the_command_line(transfer: Run, words: tuple[str, ...], text: str) -> None:
    result = transfer("messages", *words)
    assert (result.code, text in result.err) == (2, True)


def test_a_filter_is_part_of_the_transfer(transfer: Run, pair: ClusterPair) -> None:
    for number in range(4):
        pair.source.store_message(b"%d" % number, TAGS="ab"[number % 2])
    assert transfer("messages", "T", "--tag", "a", "--yes").code == 0
    assert pair.copied_bodies() == [b"0", b"2"]
    result = transfer("messages", "T", "--yes")
    assert (result.code, "the transfer began with other filters (--tag a)" in result.err) == (1, True)


@pytest.mark.parametrize(("follow", "code"), [((), 130), (("--follow",), 0)])
def test_a_signal_ends_it_after_the_batches_under_way(
    transfer: Run, pair: ClusterPair, monkeypatch: pytest.MonkeyPatch, follow: tuple[str, ...], code: int
) -> None:
    for number in range(300):
        pair.source.store_message(b"%d" % number)
    monkeypatch.setattr(StopSignal, "raise_if_requested", lambda _: stop(pair))
    result = transfer("messages", "T", *follow, "--yes")
    assert result.code == code
    copied = len(pair.copied_bodies())
    assert 0 < copied < 300
    verb = "stopped" if follow else "interrupted"
    assert result.err == f"nsadmin: {verb} after {copied} messages: run the same command to resume\n"


def stop(pair: ClusterPair) -> None:
    if pair.target.batch_sizes:
        raise StopRequestedError
