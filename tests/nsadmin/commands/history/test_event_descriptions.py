"""Every event has words, and those of changes say what was before."""

from typing import Any

import pytest

from namesrv_core import events
from namesrv_core.history.records import event_to_json
from nsadmin.commands.history.event_descriptions import describe_event
from tests.support.journals import make_snapshot, registration_events

RW, RO = events.QueueData("a", 8, 8, 6), events.QueueData("a", 8, 8, 4)
INFO = events.MappingInfo("S", None, 2, "a")
SAID: dict[str, events.Event] = {
    "new: a 0=10.0.0.1:10911, 1 topic": registration_events("a", "T")[0],
    "T on a new: readQueueNums 8, writeQueueNums 8, perm rw-": registration_events("a", "T")[1],
    "a 0: x:1 -> y:1, 2 topics": events.BrokerRegistered("c", "a", 0, "y:1", 2, "x:1"),
    "a 0=y:1, 2 topics, data version 3 of 7": events.BrokerChanged(
        "c", "a", 0, "y:1", 2, info=events.BrokerInfo(data_version=events.DataVersion(3, 0, 7))
    ),
    "a 0=y:1 refused: too old": events.RegistrationRefused("c", "a", 0, "y:1", "too old"),
    "a 0=y:1 claims the place of b at x:1, last heard 9 ms before": events.AddressConflict(
        "c", "a", 0, "y:1", "b", "x:1", 9
    ),
    "a 0=y:1 silent for 90000 ms": events.HeartbeatGap("c", "a", 0, "y:1", 90000, False),
    "removed: a 0=y:1: expired": events.BrokerUnregistered("c", "a", 0, "y:1", "expired", 1),
    "removed: y:1: expired": events.AddressForgotten("c", "y:1", "expired"),
    "T, U, V and 1 more on a perm rw- -> r--": events.WritePermWiped(
        "a", 4, events.group_topic_changes(events.TopicChange(topic, RW, RO) for topic in "TUVW")
    ),
    "; ".join(f"T{n} on a new: readQueueNums {n}, writeQueueNums {n}, perm rw-" for n in range(3))
    + "; and 2 with other changes": events.TopicsChanged(
        "a",
        "registration",
        events.group_topic_changes(
            events.TopicChange(f"T{n}", None, events.QueueData("a", n, n, 6)) for n in range(5)
        ),
    ),
    "a: 0 topics changed": events.WritePermAdded("a", 4, ()),
    "T deleted from c; a removed: readQueueNums 8, writeQueueNums 8, perm r--": events.TopicDeleted(
        "T", "c", events.group_topic_changes([events.TopicChange("T", RO, None)])
    ),
    "T deleted from all clusters": events.TopicDeleted("T", None, ()),
    "n k: 1 -> 2": events.KvPut("n", "k", "1", "2"),
    "n k: -": events.KvPut("n", "k", "1", "1"),
    "n k: removed: 1": events.KvDeleted("n", "k", "1"),
    "x 1 -> 2": events.SettingsChanged((events.SettingChange("x", "1", "2"),)),
    "S on a removed: totalQueues 2, epoch 0": events.MappingsChanged(
        "a", (events.MappingChange("S", "a", INFO, None),)
    ),
    "lost=3": events.EventsLost(3),
    "reason=start clusters=(0) groups=(0) live=(0) queues=(0) routes=(0) mappings=(0)": make_snapshot(
        "start"
    ),
}


@pytest.mark.parametrize(("said", "event"), SAID.items(), ids=str)
def test_what_is_said_of_an_event(said: str, event: Any) -> None:
    fields = event_to_json(event)
    assert describe_event(type(event).__name__, {**fields, **_lists(fields)}) == said


def _lists(fields: Any) -> dict[str, list[Any]]:
    """As JSON has them."""
    return {name: list(value) for name, value in fields.items() if isinstance(value, tuple)}


def test_no_kind_is_without_words() -> None:
    assert describe_event("Later", {"a": 1, "b": {}, "c": [1, 2]}) == "a=1 c=(2)"
    assert describe_event("Later", {}) is None
    assert events.EVENT_TYPES_BY_NAME
