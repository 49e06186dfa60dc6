"""transfer verify: its rows, and its exit codes."""

from tests.nsadmin.conftest import Run
from tests.support.transfer_clusters import ClusterPair


def test_a_topic_that_the_target_lacks_is_transferred_first(transfer: Run, pair: ClusterPair) -> None:
    pair.source_server.routes = {topic: {"broker-a": 6} for topic in "TU"}
    result = transfer("verify", "U")
    assert result.code == 5
    assert "the target has no topic U: run `nsadmin transfer topics U --from" in result.err


def test_the_exit_code_says_whether_the_target_has_everything(transfer: Run, pair: ClusterPair) -> None:
    assert transfer("verify", "T").code == 5
    for number in range(5):
        pair.source.store_message(b"%d" % number)
    assert transfer("messages", "T", "--yes").code == 0
    result = transfer("verify", "T")
    row = result.json[0]
    assert (result.code, result.err, row["result"]) == (0, "", "equal")
    assert row["sourceHash"] == row["targetHash"]
    pair.target.store_again(pair.copied_messages()[4])
    result = transfer("verify", "T")
    assert (result.code, result.json[0]["result"]) == (0, "duplicates")
    pair.source.store_message(b"later")
    result = transfer("verify", "T")
    assert (result.code, result.json[0]["result"]) == (3, "unfinished")
    queue = pair.target.queues["T", 0]
    queue[1:4] = [item.replace(b"NSADMIN_SOURCE_OFFSET", b"NSADMIN_SOURCE_OTHERS") for item in queue[1:4]]
    result = transfer("verify", "T")
    row = result.json[0]
    assert (result.code, row["result"], row["missing"], row["missingOffsets"]) == (1, "different", 3, ["1-3"])
