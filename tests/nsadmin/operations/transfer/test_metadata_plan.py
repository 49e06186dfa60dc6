"""Metadata as the brokers of another cluster can have it."""

from nsadmin.operations.backups.records import BrokerBackup, ClusterBackup, Section
from nsadmin.operations.transfer.metadata_plan import (
    count_queues,
    prepare_metadata,
    spread_to_all,
    translate_order_confs,
)
from tests.support.cluster_backups import BACKUP, BROKER


def with_brokers(*brokers: BrokerBackup) -> ClusterBackup:
    return BACKUP._replace(brokers={broker.broker_name: broker for broker in brokers})


def test_accounts_become_users_on_5_x_and_trusted_addresses_are_losses() -> None:
    prepared_backup, losses = prepare_metadata(with_brokers(BROKER), {"broker-a": "5.5.0"})
    broker = prepared_backup.brokers["broker-a"]
    assert [user.username for user in broker.users] == ["alice", "ci"]
    assert [entry.resource for entry in broker.acls["User:ci"]] == ["Topic:orders", "Group:*"]
    assert (broker.accounts, broker.white_addrs) == ([], [])
    assert [(loss.section, loss.item_name) for loss in losses] == [
        (Section.STATIC_TOPICS, "moved"), (Section.ACCOUNTS, "ci"), (Section.ACCOUNTS, "10.1.*.*"),
    ]  # fmt: skip


def test_4_x_keeps_accounts_and_has_neither_users_nor_attributes() -> None:
    source = BROKER._replace(
        static_topics={},
        topics={"orders": {"readQueueNums": 8, "attributes": {"message.type": "FIFO"}}},
        groups={"g": {"retryMaxTimes": 3, "consumeMessageOrderly": True, "attributes": {}}},
    )
    prepared_backup, losses = prepare_metadata(with_brokers(source), {"broker-a": "4.9.7"})
    broker = prepared_backup.brokers["broker-a"]
    assert (broker.topics, broker.groups) == ({"orders": {"readQueueNums": 8}}, {"g": {"retryMaxTimes": 3}})
    assert (broker.users, broker.acls, broker.consume_modes) == ([], {}, [])
    assert broker.accounts == BROKER.accounts
    assert [(loss.section, loss.item_name, loss.reason) for loss in losses] == [
        (Section.TOPICS, "orders", "4.x brokers have no attributes"),
        (Section.GROUPS, "g", "4.x brokers have no consumeMessageOrderly"),
        (Section.CONSUME_MODES, "orders warehouse", "4.x brokers have no consume modes"),
        (
            Section.USERS,
            "alice",
            "brokers of 4.9.7 have accounts in place of users: see `nsadmin updateAclConfig --help`",
        ),
    ]


def test_a_broker_of_unknown_release_gets_everything() -> None:
    source = BROKER._replace(static_topics={}, accounts=[], white_addrs=[])
    assert prepare_metadata(with_brokers(source), {}) == (with_brokers(source), [])


def test_every_target_broker_gets_the_items_of_all_sources_with_the_most_queues() -> None:
    other = BROKER._replace(
        broker_name="broker-b",
        topics={"orders": {"readQueueNums": 16, "order": True}, "only-b": {"readQueueNums": 1}},
        users=[],
        groups={},
    )
    spread = spread_to_all(with_brokers(BROKER, other), ["x", "y"])
    assert [(name, broker.broker_name) for name, broker in spread.brokers.items()] == [("x", "x"), ("y", "y")]
    broker = spread.brokers["y"]
    assert broker.topics == {
        "orders": {"readQueueNums": 16, "order": False},
        "payments": {"readQueueNums": 4},
        "only-b": {"readQueueNums": 1},
    }
    assert (broker.groups, broker.users) == (BROKER.groups, BROKER.users)
    assert spread_to_all(with_brokers(), ["x"]).brokers == {}


def test_order_configurations_name_only_target_brokers_that_get_the_topic() -> None:
    hosts = {"broker-a": ["x", "y"], "broker-b": ["x"]}
    target = BACKUP._replace(
        brokers={
            "x": BROKER._replace(topics={"orders": {}, "payments": {}}),
            "y": BROKER._replace(topics={"orders": {}}),
        }
    )
    confs = {
        "orders": "broker-a:2;broker-b:4;elsewhere:8",
        "payments": "elsewhere:8",
        "refunds": "broker-a:x",
    }
    queues, losses = translate_order_confs(confs, hosts, target)
    assert queues == {"orders": {"x": 4, "y": 2}}
    assert [(loss.item_name, loss.reason) for loss in losses] == [
        ("payments", "its order configuration names no broker that gets the topic"),
        (
            "refunds",
            'the order configuration of the source is invalid: invalid entry "broker-a:x": give '
            "each broker a number of queues, as in broker-a-0:8;broker-a-1:8",
        ),
    ]


def test_the_queues_of_all_brokers_are_counted() -> None:
    source = with_brokers(
        *(BROKER._replace(broker_name=name, topics={"T": {"writeQueueNums": 8}}) for name in "abc")
    )
    spread = spread_to_all(source, ["x"])
    assert (count_queues(source), count_queues(spread)) == ({"T": 24}, {"T": 8})
