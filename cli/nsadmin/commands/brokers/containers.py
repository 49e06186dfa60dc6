"""Owns addBroker and removeBroker, which start and stop brokers in a broker container."""

from typing import Annotated

from typer import Argument

from nsadmin.client import ServerResult
from nsadmin.client.brokers.containers import ContainedBroker
from nsadmin.client.connection.addresses import DEFAULT_BROKER_PORT, parse_addr
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.servers import ERROR, outcome_word
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import open_inventory

BROKER: AnyColumn = Column("broker", "the broker: its file, or its cluster, name and id", lambda r: r.broker)
CONTAINER_COLUMNS: Columns[ServerResult[bool]] = (
    Column("brokerContainerAddr", "address of the container, HOST:PORT", lambda r: r.addr),
    BROKER,
    RESULT,
    ERROR,
)
ContainerArgument = Annotated[
    str,
    Argument(metavar="ADDR", help="Address of the container."),
    Flags("-c", "--brokerContainerAddr"),
    Values(""),
]


@command(
    columns=CONTAINER_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("elsewhere", "simulated brokers run in no container"),
)
def add_broker(
    session: Session,
    container_text: ContainerArgument,
    config_path: Annotated[
        str,
        Argument(metavar="PATH", help="The broker's properties file, on the container's machine."),
        Flags("-b", "--brokerConfigPath"),
    ],
) -> ResultRows:
    """Start a broker in a broker container, from a properties file on the container's machine.

    The container answers after the broker has started. When the container restarts, it starts the broker
    again only if its own brokerConfigPaths contains the file.

    Examples:
        # Start another broker in the same process
        nsadmin addBroker 127.0.0.1:10811 /etc/rocketmq/broker-b.conf --yes
    """
    container_addr = parse_addr(container_text, DEFAULT_BROKER_PORT)
    session.confirm_change(f"Start the broker of {config_path} in the container {container_addr}?")
    containers = session.admin.containers
    order_result = (
        containers.check_container(container_addr)
        if session.is_dry_run
        else containers.add_broker(container_addr, config_path)
    )
    return _order_rows(session, order_result, config_path)


@command(
    columns=CONTAINER_COLUMNS,
    agent_refusal="it connects to an address on the command line",
    examples=("elsewhere", "simulated brokers run in no container"),
)
def remove_broker(
    session: Session,
    container_text: ContainerArgument,
    broker_identity: Annotated[
        str,
        Argument(metavar="CLUSTER:BROKER:ID", help="The broker to stop. 0 is the id of a master."),
        Flags("-b", "--brokerIdentity"),
    ],
) -> ResultRows:
    """Stop a broker in a broker container. Its messages stay on the disk, and addBroker starts it again.

    Clients cannot write to the broker or read from it while it is stopped, so drain it first. The container
    answers after the broker has stopped.

    Examples:
        # Stop a master
        nsadmin removeBroker 127.0.0.1:10811 cluster-a:broker-a-0:0 --yes
    """
    container_addr = parse_addr(container_text, DEFAULT_BROKER_PORT)
    wanted_broker = _parse_contained_broker(broker_identity)
    session.confirm_change(
        f"Stop {wanted_broker.broker_name} (id {wanted_broker.broker_id}) in the container {container_addr}?"
    )
    containers = session.admin.containers
    order_result = (
        containers.check_container(container_addr)
        if session.is_dry_run
        else containers.remove_broker(container_addr, wanted_broker)
    )
    if order_result.error is None and not session.is_dry_run:
        open_inventory(session).mark_leaving(wanted_broker.broker_name, wanted_broker.broker_id)
    return _order_rows(session, order_result, broker_identity)


def _parse_contained_broker(id_text: str) -> ContainedBroker:
    parts = id_text.rsplit(":", 2)
    if len(parts) != 3 or not all(parts) or not parts[2].isdecimal():
        raise UsageError(
            f'invalid broker "{id_text}": write CLUSTER:BROKER:ID, for example cluster-a:broker-a:0'
        )
    return ContainedBroker(parts[0], parts[1], int(parts[2]))


def _order_rows(session: Session, order_result: ServerResult[bool], broker_text: str) -> ResultRows:
    result = outcome_word(order_result.error, "dry-run" if session.is_dry_run else "done")
    common = {BROKER: broker_text, RESULT: result}
    return ResultRows.from_records(CONTAINER_COLUMNS, [order_result], [order_result.error], common=common)
