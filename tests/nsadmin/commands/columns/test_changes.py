"""Changes in words."""

from typing import Any

import pytest

from nsadmin.command_line.declarations import declaration_of
from nsadmin.command_line.registry import COMMANDS
from nsadmin.commands.columns.changes import (
    CHANGES,
    ServerChange,
    describe_change,
    describe_item_change,
    describe_removal,
)
from nsadmin.operations.plans.settings import complete_settings


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("48", "72", "48 -> 72"),
        ("", "72", "'' -> 72"),
        ("72", "72", None),
        (None, None, None),
        (None, "x", "new: x"),
        ("x", None, "removed: x"),
        ({"perm": 6, "order": False}, {"perm": 4, "order": False}, "perm rw- -> r--"),
        ({"a": 1}, {"a": 1, "b": True}, "b none -> true"),
        (None, {"perm": 2, "attributes": {}}, "new: perm -w-, attributes none"),
        ({"b": {"perm": 6, "n": 8}}, None, "removed: b perm=rw- n=8"),
    ],
)
def test_words(before: Any, after: Any, text: str | None) -> None:
    assert describe_change(before, after) == text
    assert CHANGES.read(ServerChange("h:1", before, after)) == text


def test_of_what_goes_the_settings_that_matter_most() -> None:
    assert describe_removal({"perm": 6, "x": 1}, ("perm", "y")) == "removed: perm rw-"
    assert describe_removal(None, ("perm",)) is None


OTHERWISE = {
    "resetOffsetByTime": {"from", "to"},
    "skipAccumulatedMessage": {"from", "to"},
    "cloneGroupOffset": {"from", "to"},
    "cleanExpiredCQ": {"changes"},
    "cleanUnusedTopic": {"changes"},
    "deleteExpiredCommitLog": {"changes"},
    "addBroker": {"broker"},
    "exportPopRecord": {"brokerAddr", "result"},
    "triggerLiteDispatch": {"brokerAddr", "result"},
    "updateStaticTopic": {"before", "after"},
    "remappingStaticTopic": {"before", "after"},
    "removeBroker": {"broker"},
    "benchConsume": {"messageCount"},
    "benchLatency": {"messageCount"},
    "benchProduce": {"messageCount"},
    "checkMsgSendRT": {"queueId"},
    "messagesImport": {"sent", "sentBefore"},
    "produce": {"messageCount"},
    "sendMessage": {"queueId"},
    "sendMsgStatus": {"queueId"},
    "clusterRT": {"brokerName"},
    "delayedCancel": {"deliverTime"},
    "dlqPurge": {"older", "newer"},
    "dlqReplay": {"replayed"},
    "drain": {"openTopics"},
    "transactionResume": {"msgId"},
    "undrain": {"differing"},
    "rollingRestart": {"steps"},
    "rebalanceRun": {"readBefore", "readAfter", "writeBefore", "writeAfter"},
}
"""Commands that tell in other columns what they change: offsets, what only brokers know, messages."""


def test_every_change_tells_what_is_there_before_and_after() -> None:
    for entry in COMMANDS:
        if entry.kind in ("change", "delete"):
            names = {*declaration_of(entry.load_function()).column_names}
            assert OTHERWISE.get(entry.name, {"changes", "before", "after"}) <= names, entry.name


def test_a_new_item_is_described_by_what_is_no_default() -> None:
    settings = complete_settings("group", {"retryQueueNums": 4})
    words = "new: consumeEnable true, retryMaxTimes 16, retryQueueNums 4"
    assert describe_item_change("group", None, settings) == words
    assert describe_item_change("topic", complete_settings("topic", {}), None) == (
        "removed: readQueueNums 8, writeQueueNums 8, perm rw-"
    )
    assert (
        describe_item_change("group", {"retryMaxTimes": 16}, {"retryMaxTimes": 3}) == "retryMaxTimes 16 -> 3"
    )
