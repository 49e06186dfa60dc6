"""The limits of a server: their keys, what each is if nobody says anything, and how often each was met."""

from collections.abc import Mapping

from namesrv_core.protocol.frame import MAX_FRAME
from namesrv_core.protocol.limits import UNLIMITED

_KIB, _MIB = 1 << 10, 1 << 20

DEFAULTS: Mapping[str, int] = {
    "maxConnections": 100_000,
    "maxConnectionsPerAddress": 10_000,
    "maxFrameBytes": MAX_FRAME,
    "maxHeaderBytes": 128 * _KIB,
    "maxExtFields": 256,
    "maxJsonDepth": 100,
    "maxFramesPerSecond": 10_000,
    "maxBytesPerSecond": 64 * _MIB,
    "maxSecondsPerFrame": 60,
    "maxUnsentBytes": 64 * _MIB,
    "maxUnsentSeconds": 60,
    "maxBufferedBytes": 1024 * _MIB,
    "maxRegistrationBytes": 64 * _MIB,
    "maxTopicsPerRegistration": 100_000,
    "maxMappingsPerRegistration": 10_000,
    "maxFilterServersPerRegistration": 1_000,
    "maxOddRegistrationBytes": 4 * _MIB,
    "maxBodyBytes": 256 * _KIB,
    "maxTopics": 1_000_000,
    "maxBrokers": 10_000,
    "maxKvEntryBytes": 64 * _KIB,
    "maxKvBytes": 8 * _MIB,
}
"""Beyond what any real cluster does; 0 and less is no limit."""

_NOTICED = 16


def effective(value: int) -> int:
    """What a setting means."""
    return value if value > 0 else UNLIMITED


class Met:
    """`counts` only grow: by the key of the limit, how often it was met."""

    def __init__(self) -> None:
        self.counts = dict.fromkeys(DEFAULTS, 0)
        self.noticed: list[tuple[str, str]] = []
        """Limit and words, for the log; a few of each look."""

    def note(self, limit: str, text: str) -> None:
        self.counts[limit] += 1
        if len(self.noticed) < _NOTICED:
            self.noticed.append((limit, text))
