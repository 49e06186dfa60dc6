"""Arguments and options of controller commands."""

from typing import Annotated

from nsadmin.client.connection.addresses import parse_addr
from nsadmin.command_line.broker_targets import (
    select_members,
)
from nsadmin.command_line.declarations import Argument, Option
from nsadmin.exit_codes import UsageError
from nsadmin.session import Session

ControllersOption = Annotated[
    str,
    Option("-a", "--controllerAddress", metavar="LIST", help="Controllers, as HOST:PORT;HOST:PORT."),
]


ReplicaBrokerArgument = Annotated[str, Argument(("-bn", "--brokerName"), "BROKER", "Name of the broker.")]


OneBrokerOption = Annotated[
    str | None, Option("-b", "--brokerName", metavar="BROKER", help="Name of one broker.")
]


ReplicaClusterOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every broker of it.")
]


RepeatIntervalOption = Annotated[
    float | None, Option("-i", "--interval", metavar="SECONDS", help="Again and again, until Ctrl-C.")
]


def select_broker_names(
    session: Session, command_name: str, broker_name: str | None, cluster_name: str | None
) -> list[str]:
    if (broker_name is None) == (cluster_name is None):
        raise UsageError(f"{command_name}: type either -b BROKER or -c CLUSTER")
    if broker_name is not None:
        return [broker_name]
    broker_targets = select_members(session, command_name, None, cluster_name)
    return list(
        dict.fromkeys(
            broker_target.broker_name for broker_target in broker_targets if broker_target.broker_name
        )
    )


def parse_controller_list(command_name: str, controller_list: str) -> list[str]:
    addr_texts = [
        addr_text.strip() for addr_text in controller_list.replace(",", ";").split(";") if addr_text.strip()
    ]
    if not addr_texts or any(":" not in addr_text for addr_text in addr_texts):
        raise UsageError(f"{command_name}: -a {controller_list!r} cannot be: give HOST:PORT;HOST:PORT")
    return list(dict.fromkeys(parse_addr(addr_text, 0) for addr_text in addr_texts))


def parse_broker_id(command_name: str, id_text: str) -> int:
    try:
        return int(id_text)
    except ValueError:
        raise UsageError(
            f"{command_name}: {id_text!r} is no id: give a number that getSyncStateSet shows"
        ) from None
