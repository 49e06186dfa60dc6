"""Refusals: what was not allowed, counted for metrics, and noticed for the log in bounded memory."""

from enum import StrEnum
from typing import NamedTuple

_NOTICED = 256
_LONGEST_KEY = 64


class Reason(StrEnum):
    """Why a request was refused; the words are those of the metric's label."""

    UNSIGNED = "unsigned"
    UNKNOWN_KEY = "unknownKey"
    BAD_SIGNATURE = "badSignature"
    NETWORK = "network"
    ROLE = "role"
    FENCE = "fence"
    READ_ONLY = "readOnly"
    REMOTE_CONFIG = "remoteConfig"


class Refusal(NamedTuple):
    """`remark` is what who asked is told, `access_key` what he called himself."""

    reason: Reason
    remark: str
    access_key: str | None = None


class Notice(NamedTuple):
    """What is one line of the log, however often it happens; `code` is the request's."""

    reason: Reason
    code: int
    host: str


class Noticed(NamedTuple):
    """How often, and the access key that was named the last time."""

    times: int
    access_key: str | None


class Refusals:
    """`counts` only grow. What was noticed is kept until it is taken; beyond a limit it is only counted."""

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
        """What was noticed since the last time, and how many refusals more there were."""
        taken = self._noticed, self._beyond
        self._noticed, self._beyond = {}, 0
        return taken
