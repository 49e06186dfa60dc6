"""Arguments and options of controller commands."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client.connection.addresses import parse_addr
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.broker_targets import (
    select_members,
)
from nsadmin.command_line.declarations import Flags, RequiredUnless
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session

ControllersOption = Annotated[
    str,
    Option("-a", "--controllerAddress", metavar="LIST", help="Controllers, as HOST:PORT;HOST:PORT."),
]


ReplicaBrokerArgument = Annotated[
    str, Argument(metavar="BROKER", help="Name of a broker."), Flags("-bn", "--brokerName")
]


OneBrokerOption = Annotated[
    str | None,
    Option("-b", "--brokerName", metavar="BROKER", help="Only this broker."),
    RequiredUnless("cluster_name"),
]


ReplicaClusterOption = Annotated[
    str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Every broker of this cluster.")
]


RepeatIntervalOption = Annotated[
    float | None, Option("-i", "--interval", metavar="SECONDS", help="Repeat after this time, until Ctrl-C.")
]


def select_broker_names(session: Session, broker_name: str | None, cluster_name: str | None) -> list[str]:
    exclusive_options.require_one_of("-b BROKER", broker_name, "-c CLUSTER", cluster_name)
    if broker_name is not None:
        return [broker_name]
    broker_targets = select_members(session, None, cluster_name)
    return list(
        dict.fromkeys(
            broker_target.broker_name for broker_target in broker_targets if broker_target.broker_name
        )
    )


def parse_controller_list(controller_list: str) -> list[str]:
    addr_texts = [
        addr_text.strip() for addr_text in controller_list.replace(",", ";").split(";") if addr_text.strip()
    ]
    if not addr_texts or any(":" not in addr_text for addr_text in addr_texts):
        raise UsageError(f'invalid address list "{controller_list}" for -a: write HOST:PORT;HOST:PORT')
    return list(dict.fromkeys(parse_addr(addr_text, 0) for addr_text in addr_texts))


def parse_broker_id(id_text: str) -> int:
    try:
        return int(id_text)
    except ValueError:
        raise UsageError(f'invalid replica id "{id_text}": use an id that getSyncStateSet shows') from None
