"""Subscription groups: read from every broker, changed by merging, deleted; each read back."""

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.brokers.targets import BrokerTarget, target_at_addr
from nsadmin.client.consumers.groups import NEW_GROUP_SETTINGS, is_system_group
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with


def test_settings_are_those_of_each_broker(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with ConsumerBroker() as other:
        other.configs = {}
        first_server.clusters = {"C": {"a": {1: broker.addr}, "b": {0: other.addr, 1: "h:1"}, "c": {0: dead}}}
        settings = admin.groups.get_settings("G")
        assert [(item.target, item.settings and item.settings["retryMaxTimes"]) for item in settings] == [
            (BrokerTarget("a", 1, broker.addr), 3),
            (BrokerTarget("b", 0, other.addr), None),
            (BrokerTarget("c", 0, dead), None),
        ]
        assert [item.error is None for item in settings] == [True, True, False]
    assert broker.asked_codes() == [201]


def test_a_group_that_no_broker_knows(admin: AdminClient) -> None:
    with pytest.raises(NotFound, match='no broker has the consumer group "X"'):
        admin.groups.check_exists("X")
    with pytest.raises(NotFound, match='no cluster "D"'):
        admin.groups.get_settings("G", "D")


def test_without_brokers_no_group_is_missing(first_server: FakeNameServer, admin: AdminClient) -> None:
    first_server.clusters = {}
    with pytest.raises(NotFound, match=r"^no broker is registered$"):
        admin.groups.check_exists("G")


def test_names_leave_the_brokers_own_groups_out(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs = {name: {} for name in ("TOOLS_CONSUMER", "G", "CID_RMQ_SYS_TRANS")}
    assert [result.result for result in admin.groups.list_names()] == [["G"]]
    assert [len(result.result or ()) for result in admin.groups.list_names(include_system=True)] == [3]
    assert is_system_group("CID_RMQ_SYS_X")


def test_what_is_not_named_stays_as_it_is(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs["G"] = {
        "groupName": "G",
        "retryMaxTimes": 3,
        "consumeTimeoutMinute": 7,
        "attributes": {"a": "1", "b": "2"},
    }
    [change] = admin.groups.update_group(
        "G", admin.groups.list_masters("C"), {"consumeEnable": False}, {"+a": "9", "-b": ""}
    )
    assert change.error is None
    assert change.before["attributes"] == {"a": "1", "b": "2"}
    assert change.after == broker.configs["G"]
    assert broker.configs["G"] == {
        "groupName": "G",
        "retryMaxTimes": 3,
        "consumeTimeoutMinute": 7,
        "consumeEnable": False,
        "attributes": {"a": "9"},
    }


def test_a_new_group_may_not_broadcast(admin: AdminClient, broker: ConsumerBroker) -> None:
    [change] = admin.groups.update_group("New", admin.groups.list_masters("C"), {"retryMaxTimes": 5}, {})
    assert (change.before, change.error) == ({}, None)
    wanted = {**NEW_GROUP_SETTINGS, "retryMaxTimes": 5, "groupName": "New", "attributes": {}}
    assert broker.configs["New"] == wanted


def test_a_new_group_has_a_name_that_brokers_take(admin: AdminClient, broker: ConsumerBroker) -> None:
    masters = admin.groups.list_masters("C")
    for name in ("a.b", "g" * 121):
        [change] = admin.groups.update_group(name, masters, {}, {})
        assert "use letters, digits and % | _ -, at most 120 characters" in str(change.error)
    assert 200 not in broker.asked_codes()


def test_a_group_of_an_old_broker_keeps_a_name_that_would_be_refused_now(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.configs["a.b"] = {"groupName": "a.b", "retryMaxTimes": 3}
    [change] = admin.groups.update_group("a.b", admin.groups.list_masters("C"), {"retryMaxTimes": 5}, {})
    assert (change.error, broker.configs["a.b"]["retryMaxTimes"]) == (None, 5)


def test_planning_changes_nothing(admin: AdminClient, broker: ConsumerBroker) -> None:
    [plan] = admin.groups.plan_update("G", admin.groups.list_masters("C"), {"retryMaxTimes": 5}, {"+a": "1"})
    assert (plan.before["retryMaxTimes"], plan.after["retryMaxTimes"]) == (3, 5)
    assert plan.after["attributes"] == {"a": "1"}
    assert 200 not in broker.asked_codes()


def test_what_the_broker_does_not_take_over_is_told(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.handlers[200] = lambda asked: build_reply(asked)
    [change] = admin.groups.update_group("G", admin.groups.list_masters("C"), {"retryMaxTimes": 5}, {})
    assert isinstance(change.error, NotApplied)
    assert str(change.error).endswith("kept the old retryMaxTimes")


def test_refusals_and_missing_masters_are_told_for_each_broker(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    first_server.clusters = {"C": {"a": {0: broker.addr}, "b": {1: "h:1"}}}
    broker.handlers[200] = refuse_with(29, "bad name")
    changes = admin.groups.update_group("G", admin.groups.list_masters("C"), {"retryMaxTimes": 5}, {})
    assert [str(change.error) for change in changes] == [
        "INVALID_PARAMETER (29): bad name",
        "this broker has no master now",
    ]


def test_a_slave_is_not_changed(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.properties["brokerId"] = "1"
    [change] = admin.groups.update_group("G", [target_at_addr(broker.addr)], {"retryMaxTimes": 5}, {})
    [deleted] = admin.groups.delete_group("G", [target_at_addr(broker.addr)])
    for error in (change.error, deleted.error):
        assert str(error) == "this broker is a slave, which would lose the change: pass its master"
    assert {200, 207}.isdisjoint(broker.asked_codes())


def test_deleting_is_read_back(admin: AdminClient, broker: ConsumerBroker) -> None:
    had = dict(broker.configs["G"])
    [done] = admin.groups.delete_group("G", [target_at_addr(broker.addr)], clean_offset=True)
    assert (done.result, done.error) == (had, None)
    assert (broker.configs, broker.offsets) == ({}, {})
    [again] = admin.groups.delete_group("G", [target_at_addr(broker.addr)])
    assert isinstance(again.error, NotFound)
    assert broker.asked_codes().count(207) == 1


def test_a_group_that_comes_back_at_once_is_not_deleted(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.handlers[207] = lambda asked: build_reply(asked)
    [kept] = admin.groups.delete_group("G", admin.groups.list_masters("C"))
    assert str(kept.error).startswith("the broker created the group again, and its settings are restored")
    broker.handlers[207] = refuse_with(1, "no")
    [refused] = admin.groups.delete_group("G", admin.groups.list_masters("C"))
    assert str(refused.error) == "SYSTEM_ERROR (1): no"


def keep_group(broker: ConsumerBroker) -> None:
    """A deletion only clears the forbidden topics, because the group is there again at once."""
    delete = broker.handlers[207]

    def delete_and_recreate(asked):  # type: ignore[no-untyped-def]
        settings = dict(broker.configs["G"])
        reply = delete(asked)
        broker.configs["G"] = settings
        return reply

    broker.handlers[207] = delete_and_recreate


def test_forbidden_topics_are_forbidden_again(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.forbidden = {"G": {"T": 4, "Open": 0}}
    keep_group(broker)
    [kept] = admin.groups.delete_group("G", [target_at_addr(broker.addr)])
    assert "its settings are restored" in str(kept.error)
    assert broker.forbidden == {"G": {"T": 4}}
    assert broker.asked_codes().count(353) == 1


def test_a_broker_that_refuses_to_forbid_is_named(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.forbidden = {"G": {"T": 4}}
    keep_group(broker)
    broker.handlers[353] = refuse_with(1, "no space left")
    [kept] = admin.groups.delete_group("G", [target_at_addr(broker.addr)])
    assert "its settings are not restored: SYSTEM_ERROR (1): no space left" in str(kept.error)


def test_a_deleted_group_leaves_nothing_behind(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.forbidden = {"G": {"T": 4}}
    [deleted] = admin.groups.delete_group("G", [target_at_addr(broker.addr)])
    assert (deleted.error, broker.forbidden) == (None, {})
    assert 353 not in broker.asked_codes()
