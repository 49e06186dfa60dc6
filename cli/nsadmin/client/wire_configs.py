"""The settings of topics and groups, as brokers send them."""

from collections.abc import Callable, Mapping
from typing import Any

from nsadmin.client.connection.json_object import JsonObject, to_flag, to_integer, to_list, to_text

WireConfig = Mapping[str, Any]
"""The JSON members of the settings of a topic or group. Those of `read_config` have their types."""


def read_config(value: object, name: str) -> dict[str, Any]:
    """Read the settings of a topic or group: known ones with their types, others as the broker sends them."""
    return {
        key: setting if setting is None else _READERS.get(key, _keep)(setting, key)
        for key, setting in JsonObject(value, name).members.items()
    }


def read_configs(config_table: JsonObject) -> dict[str, WireConfig]:
    """Read the settings of all topics or groups of a broker."""
    return {name: read_config(value, name) for name, value in config_table.members.items()}


def _keep(value: object, name: str) -> object:
    return value


def _read_texts(value: object, name: str) -> dict[str, str]:
    texts = JsonObject(value, name)
    return {key: texts.text(key, "") for key in texts.members}


_READERS: Mapping[str, Callable[[object, str], object]] = {
    **dict.fromkeys(("topicName", "topicFilterType", "groupName", "topic", "type"), to_text),
    **dict.fromkeys(
        (
            *("readQueueNums", "writeQueueNums", "perm", "topicSysFlag", "brokerId", "groupSysFlag"),
            *("retryQueueNums", "retryMaxTimes", "whichBrokerWhenConsumeSlowly", "consumeTimeoutMinute"),
            *("initial", "max", "multiplier"),
        ),
        to_integer,
    ),
    **dict.fromkeys(
        (
            *("order", "consumeEnable", "consumeFromMinEnable", "consumeBroadcastEnable"),
            *("consumeMessageOrderly", "notifyConsumerIdsChangedEnable"),
        ),
        to_flag,
    ),
    **dict.fromkeys(("groupRetryPolicy", "exponentialRetryPolicy", "customizedRetryPolicy"), read_config),
    "attributes": _read_texts,
    "next": to_list,
    "subscriptionDataSet": lambda value, name: [read_config(item, name) for item in to_list(value, name)],
}
