"""Owns allocateMQ, which computes how clients would share the queues of a topic."""

from typing import Annotated

from typer import Argument

from nsadmin.client.message_queues import allocate_averagely, list_readable_queues
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

ALLOCATION_COLUMNS = ("clientId", "topic", "brokerName", "queueId")


@command(columns=ALLOCATION_COLUMNS)
def allocate_mq(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    client_list: Annotated[
        str, Argument(metavar="CLIENTS", help="Client ids, or placeholders: a,b,c."), Flags("-i", "--ipList")
    ],
) -> ResultRows:
    """Show how clients would share the queues of a topic.

    This is the default strategy of Java clients: queues and client ids are sorted, and each client gets
    adjacent queues. consumerConnection shows real client ids. A client without queues has a row without a
    queue. Queues of a static topic belong to the broker __syslo__global__, as in clients.

    Examples:
        # Queues of three clients
        nsadmin allocateMQ payments client-1,client-2,client-3
    """
    client_ids = [list_item.strip() for list_item in client_list.split(",") if list_item.strip()]
    if not client_ids or len(set(client_ids)) < len(client_ids):
        raise UsageError(f'invalid client ids "{client_list}": write distinct ids, as a,b,c')
    queues_by_client = allocate_averagely(
        list_readable_queues(topic, session.admin.topics.get_route(topic)), client_ids
    )
    queue_rows: list[ResultRow] = []
    for client_id, client_queues in queues_by_client.items():
        client_cells = {"clientId": client_id, "topic": topic}
        queue_rows += [
            {**client_cells, "brokerName": message_queue.broker_name, "queueId": message_queue.queue_id}
            for message_queue in client_queues
        ] or [client_cells]
    return ResultRows(ALLOCATION_COLUMNS, queue_rows)
