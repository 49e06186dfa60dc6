"""Counts the messages that brokers will still put into queues which are closed to producers.

Brokers keep delayed messages and uncommitted transactional messages in topics of their own. Later they store
them in the queue that the producer chose.
"""

from collections.abc import Mapping

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.results import OverReadLimit, ServerResult

_MAX_HALF_MESSAGES = 100_000
"""Of each broker; transactions that ended since its last check count."""


def count_undelivered(
    admin: AdminClient, topic: str, closing_queues: Mapping[str, range], addrs: Mapping[str, str], now_ms: int
) -> int | None:
    """Return the number of delayed and transactional messages for closing queues; None if it is unknown.

    `addrs` has the masters by broker name.
    """
    closing_addrs = [addrs[broker] for broker in closing_queues]
    runtime_results = admin.brokers.get_runtime_info(closing_addrs)
    if any(result.error is not None for result in runtime_results):
        return None
    try:
        total = _count_half_messages(admin, topic, closing_queues, addrs)
        if any(_keeps_delayed(result) for result in runtime_results):
            total += _count_delayed(admin, topic, closing_queues, now_ms)
    except RocketMQError:
        return None
    return total


def _keeps_delayed(result: ServerResult[RuntimeInfo]) -> bool:
    """Whether a broker has undelivered messages of delay levels, or may have timed ones."""
    runtime_info = result.result
    if runtime_info is None:
        return True
    for info_key, offsets_text in runtime_info.table.items():
        delivered_offset, _, max_offset = offsets_text.partition(",")
        if info_key.startswith("scheduleMessageOffset_") and delivered_offset != max_offset:
            return True
    # Brokers since 5.0 do not say how many timed messages they keep.
    return "timerReadBehind" in runtime_info.table


def _count_delayed(admin: AdminClient, topic: str, closing_queues: Mapping[str, range], now_ms: int) -> int:
    delayed_messages, errors = admin.delayed_messages.list_pending(topic, now_ms)
    for broker, error in errors.items():
        if broker in closing_queues:
            raise error
    return sum(
        not message.is_cancelled
        and _is_for_queues(
            message.located_message.message.properties,
            closing_queues.get(message.located_message.broker_name or "", range(0)),
        )
        for message in delayed_messages
    )


def _count_half_messages(
    admin: AdminClient, topic: str, closing_queues: Mapping[str, range], addrs: Mapping[str, str]
) -> int:
    half_results = admin.transactions.list_half_messages(
        [addrs[b] for b in closing_queues], _MAX_HALF_MESSAGES
    )
    ids_by_addr = {addrs[broker]: ids for broker, ids in closing_queues.items()}
    if any(result.value().unread_count for result in half_results):
        raise OverReadLimit(f"more than {_MAX_HALF_MESSAGES} half messages")
    return sum(
        half.topic == topic and _is_for_queues(half.message.properties, ids_by_addr[result.addr])
        for result in half_results
        for half in result.value().messages
    )


def _is_for_queues(properties: Mapping[str, str], queue_ids: range) -> bool:
    queue_text = properties.get("REAL_QID", "")
    return not queue_text.isdecimal() or int(queue_text) in queue_ids
