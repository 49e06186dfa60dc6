"""Owns addBroker and removeBroker, which start and stop brokers in a broker container."""

from typing import Annotated

from nsadmin.client import ServerResult
from nsadmin.client.addresses import BROKER_PORT, parse_addr
from nsadmin.client.containers import Identity
from nsadmin.commands.declared import Word, shows
from nsadmin.commands.results import outcome
from nsadmin.diagnostics import UsageError
from nsadmin.output import Rows
from nsadmin.session import Session

COLUMNS = ("brokerContainerAddr", "broker", "result", "error")

Container = Annotated[
    str, Word(("-c", "--brokerContainerAddr"), "ADDR", "Address of the container.", values="")
]


@shows(COLUMNS)
def add_broker(
    session: Session,
    container: Container,
    path: Annotated[
        str, Word(("-b", "--brokerConfigPath"), "PATH", "The broker's file, on the container's machine.")
    ],
) -> Rows:
    """Start a broker in a container, by a file of properties on the container's machine.

    It is answered when the broker has been started. The container starts it again with itself only if its own
    brokerConfigPaths has the file. What is no container says so here; mqadmin shows a stack trace.

    Examples:
        # Start one
        nsadmin addBroker 127.0.0.1:10811 /etc/rocketmq/broker-b.conf --yes
    """
    addr = parse_addr(container, BROKER_PORT)
    session.confirm(f"Start the broker of {path} in the container {addr}?")
    containers = session.admin.containers
    done = containers.check(addr) if session.dry_run else containers.add(addr, path)
    return _rows(session, done, path)


@shows(COLUMNS)
def remove_broker(
    session: Session,
    container: Container,
    broker: Annotated[
        str,
        Word(("-b", "--brokerIdentity"), "CLUSTER:BROKER:ID", "Which broker of it; 0 is the id of a master."),
    ],
) -> Rows:
    """Stop a broker in a container; its messages stay on the disk, and addBroker starts it again.

    Nothing can be written to it or read from it meanwhile: drain it before. It is answered when the broker
    has been stopped.

    Examples:
        # Stop a master
        nsadmin removeBroker 127.0.0.1:10811 cluster-a:broker-a-0:0 --yes
    """
    addr, wanted = parse_addr(container, BROKER_PORT), _identity(broker)
    session.confirm(f"Stop {wanted.broker_name} (id {wanted.broker_id}) in the container {addr}?")
    containers = session.admin.containers
    done = containers.check(addr) if session.dry_run else containers.remove(addr, wanted)
    return _rows(session, done, broker)


def _identity(text: str) -> Identity:
    parts = text.rsplit(":", 2)
    if len(parts) != 3 or not all(parts) or not parts[2].isdecimal():
        raise UsageError(
            f"removeBroker: {text!r} is no broker: give CLUSTER:BROKER:ID, as in cluster-a:broker-a:0"
        )
    return Identity(parts[0], parts[1], int(parts[2]))


def _rows(session: Session, done: ServerResult[bool], broker: str) -> Rows:
    word = "dry-run" if session.dry_run else "done"
    row = {"brokerContainerAddr": done.addr, "broker": broker, **outcome(done.error, word)}
    return Rows(COLUMNS, [row], [done.error])
