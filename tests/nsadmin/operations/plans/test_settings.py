"""Settings from a file, from a broker of 5.x and from one of 4.9, compared."""

from typing import Any

import pytest

from nsadmin.operations.plans.settings import complete_settings, without_defaults

OF_4_9 = {
    "brokerId": 0, "consumeBroadcastEnable": False, "consumeEnable": True, "consumeFromMinEnable": False,
    "groupName": "G", "notifyConsumerIdsChangedEnable": True, "retryMaxTimes": 3, "retryQueueNums": 1,
    "whichBrokerWhenConsumeSlowly": 1,
}  # fmt: skip
OF_5_5 = {
    **OF_4_9, "attributes": {}, "consumeMessageOrderly": False, "consumeTimeoutMinute": 15,
    "groupRetryPolicy": {"type": "CUSTOMIZED", "customizedRetryPolicy": None}, "groupSysFlag": 0,
    "subscriptionDataSet": None,
}  # fmt: skip


def test_a_group_is_the_same_on_every_release() -> None:
    assert (
        complete_settings("group", OF_4_9)
        == complete_settings("group", OF_5_5)
        == complete_settings("group", {"retryMaxTimes": 3})
    )
    assert without_defaults("group", complete_settings("group", OF_5_5)) == {"retryMaxTimes": 3}


@pytest.mark.parametrize(
    ("told", "written"),
    [
        (
            {"exponentialRetryPolicy": {"initial": 5000, "max": 7200000, "multiplier": 2}},
            {"type": "CUSTOMIZED", "exponentialRetryPolicy": {"initial": 5000}},
        ),
        (
            {"customizedRetryPolicy": {"next": [1, 2]}},
            {"type": "CUSTOMIZED", "customizedRetryPolicy": {"next": (1, 2)}},
        ),
    ],
)
def test_what_is_inside_has_defaults_too(told: dict[str, Any], written: dict[str, Any]) -> None:
    first, second = (complete_settings("group", {"groupRetryPolicy": policy}) for policy in (told, written))
    assert first == second


def test_lists_and_maps_have_one_order() -> None:
    first = complete_settings(
        "group", {"subscriptionDataSet": [{"topic": "b"}, {"topic": "a", "version": 3}]}
    )
    second = complete_settings(
        "group", {"subscriptionDataSet": [{"topic": "a", "version": 3}, {"topic": "b"}]}
    )
    assert first == second
    assert [item["expression"] for item in first["subscriptionDataSet"]] == ["*", "*"]
    settings = complete_settings(
        "topic", {"attributes": {"b": 1, "a": "x"}, "messageType": "new in some release"}
    )
    assert list(settings["attributes"].items()) == [("a", "x"), ("b", "1")]
    assert "messageType" not in settings
