"""Owns discovery prometheus, which prints the servers of a cluster as targets for Prometheus."""

from typing import Annotated

from typer import Option

from nsadmin.command_line.declarations import command
from nsadmin.console.session import Session
from nsadmin.operations.exporter.figures import ServerIdentity
from nsadmin.operations.exporter.service_discovery import build_target_groups, format_target_groups


@command()
def discovery_prometheus(
    session: Session,
    port: Annotated[
        int | None,
        Option(
            "--port",
            metavar="PORT",
            help="Port of the targets, such as 9100 for node_exporter. Default: the port of each server.",
            min=1,
        ),
    ] = None,
) -> str:
    """Print name servers and brokers as JSON for file_sd_configs of Prometheus.

    Each server is a target group with labels __meta_rocketmq_kind, address, cluster, broker, broker_id and
    context. `nsadmin exporter` serves the same at /sd, for http_sd_configs.

    Examples:
        # All name servers and brokers
        nsadmin discovery prometheus
        # The machines of all servers, for node_exporter
        nsadmin discovery prometheus --port 9100
    """
    brokers = [
        ServerIdentity(addr, group.cluster_name, group.broker_name, str(broker_id))
        for group in session.admin.clusters.get_info().broker_groups
        for broker_id, addr in group.broker_addrs.items()
    ]
    addrs = session.admin.addresses.addrs
    return format_target_groups(build_target_groups(session.options.context or "", addrs, brokers, port))
