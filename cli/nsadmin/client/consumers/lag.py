"""The lag of a consumer group: the one place that computes it, and says why it is unknown. Pure."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

NEVER_COMMITTED = "no consumer offset"
BEYOND_END = "the consumer offset is beyond the end of the queue"
POPS = "POP: lag is not known from offsets"
BROADCASTS = "the group broadcasts: each client keeps its own offsets"


class Lag(NamedTuple):
    """Unconsumed messages of a queue, or of several.

    Attributes:
        messages: The number of messages; None if unknown.
        reason: Why the number is unknown, or lacks some queues; None if it is complete.
    """

    messages: int | None
    reason: str | None = None


def measure_lag(
    broker_offset: int, consumer_offset: int | None, is_broadcasting: bool = False, is_popping: bool = False
) -> Lag:
    """Return the lag of a group on one queue. All parts of nsadmin that show a lag use this function."""
    if is_broadcasting:
        return Lag(None, BROADCASTS)
    if consumer_offset is None:
        # Wherever the clients start, a queue without messages has nothing for them.
        return Lag(None, NEVER_COMMITTED) if broker_offset else Lag(0)
    if consumer_offset > broker_offset:
        return Lag(None, POPS if is_popping else BEYOND_END)
    return Lag(broker_offset - consumer_offset)


def sum_lags(lags: Iterable[Lag]) -> Lag:
    """Return the lag of several queues: the sum of those whose lag is known.

    A sum of 0 that lacks queues would look like "all is consumed", so it is unknown.
    """
    lags = list(lags)
    known_messages = sum(lag.messages or 0 for lag in lags)
    reasons = Counter(lag.reason for lag in lags if lag.reason is not None)
    if not lags:
        return Lag(None, NEVER_COMMITTED)
    if reasons[BROADCASTS]:
        return Lag(None, BROADCASTS)
    if len(lags) in reasons.values():
        return Lag(None, *reasons)
    reason_texts = [f"{reason} on {count} of {len(lags)} queues" for reason, count in reasons.items()]
    return Lag(known_messages if known_messages or not reasons else None, "; ".join(reason_texts) or None)


def describe_no_offsets(topic: str | None) -> str:
    """Say that brokers have no offset of the group, for a topic if there is one."""
    if topic is None:
        return "brokers have no offset of the group, which consumed nothing there"
    return f"brokers have no offset of the group for {topic}: it consumed nothing there, or the name is wrong"
