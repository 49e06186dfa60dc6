"""A group that its broker created again gets back what it may not read."""

from nsadmin import AdminClient
from nsadmin.client.brokers.targets import target_at_addr
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import refuse_with


def keep_group(broker: ConsumerBroker) -> None:
    """A deletion only clears the forbidden topics, because the group is there again at once."""
    delete = broker.handlers[207]

    def delete_and_recreate(asked):  # type: ignore[no-untyped-def]
        settings = dict(broker.configs["G"])
        reply = delete(asked)
        broker.configs["G"] = settings
        return reply

    broker.handlers[207] = delete_and_recreate


def test_forbidden_topics_are_forbidden_again(admin: AdminClient, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.forbidden = {"G": {"T": 4, "Open": 0}}
    keep_group(consumer_broker)
    [kept] = admin.groups.delete_group("G", [target_at_addr(consumer_broker.addr)])
    assert "its settings are restored" in str(kept.error)
    assert consumer_broker.forbidden == {"G": {"T": 4}}
    assert consumer_broker.asked_codes().count(353) == 1


def test_a_broker_that_refuses_to_forbid_is_named(
    admin: AdminClient, consumer_broker: ConsumerBroker
) -> None:
    consumer_broker.forbidden = {"G": {"T": 4}}
    keep_group(consumer_broker)
    consumer_broker.handlers[353] = refuse_with(1, "no space left")
    [kept] = admin.groups.delete_group("G", [target_at_addr(consumer_broker.addr)])
    assert "its settings are not restored: SYSTEM_ERROR (1): no space left" in str(kept.error)


def test_a_deleted_group_leaves_nothing_behind(admin: AdminClient, consumer_broker: ConsumerBroker) -> None:
    consumer_broker.forbidden = {"G": {"T": 4}}
    [deleted] = admin.groups.delete_group("G", [target_at_addr(consumer_broker.addr)])
    assert (deleted.error, consumer_broker.forbidden) == (None, {})
    assert 353 not in consumer_broker.asked_codes()
