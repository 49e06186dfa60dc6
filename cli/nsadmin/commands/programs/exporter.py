"""Owns exporter, which serves metrics of clusters for Prometheus."""

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from typer import Option

from nsadmin.command_line.argument_values import parse_duration_seconds, parse_name_list
from nsadmin.command_line.declarations import command
from nsadmin.console import stderr
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.session import Session
from nsadmin.library.context_connection import resolve_connection
from nsadmin.operations.exporter.broker_reader import ReadChoice
from nsadmin.operations.exporter.cluster_reader import ClusterSource, ReadPlan
from nsadmin.operations.exporter.exporter_server import ExporterPlan, run_exporter
from nsadmin.operations.exporter.name_filter import NameFilter

_MIN_INTERVAL_SECONDS, _MAX_INTERVAL_SECONDS = 1.0, 3600.0


@command(agent_refusal="it runs until it is stopped", examples=("elsewhere", "it serves until it is stopped"))
def exporter(
    session: Session,
    http_address: Annotated[
        str,
        Option(
            "--http",
            metavar="[HOST:]PORT",
            help="Address of the metrics page. Without a host: 127.0.0.1. Default: 9557.",
        ),
    ] = "9557",
    contexts_text: Annotated[
        str | None,
        Option(
            "--contexts",
            metavar="NAME,...",
            help="Contexts to export, separated by commas. Default: the name servers of the command line.",
        ),
    ] = None,
    interval_text: Annotated[
        str,
        Option(
            "--interval", metavar="DURATION", help="Time between two passes over all brokers. Default: 30s."
        ),
    ] = "30s",
    topic_interval_text: Annotated[
        str,
        Option(
            "--topic-interval", metavar="DURATION", help="Time between two passes over topics. Default: 60s."
        ),
    ] = "60s",
    max_request_rate: Annotated[
        int,
        Option(
            "--rate",
            metavar="N",
            help="Maximum requests per second to all servers of a cluster. Default: 250.",
            min=16,
        ),
    ] = 250,
    included_patterns: Annotated[
        list[str] | None,
        Option(
            "--include",
            metavar="PATTERN",
            help="Only topics and groups that match, such as 'orders*'. Repeatable, or a list: A,B.",
        ),
    ] = None,
    excluded_patterns: Annotated[
        list[str] | None,
        Option(
            "--exclude",
            metavar="PATTERN",
            help="No topics and groups that match. Repeatable, or a list: A,B.",
        ),
    ] = None,
    shows_system: Annotated[
        bool, Option("--system", help="Also the topics and groups that brokers create for themselves.")
    ] = False,
    shows_queues: Annotated[
        bool, Option("--per-queue", help="Also a series for each queue of a topic and of a group.")
    ] = False,
    is_compat: Annotated[
        bool,
        Option("--compat", help="Also the metrics of rocketmq-exporter under its names; implies --system."),
    ] = False,
    max_series: Annotated[
        int, Option("--max-series", metavar="N", help="Maximum series of a page. Default: 100000.", min=1)
    ] = 100_000,
) -> Iterator[ResultRows]:
    """Serve metrics of name servers, brokers, topics and groups for Prometheus, until it is stopped.

    nsadmin reads all servers in passes, and a scrape gets the latest figures at once. A slow or frozen broker
    delays only its own figures. `nsadmin_scrape_age_seconds` is the age of the figures of a server. nsadmin
    drops figures after three missed passes, but not within a minute. Deleted topics and groups disappear in
    the next pass.

    Pages: /metrics as text or OpenMetrics, /probe?target=HOST:PORT for one server, /sd with all targets for
    HTTP service discovery, /healthz and /readyz. nsadmin guide exporter-metrics lists all metrics, and
    nsadmin guide export-metrics has alert rules and a dashboard. A pass needs two requests for each group on
    each master, and a pass over topics one for each topic on each master. With --contexts, each series has
    the label `context`.

    Examples:
        # Metrics at http://127.0.0.1:9557/metrics, such as the lag of groups, in messages and in seconds
        nsadmin exporter
        # Metrics for a Prometheus on another host, which asks this machine at port 9557
        nsadmin exporter --http 0.0.0.0:9557
        # Two clusters, for other machines, without topics of tests
        nsadmin exporter --http 0.0.0.0:9557 --contexts prod,backup --exclude 'test-*'
        # Keep the dashboards of rocketmq-exporter
        nsadmin exporter --http 5557 --compat
    """
    read_plan = ReadPlan(
        parse_duration_seconds("--interval", interval_text, _MIN_INTERVAL_SECONDS, _MAX_INTERVAL_SECONDS),
        parse_duration_seconds(
            "--topic-interval", topic_interval_text, _MIN_INTERVAL_SECONDS, _MAX_INTERVAL_SECONDS
        ),
        max_request_rate,
        ReadChoice(
            NameFilter(
                tuple(included_patterns or ()), tuple(excluded_patterns or ()), shows_system or is_compat
            ),
            shows_queues,
            max_series,
        ),
        is_compat,
    )
    exporter_plan = ExporterPlan(_list_sources(session, contexts_text), read_plan, http_address, max_series)

    def announce_start(bound_addr: str) -> None:
        session.write_remark(f"serving http://{bound_addr}/metrics; stop with Ctrl-C or SIGTERM")

    try:
        signal_name = run_exporter(exporter_plan, stderr.write_stderr_line, announce_start)
    except OSError as error:
        raise UsageError(f'cannot listen on "{http_address}": {error.strerror or error}') from None
    session.write_remark(f"stopped by {signal_name}")
    yield from ()


def _list_sources(session: Session, contexts_text: str | None) -> list[ClusterSource]:
    if contexts_text is None:
        return [ClusterSource("", session.open_background_client)]
    connections = {name: resolve_connection(name) for name in parse_name_list("--contexts", contexts_text)}
    return [
        ClusterSource(name, partial(session.open_background_client, c.find_name_servers, c.access))
        for name, c in connections.items()
    ]
