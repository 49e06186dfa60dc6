"""Settings of brokers: read, planned, changed and looked at again."""

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.brokers.broker_configs import ConfigItemChange
from tests.support.fake_servers import answer_nothing, closed_port, refuse_with
from tests.support.topic_brokers import TopicBroker


def test_settings_are_in_the_order_of_keys() -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.items["a"] = "x=y"
        [result] = admin.broker_configs.get_each([broker.addr])
    assert list(result.result or ()) == ["a", "brokerId", "brokerName", "brokerRole", "fileReservedTime"]
    assert (result.result or {})["a"] == "x=y"


def test_a_change_is_read_back_and_what_is_so_already_is_left_alone() -> None:
    with TopicBroker() as first_broker, TopicBroker() as other, AdminClient("h:1", timeout=5) as admin:
        other.items["fileReservedTime"] = "48"
        changed = admin.broker_configs.update_item([first_broker.addr, other.addr], "fileReservedTime", "48")
        assert changed == [
            (first_broker.addr, ConfigItemChange("72", "48"), None),
            (other.addr, ConfigItemChange("48", "48"), None),
        ]
        assert (first_broker.items["fileReservedTime"], other.asked_codes()) == ("48", [26])


@pytest.mark.parametrize(
    ("key", "value", "kind", "text"),
    [
        ("noSuch", "1", NotFound, 'this broker has no setting "noSuch"'),
        (
            "fileReservedTime",
            "soon",
            NotApplied,
            'invalid value "soon" of fileReservedTime: use a whole number (now "72")',
        ),
    ],
)
def test_what_a_broker_would_ignore_is_an_error(
    key: str, value: str, kind: type[Exception], text: str
) -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        for change_item in (admin.broker_configs.plan_update, admin.broker_configs.update_item):
            [outcome] = change_item([broker.addr], key, value)
            assert (type(outcome.error), str(outcome.error)) == (kind, text)
        assert RequestCode.UPDATE_BROKER_CONFIG not in broker.asked_codes()


def test_what_a_broker_ignored_is_an_error() -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.handlers[RequestCode.UPDATE_BROKER_CONFIG] = build_reply
        [outcome] = admin.broker_configs.update_item([broker.addr], "fileReservedTime", "99999999999")
    assert isinstance(outcome.error, NotApplied)
    assert str(outcome.error) == 'the broker kept "72": it does not accept "99999999999"'


def test_refusals_and_dead_brokers_stay_with_their_broker() -> None:
    with TopicBroker() as good, TopicBroker() as locked, AdminClient("h:1", timeout=5) as admin:
        locked.handlers[25] = refuse_with(16, "black list")
        dead = f"127.0.0.1:{closed_port()}"
        outcomes = admin.broker_configs.update_item([dead, locked.addr, good.addr], "fileReservedTime", "1")
    assert [result.result for result in outcomes] == [None, None, ConfigItemChange("72", "1")]
    assert "NO_PERMISSION" in str(outcomes[1].error)


def test_a_plan_changes_nothing() -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        [plan] = admin.broker_configs.plan_update([broker.addr], "fileReservedTime", "1")
        assert (plan.result, broker.asked_codes()) == (ConfigItemChange("72", "1"), [26])


@pytest.mark.parametrize(
    ("before", "wanted", "shown", "result"),
    [
        ("4", "04", "4", "applied"),
        ("false", "TRUE", "true", "applied"),
        ("1.0", "2", "2.0", "applied"),
        ("true", "TRUE", "true", "unchanged"),
        ("Abc", "abc", "abc", "applied"),
        ("Abc", "abc", "Abc", "ignored"),
        ("04", "4", "04", "applied"),
        ("a", "nan", "a", "ignored"),
    ],
)
def test_values_are_compared_as_brokers_write_them(before: str, wanted: str, shown: str, result: str) -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.items["item"] = before

        def take(asked: RemotingCommand) -> RemotingCommand:
            broker.items["item"] = shown
            return build_reply(asked)

        broker.handlers[25] = take
        [outcome] = admin.broker_configs.update_item([broker.addr], "item", wanted)
        was_sent = 25 in broker.asked_codes()
    assert was_sent == (result != "unchanged")
    assert (outcome.error is None) == (result != "ignored")


def test_a_broker_registers_anew_when_it_is_told_the_permission_that_it_has() -> None:
    with TopicBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.items["brokerPermission"] = "6"
        assert admin.broker_configs.force_registration(broker.addr).result == "6"
        assert [asked.body for asked in broker.asked if asked.code == 25] == [b"brokerPermission=6\n"]
        broker.handlers[25] = refuse_with(16, "no")
        assert str(admin.broker_configs.force_registration(broker.addr).error) == "NO_PERMISSION (16): no"


def test_a_change_without_an_answer_counts_as_what_the_broker_has_afterwards() -> None:
    """A broker answers a new brokerPermission only after all of its name servers did."""
    with TopicBroker() as silent_broker, TopicBroker() as lost, AdminClient("h:1", timeout=0.3) as admin:
        put_item = silent_broker.handlers[RequestCode.UPDATE_BROKER_CONFIG]
        silent_broker.handlers[RequestCode.UPDATE_BROKER_CONFIG] = lambda asked: put_item(asked) and None
        lost.handlers[RequestCode.UPDATE_BROKER_CONFIG] = answer_nothing
        changed = admin.broker_configs.update_item([silent_broker.addr, lost.addr], "fileReservedTime", "48")
    assert (changed[0].addr, changed[0].error) == (silent_broker.addr, None)
    assert changed[0].value()[:2] == ("72", "48")
    assert str(changed[0].value().late_error).startswith(f"{silent_broker.addr}: no answer within 0.3 s")
    assert isinstance(changed[1].error, CallError)
