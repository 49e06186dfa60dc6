"""The topics of one broker: which names it takes, which it has from the start, and their DataVersion.

Texts of refusals and the system topics are those of a released 5.5.0 broker.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.errors import RequestError, ResponseCode
from namesrv_core.protocol.bodies import DataVersion

Config = Mapping[str, Any]
"""A whole TopicConfig as it stands in bodies; never changed in place."""

DEFAULT_TOPIC = "TBW102"
RETRY_PREFIX = "%RETRY%"
DLQ_PREFIX = "%DLQ%"

_MAX_LENGTH = 127
_MAX_RETRY_LENGTH = 255
_NAME = re.compile(r"[%|a-zA-Z0-9_-]+")
_ATTRIBUTES = (
    "queue.type",
    "cleanup.policy",
    "message.type",
    "reserve.time",
    "priority",
    "lite.topic.expiration",
)
_RESERVED = ("TRANS_CHECK_MAX_TIME_TOPIC", "RMQ_SYS_TRACE_TOPIC", "CHECKPOINT_TOPIC")


def topic_config(
    name: str,
    queues: int,
    perm: int = 6,
    attributes: Mapping[str, str] | None = None,
    *,
    write_queues: int | None = None,
    sys_flag: int = 0,
    order: bool = False,
    filter_type: str = "SINGLE_TAG",
) -> Config:
    """A TopicConfig with `queues` to read from, and as many to write to unless said otherwise."""
    return {
        "attributes": dict(attributes or {}),
        "order": order,
        "perm": perm,
        "readQueueNums": queues,
        "topicFilterType": filter_type,
        "topicName": name,
        "topicSysFlag": sys_flag,
        "writeQueueNums": queues if write_queues is None else write_queues,
    }


def system_topics(cluster: str, broker: str) -> list[Config]:
    """What a fresh 5.5.0 broker has (captured): 15 topics of its own making."""
    return [
        topic_config(DEFAULT_TOPIC, 8, perm=7),
        topic_config(cluster, 16, perm=7),
        topic_config(broker, 1, perm=7),
        topic_config(f"rmq_sys_SYNC_BROKER_MEMBER_{broker}", 1, perm=1),
        topic_config(f"rmq_sys_REVIVE_LOG_{cluster}", 8),
        topic_config(f"{cluster}_REPLY_TOPIC", 1),
        topic_config("SELF_TEST_TOPIC", 1),
        topic_config("BenchmarkTest", 1024),
        topic_config("OFFSET_MOVED_EVENT", 1),
        topic_config("SCHEDULE_TOPIC_XXXX", 18),
        topic_config("rmq_sys_wheel_timer", 1),
        topic_config("RMQ_SYS_TRANS_HALF_TOPIC", 1),
        topic_config("RMQ_SYS_TRANS_OP_HALF_TOPIC", 1),
        topic_config("RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", 1),
        topic_config("RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC", 1),
    ]


def reserved_names(cluster: str, broker: str) -> frozenset[str]:
    """The names nobody may create or delete: GET_SYSTEM_TOPIC_LIST_FROM_BROKER."""
    return frozenset([config["topicName"] for config in system_topics(cluster, broker)]).union(_RESERVED)


def altered_attributes(current: Mapping[str, str], text: str | None) -> dict[str, str]:
    """`current` after "+key=value,-key"; RequestError for a key that no broker knows."""
    changes = {}
    for part in filter(None, (text or "").split(",")):
        key, _, value = part.partition("=")
        if key[0] not in "+-":
            raise RequestError(f"add/alter attribute format is wrong: {part}")
        changes[key] = value
    return changed_attributes(current, changes)


def changed_attributes(current: Mapping[str, str], changes: Mapping[str, str] | None) -> dict[str, str]:
    """`current` after changes by signed keys; RequestError for a key that no broker knows."""
    unknown = [key[1:] for key in changes or () if key[1:] not in _ATTRIBUTES]
    if unknown:
        raise RequestError(f"unsupported key: {unknown[0]}")
    return altered(current, changes or {})


def altered(current: Mapping[str, str], changes: Mapping[str, str]) -> dict[str, str]:
    """`current` after changes by signed keys; RequestError for one without a sign."""
    attributes = dict(current)
    for key, value in changes.items():
        if key[:1] == "+":
            attributes[key[1:]] = value
        elif key[:1] == "-":
            attributes.pop(key[1:], None)
        else:
            raise RequestError(f"add/alter attribute format is wrong: {key}")
    return attributes


class TopicTable:
    """Configs by name, and the DataVersion that each change moves on; `now` is in ms."""

    def __init__(self, configs: Iterable[Config], reserved: frozenset[str], now: int) -> None:
        self.configs: dict[str, Config] = {config["topicName"]: config for config in configs}
        self.reserved = reserved
        self.version = DataVersion(0, 0, now)

    def check(self, name: str | None) -> str:
        """The name, if a topic may be created or deleted under it; else RequestError 29."""
        if name is None or not name.strip():
            raise _invalid("The specified topic is blank.")
        if not _NAME.fullmatch(name):
            allowed = f"^{_NAME.pattern}$"
            raise _invalid(
                f"The specified topic: {name}, contains illegal characters, allowing only {allowed}"
            )
        limit = _MAX_RETRY_LENGTH if name.startswith((RETRY_PREFIX, DLQ_PREFIX)) else _MAX_LENGTH
        if len(name) > limit:
            raise _invalid(f"The specified topic: {name}, is longer than topic max length: {limit}")
        if name in self.reserved:
            raise _invalid(f"The topic[{name}] is conflict with system topic.")
        return name

    def put(self, config: Config, now: int) -> bool:
        """Create or replace; False, and no new version, where nothing differs."""
        name = config["topicName"]
        if self.configs.get(name) == config:
            return False
        self.configs[name] = config
        self.move_on(now)
        return True

    def delete(self, name: str, now: int) -> bool:
        if self.configs.pop(name, None) is None:
            return False
        self.move_on(now)
        return True

    def move_on(self, now: int) -> None:
        """`DataVersion#nextVersion`."""
        self.version = DataVersion((self.version.counter or 0) + 1, self.version.state_version, now)

    def copy_from(self, configs: Mapping[str, Config], version: DataVersion) -> None:
        """What a slave does with its master's table."""
        self.configs = dict(configs)
        self.version = version


def _invalid(remark: str) -> RequestError:
    return RequestError(remark, ResponseCode.INVALID_PARAMETER)
