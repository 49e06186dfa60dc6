"""Problems of a consumer group that its clients' reports show."""

from collections.abc import Iterable, Sequence

from nsadmin.client.consumers.connected_clients import TopicSubscription
from nsadmin.client.consumers.running_info import ALL_QUEUES, RunningInfo
from nsadmin.client.message_queues import MessageQueue

BLOCKED_AFTER_MS = 60_000
"""Milliseconds without consumption, despite cached messages, after which a client counts as blocked."""


def find_subscription_problems(
    subscriptions_by_client: Sequence[tuple[str, tuple[TopicSubscription, ...]]],
) -> list[str]:
    """Find clients with different subscriptions in one group, which makes the group lose messages."""
    if not subscriptions_by_client:
        return []
    first_client, first_subscriptions = subscriptions_by_client[0]
    return [
        f"{client_id} and {first_client} subscribe differently: "
        f"{_format_subscriptions(subscriptions)} and {_format_subscriptions(first_subscriptions)}"
        for client_id, subscriptions in subscriptions_by_client[1:]
        if subscriptions != first_subscriptions
    ]


def _format_subscriptions(subscriptions: Iterable[TopicSubscription]) -> str:
    return " ".join(f"{subscription.topic}={subscription}" for subscription in subscriptions) or "nothing"


def find_queue_problems(
    client_infos: Iterable[tuple[str, RunningInfo]], now_ms: int, needs_locks: bool
) -> list[str]:
    """Find queues that their client cannot lock, or on which it is blocked; see BLOCKED_AFTER_MS."""
    problem_lines = []
    for client_id, running_info in client_infos:
        for running_queue in running_info.queues:
            queue_text = (
                f"{running_queue.queue.topic} {running_queue.queue.broker_name} "
                f"{running_queue.queue.queue_id}"
            )
            if needs_locks and running_info.is_orderly and not running_queue.is_locked:
                problem_lines.append(f"{client_id} cannot lock {queue_text}, which it must consume in order")
            quiet_ms = now_ms - (running_queue.last_consume_ms or 0)
            if not running_info.is_orderly and running_queue.cached_msg_count and quiet_ms > BLOCKED_AFTER_MS:
                problem_lines.append(
                    f"{client_id} is blocked on {queue_text}: it has {running_queue.cached_msg_count} "
                    f"messages and consumed none of them for {quiet_ms // 1000} s"
                )
    return problem_lines


def find_assignment_problems(
    client_infos: Iterable[tuple[str, RunningInfo]], wanted_queues: Iterable[MessageQueue]
) -> list[str]:
    """Find queues that no client consumes, and queues that several clients consume."""
    clients_by_queue: dict[MessageQueue, list[str]] = {queue: [] for queue in sorted(wanted_queues)}
    for client_id, running_info in client_infos:
        for held_queue in running_info.queues:
            clients_by_queue.setdefault(held_queue.queue, []).append(client_id)
    popped_queues = {held_queue.queue for _, info in client_infos for held_queue in info.pop_queues}
    shared_queues = {q for q in clients_by_queue if {q, q._replace(queue_id=ALL_QUEUES)} & popped_queues}
    return [
        f"no client consumes {message_queue.topic} {message_queue.broker_name} {message_queue.queue_id}"
        if not clients
        else f"{' and '.join(clients)} consume the same queue, {message_queue.topic} "
        f"{message_queue.broker_name} {message_queue.queue_id}"
        for message_queue, clients in clients_by_queue.items()
        if len(clients) != 1 and message_queue not in shared_queues
    ]
