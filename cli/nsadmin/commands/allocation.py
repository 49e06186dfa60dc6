"""Owns allocateMQ, which computes how clients would share the queues of a topic."""

from typing import Annotated

from nsadmin.client.allocation import averagely, readable_queues
from nsadmin.commands.declared import Word, shows
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("clientId", "topic", "brokerName", "queueId")


@shows(COLUMNS)
def allocate_mq(
    session: Session,
    topic: Annotated[str, Word(("-t", "--topic"), "TOPIC", "Name of a topic.")],
    ip_list: Annotated[
        str, Word(("-i", "--ipList"), "CLIENTS", "Client ids, or what stands for them: a,b,c.")
    ],
) -> Rows:
    """Show which of these clients would get which queues of a topic.

    As Java's clients share them by default: queues and client ids sorted, neighbours together. Real client
    ids are those of consumerConnection. A client that gets none has a row without a queue. Queues of a
    static topic are those of the broker __syslo__global__, as clients name them.

    Examples:
        # Which of three clients gets which queues
        nsadmin allocateMQ payments client-1,client-2,client-3
    """
    clients = [item.strip() for item in ip_list.split(",") if item.strip()]
    if not clients or len(set(clients)) < len(clients):
        raise UsageError(f"allocateMQ: {ip_list!r} cannot be: give client ids, each once, as a,b,c")
    shares = averagely(readable_queues(topic, session.admin.topics.route(topic)), clients)
    rows: list[Row] = []
    for client, queues in shares.items():
        place = {"clientId": client, "topic": topic}
        rows += [
            {**place, "brokerName": queue.broker_name, "queueId": queue.queue_id} for queue in queues
        ] or [place]
    return Rows(COLUMNS, rows)
