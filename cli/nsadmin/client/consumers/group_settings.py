"""Settings of a consumer group: records, defaults, parsing and changes."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.wire_configs import read_configs

# The defaults of mqadmin. The defaults of a broker would allow broadcasting.
NEW_GROUP_SETTINGS: Mapping[str, Any] = {
    "consumeEnable": True,
    "consumeFromMinEnable": False,
    "consumeBroadcastEnable": False,
    "consumeMessageOrderly": False,
    "retryQueueNums": 1,
    "retryMaxTimes": 16,
    "brokerId": 0,
    "whichBrokerWhenConsumeSlowly": 1,
    "notifyConsumerIdsChangedEnable": True,
}

GroupConfigFields = Mapping[str, Any]
"""A SubscriptionGroupConfig: wire name to value. The broker's release decides which names exist."""

AttributeChanges = Mapping[str, str]
"""Changes of attributes: "+key" maps to the new value; "-key" deletes, its value is ignored."""


class GroupSettings(NamedTuple):
    """The settings of a group on one broker.

    Attributes:
        target: The broker process.
        settings: The settings; None if the broker does not know the group, or after an error.
        error: The error; None after a success.
    """

    target: BrokerTarget
    settings: GroupConfigFields | None
    error: RocketMQError | None


class GroupChange(NamedTuple):
    """A change of a group on one master.

    Attributes:
        target: The master.
        before: The settings before; {} if the group did not exist.
        after: The settings after.
        error: The reason why the change failed or is impossible; None otherwise.
    """

    target: BrokerTarget
    before: GroupConfigFields
    after: GroupConfigFields
    error: RocketMQError | None


def parse_group_table(response: RemotingCommand) -> dict[str, GroupConfigFields]:
    """Parse the answer to GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201)."""
    group_configs = read_configs(parse_json_object(response).child("subscriptionGroupTable"))
    return dict(sorted(group_configs.items()))


def find_ignored_settings(
    group: str, planned_change: GroupChange, table_result: ServerResult[dict[str, GroupConfigFields]]
) -> RocketMQError | None:
    """Compare a change with the settings that a broker has afterwards."""
    current_settings = (table_result.result or {}).get(group, {})
    ignored_keys = [
        key for key, v in planned_change.after.items() if (v or None) != (current_settings.get(key) or None)
    ]
    if not ignored_keys:
        return None
    return NotApplied(f"the broker reported success, but kept the old {', '.join(sorted(ignored_keys))}")
