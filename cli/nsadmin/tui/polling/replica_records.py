"""The records of a comparison of slaves with their masters.

Rule: the order of the fields is part of the file format of recordings.
"""

from collections.abc import Sequence

import msgspec


class SlaveDifferenceRecord(msgspec.Struct, frozen=True, array_like=True):
    """An item that differs, as in a row of `replicaDiff`. nsadmin knows it since `since` (ms since 1970)."""

    kind: str
    name: str
    state: str
    differs: str
    reason: str
    since: int


class SlaveRecord(msgspec.Struct, frozen=True, array_like=True):
    """A slave. `state` is equal, lag, drift or unknown. The counts are of all differences.

    `error` says why the slave was not compared, or not in all kinds. `differences` has the first ones.
    """

    broker_name: str
    broker_id: int
    state: str
    drift_count: int = 0
    lag_count: int = 0
    error: str | None = None
    differences: Sequence[SlaveDifferenceRecord] = ()
