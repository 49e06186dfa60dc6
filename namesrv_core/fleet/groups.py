"""The consumer groups of one broker: their settings, and the DataVersion that each change moves on."""

from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.fleet.topics import altered
from namesrv_core.protocol.bodies import DataVersion

Settings = Mapping[str, Any]
"""A whole SubscriptionGroupConfig as it stands in bodies; never changed in place."""

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
"""Groups that a fresh broker has."""

_DEFAULTS: Settings = {
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
_LONGEST = 255


class GroupTable:
    """Settings by group; `now` is in ms."""

    def __init__(self, names: Iterable[str], now: int) -> None:
        self.configs: dict[str, Settings] = {
            name: {**_DEFAULTS, "groupName": name} for name in sorted({*SYSTEM_GROUPS, *names})
        }
        self.version = DataVersion(0, 0, now)

    def put(self, wanted: Mapping[str, Any], now: int) -> None:
        """Create or replace; attributes alone are merged, by signed keys. RequestError for a bad name."""
        name = wanted.get("groupName")
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST:
            raise RequestError("The specified group is blank or too long.", ResponseCode.INVALID_PARAMETER)
        present = self.configs.get(name, {}).get("attributes", {})
        settings = {key: wanted.get(key, value) for key, value in _DEFAULTS.items()}
        attributes = altered(present, dict(wanted.get("attributes") or {}))
        self.configs[name] = {**settings, "attributes": attributes, "groupName": name}
        self._move_on(now)

    def delete(self, name: str, now: int) -> bool:
        if self.configs.pop(name, None) is None:
            return False
        self._move_on(now)
        return True

    def copy_from(self, configs: Mapping[str, Settings], version: DataVersion) -> None:
        """What a slave does with its master's table."""
        self.configs = dict(configs)
        self.version = version

    def _move_on(self, now: int) -> None:
        self.version = DataVersion((self.version.counter or 0) + 1, self.version.state_version, now)
