"""Topics changed by merging, and looked at again."""

from typing import Any

import pytest

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied
from nsadmin.client.topics.topic_configs import BrokerTopicConfig, TopicConfigChange, TopicPatch
from tests.support.fake_servers import closed_port, refuse_with
from tests.support.topic_brokers import TopicBroker, topic_config

ORDERED = topic_config("T", readQueueNums=4, writeQueueNums=2, perm=4, order=True, topicSysFlag=3)


def changed(broker: TopicBroker, patch: TopicPatch, *, create: bool = True) -> TopicConfigChange:
    with AdminClient("h:1", timeout=5) as admin:
        [change] = admin.topic_configs.update_topic([broker.addr], "T", patch, create=create)
    return change


@pytest.mark.parametrize(
    ("patch", "members"),
    [
        (TopicPatch(read_queue_nums=9), {"readQueueNums": 9}),
        (TopicPatch(write_queue_nums=0), {"writeQueueNums": 0}),
        (TopicPatch(perm=6), {"perm": 6}),
        (TopicPatch(order=False), {"order": False}),
        (TopicPatch(unit=False), {"topicSysFlag": 2}),
        (TopicPatch(has_unit_sub=False), {"topicSysFlag": 1}),
        (TopicPatch(attributes="+message.type=FIFO"), {"attributes": {"message.type": "FIFO", "a": "1"}}),
        (TopicPatch(attributes="-a"), {"attributes": {}}),
    ],
)
def test_what_is_not_named_stays(patch: TopicPatch, members: dict[str, Any]) -> None:
    before = {**ORDERED, "attributes": {"a": "1"}}
    with TopicBroker(before) as broker:
        change = changed(broker, patch)
        assert change.error is None
        assert change.is_change
        assert broker.configs["T"] == {**before, **members}


def test_only_different_attributes_are_sent() -> None:
    with TopicBroker({**ORDERED, "attributes": {"message.type": "FIFO", "queue.type": "BatchCQ"}}) as broker:
        patch = TopicPatch(attributes="+queue.type=BatchCQ,-none,-message.type,+lite.topic.expiration=1")
        assert changed(broker, patch).error is None
        [sent] = [asked.ext for asked in broker.asked if asked.code == 17]
        assert (sent or {})["attributes"] == "+lite.topic.expiration=1,-message.type"


@pytest.mark.parametrize("changes", ["+queue.type=SimpleCQ", "-queue.type", "+cleanup.policy=COMPACTION"])
def test_attributes_that_a_topic_keeps_for_life_are_not_sent(changes: str) -> None:
    with TopicBroker({**ORDERED, "attributes": {"queue.type": "BatchCQ"}}) as broker:
        change = changed(broker, TopicPatch(attributes=changes))
        attribute = changes[1:].partition("=")[0]
        assert str(change.error) == f'a broker sets "{attribute}" only when it creates the topic'
        assert (change.after, 17 in broker.asked_codes()) == (None, False)


def test_attributes_that_a_broker_refuses_are_not_sent() -> None:
    with TopicBroker() as broker:
        change = changed(broker, TopicPatch(attributes="+queue.type=CQ"))
        assert str(change.error) == 'invalid value "CQ" of queue.type: use SimpleCQ, BatchCQ'
        with pytest.raises(ValueError, match=r'invalid attribute "a=b": write \+a=b'):
            changed(broker, TopicPatch(attributes="a=b"))
        assert 17 not in broker.asked_codes()


def test_a_new_topic_has_mqadmins_defaults() -> None:
    with TopicBroker() as broker:
        change = changed(broker, TopicPatch(perm=4))
        assert (change.before, change.after) == (None, BrokerTopicConfig("T", 8, 8, 4))
        assert broker.configs["T"] == topic_config("T", perm=4)


def test_a_new_topic_whose_name_no_broker_takes_is_not_sent() -> None:
    with TopicBroker() as broker, AdminClient() as admin:
        [change] = admin.topic_configs.update_topic([broker.addr], "x" * 128, TopicPatch(perm=4))
        assert str(change.error).endswith("use letters, digits and % | _ -, at most 127 characters")
        assert 17 not in broker.asked_codes()


def test_nothing_is_created_where_only_changes_are_wanted() -> None:
    with TopicBroker() as broker:
        assert isinstance(changed(broker, TopicPatch(perm=4), create=False).error, TopicNotExist)
        assert 17 not in broker.asked_codes()


def test_what_is_so_already_is_not_sent() -> None:
    with TopicBroker(ORDERED) as broker:
        change = changed(broker, TopicPatch(perm=4))
        assert (change.is_change, change.error, 17 in broker.asked_codes()) == (False, None, False)


def test_a_slave_is_left_alone() -> None:
    with TopicBroker(ORDERED) as broker:
        broker.as_slave()
        assert "this is a slave" in str(changed(broker, TopicPatch(perm=6)).error)
        assert 17 not in broker.asked_codes()


def test_a_broker_before_5_0_is_asked_for_all_its_topics() -> None:
    with TopicBroker(ORDERED) as broker:
        broker.as_4_9()
        change = changed(broker, TopicPatch(perm=6))
        assert (change.error, broker.configs["T"]["perm"]) == (None, 6)
        broker.configs.clear()
        assert changed(broker, TopicPatch()).before is None


def test_a_yes_without_a_change_is_not_believed() -> None:
    with TopicBroker(ORDERED) as broker:
        broker.handlers[17] = build_reply
        error = changed(broker, TopicPatch(perm=6, read_queue_nums=1)).error
        assert isinstance(error, NotApplied)
        assert str(error) == "ignored: the broker kept the old readQueueNums and perm"
        kept = changed(broker, TopicPatch(order=False)).error
        assert str(kept) == (
            "ignored: the broker kept the old order; a topic with an order configuration stays ordered: "
            "see `nsadmin updateOrderConf T get`"
        )


def test_an_order_that_the_broker_gives_by_itself_is_reported_and_no_failure() -> None:
    with TopicBroker() as broker:
        create = broker.handlers[17]

        def create_ordered(asked: Any) -> Any:
            answer = create(asked)
            broker.configs["T"]["order"] = True
            return answer

        broker.handlers[17] = create_ordered
        change = changed(broker, TopicPatch(perm=6))
        assert change.error is None
        assert change.after is not None
        assert change.after.order
        assert changed(broker, TopicPatch(order=False)).error is not None


def test_each_broker_has_its_own_outcome() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    patch = TopicPatch(perm=6)
    with TopicBroker(ORDERED) as good, TopicBroker(ORDERED) as bad, AdminClient("h:1", timeout=5) as admin:
        bad.handlers[17] = refuse_with(29, "no")
        plans = admin.topic_configs.plan_update([dead, bad.addr, good.addr], "T", patch, create=True)
        done = admin.topic_configs.apply_changes(plans, patch)
    assert [change.error is None for change in done] == [False, False, True]
    assert str(done[1].error) == "INVALID_PARAMETER (29): no"


def test_all_topics_of_brokers_in_order() -> None:
    with TopicBroker() as broker, AdminClient("127.0.0.1:1", timeout=5) as admin:
        broker.configs = {name: topic_config(name, perm=perm) for name, perm in (("U", 4), ("T", 6))}
        broker.as_4_9()
        dead = f"127.0.0.1:{closed_port()}"
        topics, silent = admin.topic_configs.list_broker_topics([broker.addr, dead])
    assert topics.result is not None
    assert [(topic.topic_name, topic.perm) for topic in topics.result] == [("T", 6), ("U", 4)]
    assert silent.result is None
