"""Slaves that refuse consumers: slaveReadEnable=false is the default (PullMessageProcessor#rejectRequest)."""

from collections.abc import Iterable, Mapping

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command

CUT_OFF_GROUPS_COMMAND = ("group", "explain", "--filter", "result=cause")
"""Names the groups that cannot read now, also those without a master and a slave that serves them."""


def refuses_reads(broker_config: Mapping[str, str]) -> bool:
    """Whether a slave with these settings refuses to serve consumers. Brokers report all settings."""
    return broker_config.get("slaveReadEnable", "true").lower() != "true"


def find_refusing_slaves(admin: AdminClient, slave_addrs: Iterable[str]) -> dict[str, RocketMQError | None]:
    """The slaves that consumers cannot count on: those that refuse reads, and those with an error."""
    return {
        result.addr: result.error
        for result in admin.broker_configs.get_each(sorted(set(slave_addrs)))
        if result.result is None or refuses_reads(result.result)
    }


def describe_refusal(slave_name: str) -> str:
    """Say that a slave, as NAME:ID, refuses reads, and how to change that."""
    advised = quote_command("updateBrokerConfig", "slaveReadEnable", "true", "-b", slave_name)
    return (
        f"{slave_name} refuses reads, because its slaveReadEnable is false: to let it serve them while its "
        f"master is down, run {advised}"
    )
