"""Knows settings that released servers (4.9.7, 5.5.0) read only at their start, that break one, or delete.

It is no complete list. Who calls the getter of a setting tells when a server reads it.
"""

from collections.abc import Iterable

_ENDINGS = ("ThreadPoolNums", "PoolQueueCapacity")
_KEYS = frozenset(
    (
        "aclEnable",
        "flushConsumerOffsetInterval",
        "registerNameServerPeriod",
        "serverCallbackExecutorThreads",
        "serverSelectorThreads",
        "serverWorkerThreads",
        "traceTopicEnable",
    )
)


def is_read_at_start(key: str) -> bool:
    """Whether a new value certainly takes effect only when the server restarts."""
    return key in _KEYS or key.endswith(_ENDINGS)


_BREAKS = {
    "brokerClusterName": "the broker registers in the new cluster at once; its slaves stay in the old one",
    "brokerId": "the broker registers with the new id at once, and keeps its role until it restarts",
    "brokerIP1": "the broker registers with the new address at once: clients fail if nothing listens there",
    "brokerName": "the broker registers under the new name at once, and its slaves keep the old one",
    "brokerRole": "a running broker takes only parts of a new role: with SLAVE, it refuses all sends at once",
    "listenPort": "the broker registers with the new port at once, but listens on the old one until it "
    "restarts: clients do not reach it",
}


def describe_break(key: str, value: str) -> str | None:
    """What a running broker breaks with a new value; None if nothing is known to break."""
    if (key, value) == ("flushDiskType", "SYNC_FLUSH"):
        # Brokers of 4.9.7 and 5.5.0 flush with the service that was made at their start: ClassCastException.
        return "a broker that changes to synchronous flush refuses all sends until it restarts"
    return _BREAKS.get(key)


_UNREAD_TOO = "also those that groups have not read"


def describe_deletion(key: str, value: str, values_before: Iterable[str]) -> str | None:
    """What brokers delete with a lower value (CleanCommitLogService); None if they delete nothing more."""
    if key == "fileReservedTime":
        deletion = (
            f"brokers delete messages that are older than {value} h at deleteWhen, or soon if the disk is "
            f"nearly full, {_UNREAD_TOO}"
        )
    elif key in ("diskSpaceCleanForciblyRatio", "diskSpaceWarningLevelRatio"):
        deletion = f"above {value} % of the disk, brokers delete their oldest messages, {_UNREAD_TOO}"
    else:
        return None
    is_lower = any(before.isdecimal() and int(value) < int(before) for before in values_before)
    return deletion if is_lower else None
