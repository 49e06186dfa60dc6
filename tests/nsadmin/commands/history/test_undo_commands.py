"""The commands that undo changes: each can be pasted, and gives back what the change replaced."""

import shlex
from typing import Any

from nsadmin.commands.history.undo_commands import add_undo_commands, find_undo
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab

CHANGES = (
    "updateBrokerConfig fileReservedTime 48 -c cluster-a",
    "updateTopic payments -b broker-a-0 -r 12 -w 10 -p 4 -u true",
    "updateTopic payments -c cluster-a -o true",
    "updateTopic payments -c cluster-a -o true -w 3",
    "updateTopic payments -b broker-a-0 -a +message.type=FIFO",
    "updateTopic payments -b broker-a-0 -a -message.type,+reserve.time=5",
    "updateTopicPerm payments 2 -c cluster-a",
    "updateSubGroup warehouse -c cluster-a -s false -m true -d true -q 3 -r -1 -i 1 -w 0 -a false",
    """updateSubGroup warehouse -b broker-a-0 -p '{"type":"EXPONENTIAL"}'""",
    "updateSubGroup warehouse -b broker-a-0 --attributes +priority.factor=7",
    "updateNamesrvConfig orderMessageEnable true",
    "updateKvConfig ORDER_TOPIC_CONFIG orders broker-a-0:7",
    "updateOrderConf orders put broker-a-0:7",
    "updateOrderConf payments put broker-a-0:7",
    "updateOrderConf orders delete",
    "wipeWritePerm broker-a-0",
)
STATE = (
    "getBrokerConfig --filter key=fileReservedTime",
    "topicRoute payments",
    "getConsumerConfig warehouse",
    "updateTopic payments -c cluster-a --dry-run",
    "updateTopic orders -c cluster-a --dry-run",
    "getNamesrvConfig",
    "kv list ORDER_TOPIC_CONFIG",
)


def test_each_line_undoes_its_change(run: Run, run_on_lab: Run, running_lab: Lab) -> None:
    def read_state() -> dict[str, Any]:
        return {line: run_on_lab(*shlex.split(line)).json for line in STATE}

    # Two brokers with different values have two commands.
    run_on_lab("updateBrokerConfig", "fileReservedTime", "96", "-b", "broker-a-1")
    run_on_lab("updateKvConfig", "ORDER_TOPIC_CONFIG", "orders", "broker-a-0:1")
    for line in CHANGES:
        before = read_state()
        changed = run_on_lab(*shlex.split(line), "--yes")
        assert (line, changed.code, read_state() != before) == (line, 0, True), changed
        [undo] = [told for told in changed.err.splitlines() if "to undo it" in told]
        pasted = undo.removeprefix("nsadmin: to undo it: ")
        record = run("audit", "list", "--json").json[-1]
        assert record["undo"].replace(f" -n {running_lab.namesrv_addr}", "") == pasted
        for part in pasted.split(" && "):
            undone = run_on_lab(*shlex.split(part)[1:], "--yes")
            assert (part, undone.code) == (part, 0), undone
        assert (line, read_state()) == (line, before)


def undo_of(command: str, *rows: dict[str, Any]) -> str | None:
    return find_undo({"command": command, "results": [{"result": "done"} | row for row in rows]})


def test_what_the_rows_do_not_tell_has_no_undo() -> None:
    setting = {"brokerAddr": "h:1", "key": "a", "before": "-1"}
    assert undo_of("updateBrokerConfig a 1", setting) == "nsadmin updateBrokerConfig -k a -v -1 -b h:1"
    assert undo_of("updateBrokerConfig a 1", setting | {"before": "***"}) is None
    assert undo_of("updateBrokerConfig a 1", setting | {"result": "failed"}) is None
    assert undo_of("updateBrokerConfig a 1") is None
    assert undo_of("deleteTopic T '*'", {"server": "h:1", "before": {"perm": 6}}) is None
    assert undo_of("python x.py", setting) is None


def test_what_was_new_on_a_server_has_no_undo() -> None:
    changed = {
        "brokerAddr": "h:1",
        "group": "G",
        "before": {"retryMaxTimes": 16},
        "after": {"retryMaxTimes": 3},
    }
    new = {"brokerAddr": "h:2", "group": "G", "after": {"retryMaxTimes": 3}}
    assert undo_of("updateSubGroup G -r 3", changed) == "nsadmin updateSubGroup G -r 16 -b h:1"
    assert undo_of("updateSubGroup G -r 3", changed, new) is None
    unknown_before = changed | {"before": {"consumeEnable": True}}
    assert undo_of("updateSubGroup G -r 3", unknown_before) is None


def test_an_undo_for_all_name_servers_needs_one_former_value() -> None:
    first = {"namesrvAddr": "h:1", "key": "a", "before": "1"}
    failed, same = first | {"result": "failed"}, first | {"before": "2", "result": "unchanged"}
    undo = "nsadmin updateNamesrvConfig -k a -v 1"
    assert undo_of("updateNamesrvConfig a 2", first, failed) == undo
    assert undo_of("updateNamesrvConfig a 2", first, same) is None


def test_the_undo_of_a_record_names_its_servers() -> None:
    row = {"brokerAddr": "h:1", "key": "a", "before": "1", "result": "done"}
    record = {"command": "updateBrokerConfig a 2", "results": [row]}
    undo = "nsadmin updateBrokerConfig -k a -v 1 -b h:1"
    records = [record, record | {"nameServers": ["n:1", "n:2"]}, record | {"context": "prod"}]
    assert [r["undo"] for r in add_undo_commands(records)] == [
        undo, f"{undo} -n 'n:1;n:2'", f"{undo} --context prod",
    ]  # fmt: skip
