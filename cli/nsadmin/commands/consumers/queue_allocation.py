"""Owns allocateMQ, which computes how clients would share the queues of a topic."""

from typing import Annotated

from typer import Argument

from nsadmin.client.message_queues import MessageQueue, allocate_averagely, list_readable_queues
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.consumers import CLIENT_ID
from nsadmin.commands.columns.topics import QUEUE_ID, TOPIC
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Columns, ResultRows, of_part
from nsadmin.console.session import Session

ALLOCATION_COLUMNS: Columns[tuple[str, MessageQueue | None]] = (
    CLIENT_ID.of(lambda r: r[0]),
    TOPIC,
    *of_part(lambda r: r[1], (BROKER_NAME, QUEUE_ID)),
)


@command(columns=ALLOCATION_COLUMNS)
def allocate_mq(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    client_list: Annotated[
        str, Argument(metavar="CLIENTS", help="Client ids, or placeholders: a,b,c."), Flags("-i", "--ipList")
    ],
) -> ResultRows:
    """Compute how clients would share the queues of a topic.

    nsadmin asks no client: `consumerProgress GROUP -t TOPIC -s true` shows which client reads which queue
    now. The strategy is the default of Java clients: queues and client ids are sorted, and each client gets
    adjacent queues. consumerConnection shows real client ids. A client without queues has a row without a
    queue. Queues of a static topic belong to the broker __syslo__global__, as in clients.

    Examples:
        # The queues that each of three clients would get
        nsadmin allocateMQ payments client-1,client-2,client-3
    """
    client_ids = parse_name_list("-i", client_list)
    if len(client_ids) <= client_list.count(","):
        raise UsageError(f'invalid client ids "{client_list}": write distinct ids, as a,b,c')
    queues_by_client = allocate_averagely(
        list_readable_queues(topic, session.admin.topics.get_route(topic)), client_ids
    )
    pairs = list[tuple[str, MessageQueue | None]]()
    for client_id, queues in queues_by_client.items():
        pairs += [(client_id, queue) for queue in queues] or [(client_id, None)]
    return ResultRows.from_records(ALLOCATION_COLUMNS, pairs, common={TOPIC: topic})
