"""The refusals of requests: counted for the metrics, and collected for the log in bounded memory."""

from enum import StrEnum
from typing import NamedTuple

_NOTICED = 256
_LONGEST_KEY = 64


class Reason(StrEnum):
    """The reason for a refusal. The values are the labels of the metric."""

    UNSIGNED = "unsigned"
    UNKNOWN_KEY = "unknownKey"
    BAD_SIGNATURE = "badSignature"
    NETWORK = "network"
    ROLE = "role"
    FENCE = "fence"
    READ_ONLY = "readOnly"
    REMOTE_CONFIG = "remoteConfig"


class Refusal(NamedTuple):
    """A refusal. `remark` goes to the peer, and `access_key` is the key that the peer claimed."""

    reason: Reason
    remark: str
    access_key: str | None = None


class Notice(NamedTuple):
    """A kind of refusal: all refusals of one kind are one line of the log."""

    reason: Reason
    code: int
    host: str


class Noticed(NamedTuple):
    """The number of refusals of one kind, and the access key of the last one."""

    times: int
    access_key: str | None


class Refusals:
    """Counts refusals by reason. The counts only grow.

    It also collects refusals for the log until `take_unlogged` is called. Kinds beyond a limit are only
    counted.
    """

    def __init__(self) -> None:
        self.counts = dict.fromkeys(Reason, 0)
        self._noticed: dict[Notice, Noticed] = {}
        self._beyond = 0

    def add(self, refusal: Refusal, code: int, host: str) -> None:
        self.counts[refusal.reason] += 1
        notice = Notice(refusal.reason, code, host)
        before = self._noticed.get(notice)
        if before is None and len(self._noticed) >= _NOTICED:
            self._beyond += 1
            return
        key = refusal.access_key and refusal.access_key[:_LONGEST_KEY]
        self._noticed[notice] = Noticed(1 + (before.times if before else 0), key)

    def take(self) -> tuple[dict[Notice, Noticed], int]:
        """Take the refusals collected since the last call, and the number of those beyond the limit."""
        taken = self._noticed, self._beyond
        self._noticed, self._beyond = {}, 0
        return taken
