"""TopicTable, the topics of one broker: the accepted names, the initial topics, and their DataVersion.

The error texts and the system topics are those of a released 5.5.0 broker.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.protocol.fastjson import encode_json
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.resource_attributes import (
    TOPIC_ATTRIBUTES,
    UNCHANGEABLE,
    apply_changes,
    is_accepted,
)
from namesrv_core.protocol.resource_names import NAME_PATTERN, max_topic_length

TopicConfigJson = Mapping[str, Any]
"""A complete TopicConfig in the JSON form of bodies; never changed in place."""

DEFAULT_TOPIC = "TBW102"

_RESERVED_NAMES = ("TRANS_CHECK_MAX_TIME_TOPIC", "RMQ_SYS_TRACE_TOPIC", "CHECKPOINT_TOPIC")


def make_topic_config(
    topic: str,
    read_queues: int,
    perm: int = 6,
    attributes: Mapping[str, str] | None = None,
    *,
    write_queues: int | None = None,
    sys_flag: int = 0,
    is_ordered: bool = False,
    filter_type: str = "SINGLE_TAG",
) -> TopicConfigJson:
    """A TopicConfig with `queues` read queues, and as many write queues by default."""
    return {
        "attributes": dict(attributes or {}),
        "order": is_ordered,
        "perm": perm,
        "readQueueNums": read_queues,
        "topicFilterType": filter_type,
        "topicName": topic,
        "topicSysFlag": sys_flag,
        "writeQueueNums": read_queues if write_queues is None else write_queues,
    }


def make_system_topics(cluster_name: str, broker_name: str) -> list[TopicConfigJson]:
    """The 15 system topics of a new 5.5.0 broker (captured)."""
    return [
        make_topic_config(DEFAULT_TOPIC, 8, perm=7),
        make_topic_config(cluster_name, 16, perm=7),
        make_topic_config(broker_name, 1, perm=7),
        make_topic_config(f"rmq_sys_SYNC_BROKER_MEMBER_{broker_name}", 1, perm=1),
        make_topic_config(f"rmq_sys_REVIVE_LOG_{cluster_name}", 8),
        make_topic_config(f"{cluster_name}_REPLY_TOPIC", 1),
        make_topic_config("SELF_TEST_TOPIC", 1),
        make_topic_config("BenchmarkTest", 1024),
        make_topic_config("OFFSET_MOVED_EVENT", 1),
        make_topic_config("SCHEDULE_TOPIC_XXXX", 18),
        make_topic_config("rmq_sys_wheel_timer", 1),
        make_topic_config("RMQ_SYS_TRANS_HALF_TOPIC", 1),
        make_topic_config("RMQ_SYS_TRANS_OP_HALF_TOPIC", 1),
        make_topic_config("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", 1),
        make_topic_config("RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC", 1),
    ]


def reserved_names(cluster_name: str, broker_name: str) -> frozenset[str]:
    """The names that cannot be created or deleted (GET_SYSTEM_TOPIC_LIST_FROM_BROKER)."""
    return frozenset([config["topicName"] for config in make_system_topics(cluster_name, broker_name)]).union(
        _RESERVED_NAMES
    )


def parse_attribute_changes(current: Mapping[str, str] | None, change: str | None) -> dict[str, str]:
    """As `change_known_attributes`, with changes such as "+key=value,-key"."""
    changes = {}
    for part in filter(None, (change or "").split(",")):
        signed_key, _, new_value = part.partition("=")
        if signed_key[0] not in "+-":
            raise RequestError(f"add/alter attribute format is wrong: {part}")
        changes[signed_key] = new_value
    return change_known_attributes(current, changes)


def change_known_attributes(
    current: Mapping[str, str] | None, changes: Mapping[str, str] | None
) -> dict[str, str]:
    """Apply changes by signed keys, as `AttributeUtil`. `current` is None for a new topic."""
    for signed_key, new_value in (changes or {}).items():
        attribute = signed_key[1:]
        if signed_key[0] == "-" and attribute not in (current or ()):
            raise RequestError(
                f"only add attribute is supported while creating topic. key: {attribute}"
                if current is None
                else f"attempt to delete a nonexistent key: {attribute}"
            )
        if current is not None and attribute in UNCHANGEABLE:
            raise RequestError(f"attempt to update an unchangeable attribute. key: {attribute}")
        values = TOPIC_ATTRIBUTES.get(attribute)
        if values is None:
            raise RequestError(f"unsupported key: {attribute}")
        if signed_key[0] == "+" and not is_accepted(values, new_value):
            raise RequestError(
                f"value is not in range({values[0]}, {values[-1]})"
                if isinstance(values, range)
                else f"value is not in set: [{', '.join(values)}]"
            )
    return apply_attribute_changes(current or {}, changes or {})


def apply_attribute_changes(current: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """Apply changes by signed keys to `current`. Raises RequestError for a key without a sign."""
    for signed_key in changes:
        if signed_key[:1] not in ("+", "-"):
            raise RequestError(f"add/alter attribute format is wrong: {signed_key}")
    return apply_changes(current, changes)


class ConfigTable:
    """Configs by name, and the DataVersion, which each change advances. Times are in ms."""

    def __init__(self, configs: Mapping[str, Mapping[str, Any]], now_ms: int) -> None:
        self.configs = dict(configs)
        self.data_version = DataVersion(0, 0, now_ms)
        self._encoded_contents: tuple[DataVersion, dict[str, Mapping[str, Any]]] | None = None
        self._encoded_body = b""

    def delete_config(self, name: str, now_ms: int) -> bool:
        if self.configs.pop(name, None) is None:
            return False
        self.advance_version(now_ms)
        return True

    def advance_version(self, now_ms: int) -> None:
        self.data_version = DataVersion(
            (self.data_version.counter or 0) + 1, self.data_version.state_version, now_ms
        )

    def copy_from(self, master_configs: Mapping[str, Mapping[str, Any]], master_version: DataVersion) -> None:
        """Copy the table of a master, as a slave does."""
        self.configs = dict(master_configs)
        self.data_version = master_version

    def encode_body(self, body: Mapping[str, object]) -> bytes:
        """Encode a body with all configs, anew if any has changed: slaves ask again and again."""
        contents = self.data_version, dict(self.configs)
        if self._encoded_contents != contents:
            self._encoded_contents, self._encoded_body = contents, encode_json(body)
        return self._encoded_body


class TopicTable(ConfigTable):
    def __init__(self, configs: Iterable[TopicConfigJson], names: frozenset[str], now_ms: int) -> None:
        super().__init__({config["topicName"]: config for config in configs}, now_ms)
        self.reserved_names = names

    def require_valid_name(self, topic: str | None) -> str:
        """Return the name if such a topic may be created or deleted. Raises RequestError 29 otherwise."""
        if topic is None or not topic.strip():
            remark = "The specified topic is blank."
        elif not re.fullmatch(NAME_PATTERN, topic):
            remark = (
                f"The specified topic: {topic}, contains illegal characters, allowing only ^{NAME_PATTERN}$"
            )
        elif len(topic) > (max_length := max_topic_length(topic)):
            remark = f"The specified topic: {topic}, is longer than topic max length: {max_length}"
        elif topic in self.reserved_names:
            remark = f"The topic[{topic}] is conflict with system topic."
        else:
            return topic
        raise RequestError(remark, ResponseCode.INVALID_PARAMETER)

    def put_config(self, config: TopicConfigJson, now_ms: int) -> bool:
        """Create or replace a config. Return False, without a new version, if nothing differs."""
        topic = config["topicName"]
        if self.configs.get(topic) == config:
            return False
        self.configs[topic] = config
        self.advance_version(now_ms)
        return True
