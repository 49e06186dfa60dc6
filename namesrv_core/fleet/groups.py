"""The consumer groups of one broker: their settings, and the DataVersion, which each change advances."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.fleet.topics import ConfigTable, apply_attribute_changes
from namesrv_core.protocol.resource_names import MAX_GROUP_LENGTH, NAME_PATTERN

GroupConfigJson = Mapping[str, Any]
"""A complete SubscriptionGroupConfig in the JSON form of bodies; never changed in place."""

SYSTEM_GROUPS = (
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_OWNER",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_PULL",
    "CID_RMQ_SYS_TRANS",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "TOOLS_CONSUMER",
)
"""The groups of a new broker."""

_DEFAULT_CONFIG: GroupConfigJson = {
    "attributes": {},
    "brokerId": 0,
    "consumeBroadcastEnable": True,
    "consumeEnable": True,
    "consumeFromMinEnable": True,
    "consumeMessageOrderly": False,
    "consumeTimeoutMinute": 15,
    "groupRetryPolicy": {"type": "CUSTOMIZED"},
    "groupSysFlag": 0,
    "notifyConsumerIdsChangedEnable": True,
    "retryMaxTimes": 16,
    "retryQueueNums": 1,
    "whichBrokerWhenConsumeSlowly": 1,
}


class GroupTable(ConfigTable):
    def __init__(self, group_names: Iterable[str], now_ms: int) -> None:
        groups = sorted({*SYSTEM_GROUPS, *group_names})
        super().__init__({group: {**_DEFAULT_CONFIG, "groupName": group} for group in groups}, now_ms)

    def put_config(self, wanted: Mapping[str, Any], now_ms: int) -> None:
        """Create or replace a group, and merge attributes. Raises RequestError for a bad name."""
        group: Any = wanted.get("groupName")
        _require_valid_name(group)
        current = self.configs.get(group, {}).get("attributes", {})
        config = {key: wanted.get(key, default) for key, default in _DEFAULT_CONFIG.items()}
        attributes = apply_attribute_changes(current, dict(wanted.get("attributes") or {}))
        self.configs[group] = {**config, "attributes": attributes, "groupName": group}
        self.advance_version(now_ms)


def _require_valid_name(group: Any) -> None:
    """Raise RequestError 29 with the text of 5.5.0 (`TopicValidator#validateGroup`)."""
    if not isinstance(group, str) or not group.strip():
        remark = "The specified group is blank."
    elif not re.fullmatch(NAME_PATTERN, group):
        remark = f"The specified group: {group}, contains illegal characters, allowing only ^{NAME_PATTERN}$"
    elif len(group) > MAX_GROUP_LENGTH:
        remark = f"The specified group: {group}, is longer than group max length: {MAX_GROUP_LENGTH}"
    else:
        return
    raise RequestError(remark, ResponseCode.INVALID_PARAMETER)
