"""What a drain decides after an observation, and the rules that it follows."""

from typing import NamedTuple

from nsadmin.operations.drain.events import DrainEvent


class SafetyRules(NamedTuple):
    """When a broker is safe to stop.

    `settle_ms` have to pass after all routes closed, and then `quiet_intervals` without writes. Up to
    `write_threshold` messages per minute count as no writes. With `for_good`, all consumer groups must also
    have consumed everything.
    """

    settle_ms: int = 30_000
    quiet_intervals: int = 3
    write_threshold: int = 0
    for_good: bool = False


class DrainDecision(NamedTuple):
    """The events of an observation, and the name servers that have to remove the write permission."""

    drain_events: list[DrainEvent]
    servers_to_wipe: tuple[str, ...]
