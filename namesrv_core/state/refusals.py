"""The refusals of requests: counted for the metrics, and collected for the log in bounded memory."""

from enum import StrEnum
from typing import NamedTuple

_MAX_UNLOGGED_KINDS = 256
_MAX_KEY_LENGTH = 64


class RefusalReason(StrEnum):
    """The reason for a refusal. The values are the labels of the metric."""

    UNSIGNED = "unsigned"
    UNKNOWN_KEY = "unknownKey"
    BAD_SIGNATURE = "badSignature"
    NETWORK = "network"
    ROLE = "role"
    FENCE = "fence"
    READ_ONLY = "readOnly"
    REMOTE_CONFIG = "remoteConfig"


class RequestRefusal(NamedTuple):
    """A refusal. `remark` goes to the peer, and `access_key` is the key that the peer claimed."""

    reason: RefusalReason
    remark: str
    access_key: str | None = None


class RefusalKind(NamedTuple):
    """A kind of refusal: all refusals of one kind are one line of the log."""

    reason: RefusalReason
    request_code: int
    peer_host: str


class RefusalTally(NamedTuple):
    """The number of refusals of one kind, and the access key of the last one."""

    refusal_count: int
    access_key: str | None


class RefusalCounters:
    """Counts refusals by reason. The counts only grow.

    It also collects refusals for the log until `take_unlogged` is called. Kinds beyond a limit are only
    counted.
    """

    def __init__(self) -> None:
        self.counts_by_reason = dict.fromkeys(RefusalReason, 0)
        self._unlogged: dict[RefusalKind, RefusalTally] = {}
        self._unlogged_overflow = 0

    def record_refusal(self, refusal: RequestRefusal, code: int, peer_host: str) -> None:
        self.counts_by_reason[refusal.reason] += 1
        kind = RefusalKind(refusal.reason, code, peer_host)
        previous = self._unlogged.get(kind)
        if previous is None and len(self._unlogged) >= _MAX_UNLOGGED_KINDS:
            self._unlogged_overflow += 1
            return
        access_key = refusal.access_key and refusal.access_key[:_MAX_KEY_LENGTH]
        self._unlogged[kind] = RefusalTally(1 + (previous.refusal_count if previous else 0), access_key)

    def take_unlogged(self) -> tuple[dict[RefusalKind, RefusalTally], int]:
        """Take the refusals collected since the last call, and the number of those beyond the limit."""
        unlogged = self._unlogged, self._unlogged_overflow
        self._unlogged, self._unlogged_overflow = {}, 0
        return unlogged
