"""What would be lost without brokers."""

from typing import Any

from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.what_if.losses import (
    GroupLoss,
    TopicCapacity,
    TopicOutageLoss,
    WorstLoss,
    find_group_losses,
    find_losses,
    find_worst_losses,
    lost_write_share,
    measure_capacity,
    remaining_members,
)

BROKERS = {"a": {0, 1}, "b": {0}, "c": {1}}
WHOLE_A = {"a": frozenset({0, 1})}
MASTER_OF_A = {"a": frozenset({0})}


def queue(write: int = 4, read: int = 4, perm: int = 6, **more: int) -> dict[str, int]:
    return {"writeQueueNums": write, "readQueueNums": read, "perm": perm, "topicSysFlag": 0, **more}


def picture(topics: dict[str, Any], **more: Any) -> ClusterSnapshot:
    brokers = {
        name: {"clusterName": "C", "brokerAddrs": {str(number): f"{name}:{number}" for number in ids}}
        for name, ids in BROKERS.items()
    }
    fields: dict[str, Any] = {"kv": {}, "settings": {}} | more
    return ClusterSnapshot("s:1", 7, brokers, topics, **fields)


def of(topics: dict[str, Any], down: Any = WHOLE_A, **more: Any) -> dict[str, TopicOutageLoss]:
    return {loss.topic: loss for loss in find_losses(picture(topics, **more), down)}


def test_a_topic_that_is_there_only_loses_everything() -> None:
    [loss] = of({"T": {"a": queue()}}).values()
    assert loss == TopicOutageLoss("T", TopicCapacity(4, 4, 1), TopicCapacity(0, 0, 0), ("a",))
    assert (loss.stops_writes, loss.stops_reads, loss.loses_masters, loss.stands_still) == (True,) * 4
    assert loss.write_share == 1


def test_a_topic_that_is_elsewhere_too_loses_a_share() -> None:
    [loss] = of({"T": {"a": queue(write=6), "b": queue(write=2)}, "U": {"b": queue()}}).values()
    assert (loss.topic, loss.write_share, loss.stands_still) == ("T", 0.75, False)


def test_what_is_read_only_or_without_a_master_elsewhere_is_no_help_to_producers() -> None:
    losses = of({"T": {"a": queue(), "b": queue(perm=4)}, "U": {"a": queue(), "c": queue()}})
    assert (losses["T"].stops_writes, losses["T"].loses_masters, losses["T"].stops_reads) == (
        True,
        False,
        False,
    )
    assert (losses["U"].stops_writes, losses["U"].loses_masters, losses["U"].stops_reads) == (
        True,
        True,
        False,
    )


def test_a_slave_that_stays_can_be_read() -> None:
    [loss] = of({"T": {"a": queue()}}, MASTER_OF_A).values()
    assert (loss.stops_writes, loss.loses_masters, loss.stops_reads) == (True, True, False)
    assert of({"T": {"a": queue()}}, {"a": frozenset({1})}) == {}
    assert remaining_members({"a": frozenset({0, 1})}, WHOLE_A) == {}


def test_what_cannot_be_written_now_loses_no_share() -> None:
    [loss] = of({"T": {"a": queue(perm=4), "b": queue(perm=4)}}).values()
    assert (loss.write_share, loss.stops_writes, loss.stands_still) == (0, False, False)


def test_order_configurations_that_name_what_is_gone() -> None:
    topics = {"T": {"a": queue(), "b": queue()}, "U": {"a": queue(), "b": queue()}}
    kv = {"ORDER_TOPIC_CONFIG": {"T": "a:4;b:4", "U": "b:4"}}
    order_settings = {"orderMessageEnable": "true"}
    losses = of(topics, kv=kv, settings=order_settings)
    assert (losses["T"].ordered_by, losses["T"].stands_still, losses["U"].ordered_by) == (("a",), True, ())
    # Clients are not told of it, or go on sending to a slave's name, which a name server still has.
    assert of(topics, kv=kv)["T"].ordered_by == ()
    assert of(topics, MASTER_OF_A, kv=kv, settings=order_settings)["T"].ordered_by == ()


def test_the_part_of_all_queues_that_goes() -> None:
    shared = {"a": queue(write=6), "b": queue(write=2)}
    snapshot = picture({"T": shared, "U": shared, "V": {"b": queue(write=8)}, "W": {"a": queue(perm=4)}})
    assert lost_write_share(snapshot, WHOLE_A) == 0.5
    assert lost_write_share(picture({}), WHOLE_A) == 0


def test_static_queues_stay_in_use() -> None:
    [loss] = of({"T": {"a": queue(mappingEpoch=3), "b": queue()}}).values()
    assert (loss.is_static, loss.stands_still) == (True, True)


def test_topics_that_share_a_table_are_told_each_by_itself() -> None:
    shared = {"a": queue()}
    assert list(of({"T": shared, "U": shared})) == ["T", "U"]


def test_a_broker_that_is_not_there_gives_no_queues() -> None:
    assert measure_capacity({"gone": queue(), "b": queue()}, {"b": frozenset({0})}) == TopicCapacity(4, 4, 1)


def test_a_slave_that_refuses_reads_is_no_help_to_consumers() -> None:
    topics = {"T": {"a": queue()}}
    [loss] = find_losses(picture(topics), MASTER_OF_A)
    assert (loss.stops_writes, loss.stops_reads) == (True, False)
    [loss] = find_losses(picture(topics), MASTER_OF_A, {"a": frozenset({1})})
    assert (loss.stops_writes, loss.stops_reads) == (True, True)
    [loss] = find_losses(picture(topics), MASTER_OF_A, {"a": frozenset({2})})
    assert not loss.stops_reads


def loss(topic: str, after: int, reads: int = 4) -> TopicOutageLoss:
    return TopicOutageLoss(topic, TopicCapacity(4, 4, 1), TopicCapacity(after, reads, 1), ("a",))


def test_clients_may_ask_the_server_where_most_goes() -> None:
    worst_losses = find_worst_losses(
        {"s:1": [loss("T", 2), loss("U", 1)], "s:2": [loss("T", 0), loss("U", 1)], "s:3": []}
    )
    assert worst_losses == [WorstLoss(loss("T", 0), ("s:2",)), WorstLoss(loss("U", 1), ("s:1", "s:2"))]


def test_groups_that_cannot_read_a_topic_any_more_come_first() -> None:
    worst_losses = [
        WorstLoss(loss("T", 2, reads=2), ()),
        WorstLoss(loss("U", 0, reads=0), ()),
        WorstLoss(loss("V", 2), ()),
    ]
    readers = {"less": {"T", "V", "other"}, "none": {"U", "T"}, "write-only": {"V"}, "far": {"other"}}
    assert find_group_losses(readers, {"none": 3}, worst_losses) == [
        GroupLoss("none", 3, ("U",), ("T",)),
        GroupLoss("less", 0, (), ("T",)),
    ]
