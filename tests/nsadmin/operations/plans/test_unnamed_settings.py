"""Present settings that a file does not name."""

from nsadmin.operations.plans.diff import compute_diff
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.unnamed_settings import keep_unnamed, list_unnamed_attributes
from tests.nsadmin.operations.plans.states import broker, group, live, topic

FIFO = {"message.type": "FIFO"}


def test_only_named_settings_change() -> None:
    present = {"readQueueNums": 16, "attributes": {**FIFO, "x": "1"}}
    state = live(broker("a", {"T": present}, {"g": {"retryMaxTimes": 5}}), broker("b"))
    spec = ItemSpec({"perm": 4, "attributes": {"x": "2"}}, per_broker={"a": {"writeQueueNums": 4}})
    desired = DesiredCluster("c", {"T": spec}, {"g": ItemSpec({"consumeEnable": False})})
    steps = compute_diff(keep_unnamed(desired, state), state).steps
    after = {(step.item_name, step.server_name): step.after for step in steps}
    assert after == {
        ("T", "a"): topic(readQueueNums=16, writeQueueNums=4, perm=4, attributes={**FIFO, "x": "2"}),
        # A new topic or group has the defaults.
        ("T", "b"): topic(perm=4, attributes={"x": "2"}),
        ("g", "a"): group(retryMaxTimes=5, consumeEnable=False),
        ("g", "b"): group(consumeEnable=False),
    }


def test_a_broker_that_should_not_have_the_item_gets_none() -> None:
    state = live(broker("a", {"T": {"perm": 4}}), broker("b", {"T": {"perm": 4}}))
    desired = DesiredCluster("c", {"T": ItemSpec(only_on=("a",))}, None)
    kept = keep_unnamed(desired, state)
    assert kept.group_specs is None
    assert compute_diff(kept, state).steps == ()
    assert [step.server_name for step in compute_diff(kept, state, prune=True).steps] == ["b"]


def test_attributes_that_would_be_removed() -> None:
    present = {"attributes": {**FIFO, "x": "1"}}
    state = live(broker("a", {"T": present, "U": present}), broker("b", {"T": {"attributes": {"y": "1"}}}))
    desired = DesiredCluster("c", {"T": ItemSpec({"attributes": {"x": "2"}}), "V": ItemSpec()})
    assert list_unnamed_attributes(desired, state) == {("topic", "T"): ["message.type", "y"]}
    assert list_unnamed_attributes(keep_unnamed(desired, state), state) == {}
