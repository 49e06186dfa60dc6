"""transfer offsets: its rows, its preview, and messages that are not carried."""

from tests.nsadmin.conftest import Run
from tests.support.message_brokers import GroupReader
from tests.support.transfer_clusters import ClusterPair


def fill(pair: ClusterPair) -> None:
    for number in range(10):
        pair.source.store_message(b"%d" % number)
    pair.source.offsets = {"T@G": {0: 7}}


def test_a_preview_changes_nothing_and_the_move_is_read_back(transfer: Run, pair: ClusterPair) -> None:
    fill(pair)
    assert transfer("messages", "T", "--yes").code == 0
    result = transfer("offsets", "G", "--dry-run")
    row = result.json[0]
    assert (result.code, row["result"], pair.target.offsets) == (0, "dry-run", {})
    result = transfer("offsets", "G", "--yes")
    assert (result.code, result.err) == (0, "")
    assert result.json[0] == {
        "topic": "T", "sourceOffsets": {"broker-a/0": 7}, "targetTopic": "T", "targetBroker": "broker-a",
        "targetQueue": 0, "from": None, "to": 7, "repeated": 0, "missed": 0, "result": "done", "error": None,
    }  # fmt: skip
    pair.source.readers["G"] = GroupReader(("c1",))
    pair.target.offsets["T@G"][0] = 3
    result = transfer("offsets", "G", "--yes")
    assert (result.code, result.json[0]["result"]) == (0, "kept")
    assert "consumers of G are connected in the source: stop them, then run this command again" in result.err
    assert (
        "the group keeps its own offset on 1 queue of the target: --overwrite-offsets moves it" in result.err
    )


def test_messages_without_a_copy_give_exit_code_3(transfer: Run, pair: ClusterPair) -> None:
    fill(pair)
    result = transfer("offsets", "G", "--yes")
    ends = f"--from {pair.source_server.addr} --to {pair.target_server.addr}"
    assert (result.code, result.err) == (
        1,
        f'nsadmin: no topic of the group "G" was transferred to {pair.target_server.addr}: '
        f"run `nsadmin transfer messages T {ends}` first\n",
    )
    routes, pair.target_server.routes = pair.target_server.routes, {}
    lacking = transfer("offsets", "G", "--yes")
    commands = [f"`nsadmin transfer {noun} T {ends}`" for noun in ("topics", "messages")]
    assert lacking.err.endswith(f": run {' and '.join(commands)} first\n")
    pair.target_server.routes = routes
    assert transfer("messages", "T", "--yes").code == 0
    pair.source.store_message(b"again", "%RETRY%G")
    pair.source_server.routes["%RETRY%G"] = {"broker-a": 6}
    pair.source.offsets["%RETRY%G@G"] = {0: 0}
    result = transfer("offsets", "G", "--yes")
    row = result.json[-1]
    assert (result.code, row["topic"], row["missed"], row["result"]) == (3, "%RETRY%G", 1, "not carried")
    assert "not carried: 1 message in %RETRY%G: let the group consume them in the source" in result.err


def test_no_transfer_within_one_cluster_is_advised(run: Run, pair: ClusterPair) -> None:
    fill(pair)
    ends = ("--from", pair.source_server.addr, "--to", pair.source_server.addr)
    advice = f"source and target are both {pair.source_server.addr}: pass another --to"
    offsets = run("transfer", "offsets", "G", *ends, "--yes")
    assert (offsets.code, f'"G" was transferred to {ends[1]}: {advice}\n' in offsets.err) == (1, True)
    verified = run("transfer", "verify", "T", *ends)
    assert (verified.code, f"{advice}, or --map-topic OLD=NEW\n" in verified.err) == (5, True)
