"""Knows settings that released servers (4.9.7, 5.5.0) read only when they start, by who calls their getters.

It is no complete list: settings that are also read later, such as ports and paths, are left out.
"""

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
