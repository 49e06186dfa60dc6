"""The commands of checks that ask servers and have options of their own."""

from typing import Annotated

from typer import Argument, Option

from nsadmin.client.advised_command import quote_command
from nsadmin.command_line import exclusive_options
from nsadmin.command_line.argument_values import parse_duration_seconds, parse_name_list
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.broker_targets import find_broker_addr
from nsadmin.command_line.declarations import Each, Flags, command
from nsadmin.commands.checks.check_runner import (
    ClusterOption,
    ExpectOption,
    SettleOption,
    critical_option,
    parse_excluded,
    parse_expectation,
    parse_settle_seconds,
    run_check,
    warning_option,
)
from nsadmin.commands.columns.checks import CHECK_COLUMNS
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks.check import CheckScope, IdleLimits

_MAX_IDLE_SECONDS = 366 * 86_400


@command(columns=CHECK_COLUMNS)
def check_brokers(
    session: Session,
    cluster_name: ClusterOption = None,
    expectation: ExpectOption = None,
    warning: Annotated[
        str | None, warning_option("Brokers that may be down, or missing as masters. Default: 0.")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Broker names that may lack a master that answers. Default: 0.")
    ] = None,
) -> CheckVerdict:
    """Check whether every registered broker answers and every broker name has a master.

    A stopped broker soon leaves the lists of all name servers. The check is critical if a command saw the
    broker in the last 7 days (see `nsadmin inventory list`), or if --expect names it. A broker that only some
    name servers list is a warning.

    Examples:
        # Is a broker down or missing, or without a master?
        nsadmin check brokers
        # Wait until all brokers are back, at most 10 minutes
        nsadmin check brokers --wait-until-ok 10m
        # Require two brokers
        nsadmin check brokers --expect broker-a-0,broker-b-0
        # In CI or after a restart: wait until a broker is up and registered, at most 5 minutes
        nsadmin check brokers --expect broker-a-0 --wait-until-ok 5m
        # Write metrics for node_exporter
        nsadmin check brokers --format prometheus --out nsadmin_brokers.prom
    """
    from nsadmin.operations.inventory.keeper import open_inventory

    expected_count, expected_brokers = parse_expectation("brokers", expectation)
    inventory = open_inventory(session, expected_brokers)
    scope = CheckScope(cluster_name=cluster_name, expected_count=expected_count, inventory=inventory)
    return run_check(session, "brokers", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_divergence(
    session: Session,
    settle_seconds: SettleOption = None,
    expectation: ExpectedBrokersOption = None,
    warning: Annotated[str | None, warning_option("Differences to accept. Default: 0.")] = None,
    critical: Annotated[
        str | None, critical_option("Brokers and queues of topics that may differ. Default: 0.")
    ] = None,
) -> CheckVerdict:
    """Check whether all name servers have the same brokers, queues of topics, KV config and settings.

    The heartbeats of brokers remove differences between name servers. So nsadmin compares again for up to
    --settle seconds, and counts only differences that remain. The state is unknown if fewer than two name
    servers answer. `nsadmin divergence` shows the differences and their causes.

    Examples:
        # Alert if name servers do not agree; with a single one, as here, this is unknown (exit code 3)
        nsadmin check divergence
        # Compare only once (exit code 3)
        nsadmin check divergence --settle 0 --format nagios
    """
    from nsadmin.operations.checks.divergence import make_observer

    scope = CheckScope(
        divergence_observer=make_observer(session.admin, parse_settle_seconds(settle_seconds)),
        inventory=open_expected_inventory(session, "check divergence", expectation),
    )
    return run_check(session, "divergence", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_topic(
    session: Session,
    topic: Annotated[
        str,
        Argument(metavar="TOPIC", help="Name of a topic."),
        Flags("-t", "--topic"),
        Each("topic", is_joined=True),
    ],
    expectation: ExpectedBrokersOption = None,
    idle_text: Annotated[
        str | None,
        Option(
            "--idle",
            metavar="TIME",
            help="Critical if no message has arrived for longer, such as 30m. 10m,30m: warning, critical.",
        ),
    ] = None,
    warning: Annotated[
        str | None, warning_option("Brokers of the topic that may refuse messages. Default: 0.")
    ] = None,
    critical: Annotated[
        str | None,
        critical_option("Brokers of the topic that must accept messages. Default: 1: (at least one)."),
    ] = None,
) -> CheckVerdict:
    """Check whether a topic is writable, independent of the name server that a client asks.

    A broker accepts messages of the topic if its queues are writable, and if its master is registered and
    answers. The name server with the fewest such brokers counts.

    With --idle, the check also reads from the masters when the newest message arrived. A topic without
    messages is critical. If a master does not answer, it may have a newer message, so the state is unknown.

    Examples:
        # Can producers send to a topic: does each of its brokers accept messages?
        nsadmin check topic orders
        # Wait until topics exist and accept messages, at most 5 minutes, as in CI
        nsadmin check topic orders,payments --wait-until-ok 5m
        # Alert if no producer has written to it for 30 minutes
        nsadmin check topic orders --idle 30m
        # Report critical if fewer than four brokers accept messages
        nsadmin check topic orders --critical 4:
        # Does a topic exist, for CI: this one does not (exit code 2)
        nsadmin check topic no-such-topic
    """
    inventory = open_expected_inventory(session, "check topic", expectation)
    scope = CheckScope(topic=topic, idle_limits=_parse_idle_limits(idle_text), inventory=inventory)
    return run_check(session, "topic", warning, critical, scope)


def _parse_idle_limits(idle_text: str | None) -> IdleLimits | None:
    """Parse --idle: the limit for critical, or those for warning and critical."""
    if idle_text is None:
        return None
    limits = [
        parse_duration_seconds("--idle", text, 1, _MAX_IDLE_SECONDS)
        for text in parse_name_list("--idle", idle_text)
    ]
    if len(limits) > 2 or limits != sorted(limits):
        raise UsageError(
            f'invalid value "{idle_text}" for --idle: use one time, or WARNING,CRITICAL such as 10m,30m'
        )
    return (limits[0] if len(limits) == 2 else None), limits[-1]


@command(columns=CHECK_COLUMNS)
def check_writable(
    session: Session,
    cluster_name: ClusterOption = None,
    expectation: ExpectedBrokersOption = None,
    exclude_pattern: Annotated[
        str | None, Option("--exclude", metavar="REGEX", help="Skip topics whose names match this pattern.")
    ] = None,
    warning: Annotated[
        str | None, warning_option("Topics that may be writable on only some of their brokers. Default: 0.")
    ] = None,
    critical: Annotated[str | None, critical_option("Topics that may be unwritable. Default: 0.")] = None,
) -> CheckVerdict:
    """Check whether every topic is writable, independent of the name server that a client asks.

    The check reads every route on every name server and asks every master. It skips RocketMQ's own topics and
    the topics of groups (%RETRY%, %DLQ%), because clients write these without a route. A topic that its
    brokers have as read-only counts as intended. Topics of a broker that left all name servers are not
    writable there (see `nsadmin inventory list`).

    Examples:
        # A broker is down: which topics are affected, and which have no broker left to write to?
        nsadmin check writable
        # Check the topics of one cluster, without archives
        nsadmin check writable --cluster cluster-a --exclude '^archive-'
    """
    inventory = open_expected_inventory(session, "check writable", expectation)
    excluded = parse_excluded(exclude_pattern)
    scope = CheckScope(cluster_name=cluster_name, excluded=excluded, inventory=inventory)
    return run_check(session, "writable", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_lag(
    session: Session,
    group: Annotated[
        str | None,
        Argument(metavar="GROUP", help="A consumer group. Default: all."),
        Flags("-g", "--groupName"),
        Each("consumer group", is_joined=True),
    ],
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic of the group.")
    ] = None,
    cluster_name: ClusterOption = None,
    exclude_pattern: Annotated[
        str | None, Option("--exclude", metavar="REGEX", help="Skip groups whose names match this pattern.")
    ] = None,
    warning: Annotated[
        str | None, warning_option("Messages that the group may be behind. Default: 10000.")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Messages that the group may be behind. Default: 100000.")
    ] = None,
    min_clients: Annotated[
        int, Option("--min-clients", metavar="N", help="Critical with fewer connected clients.", min=0)
    ] = 0,
) -> CheckVerdict:
    """Check how many messages a consumer group has not consumed, on all brokers together.

    Without a group, all groups are checked, each against the limits. Of several, the worst state counts.

    Messages that wait while no client of the group is connected are at least a warning. If a broker does not
    answer, the number is a lower bound: it can raise an alert, but then the state cannot be OK.

    Examples:
        # Check how far a group is behind, against your limits
        nsadmin check lag warehouse --warning 1000000 --critical 10000000
        # Check only one topic
        nsadmin check lag warehouse -t payments --warning 1000000 --critical 10000000
        # Ignore a group: check the lag of all groups except one
        nsadmin check lag --exclude '^analytics$'
        # Alert also if a group has no consumer: no client is connected, even if nothing waits
        nsadmin check lag warehouse,billing --min-clients 1 --warning 1000000 --critical 10000000
        # Wait until a group has caught up: at most 5 minutes, until at most 1000 messages are left
        nsadmin check lag warehouse --warning 1000 --critical 1000 --wait-until-ok 5m
    """
    if topic and not group:
        advised = quote_command("consumerProgress", "-t", topic)
        raise UsageError(f"-t needs a group: {advised} shows the lag of all its groups")
    if min_clients and not group:
        raise UsageError("--min-clients needs groups: name them, such as a,b or 'pay*'")
    from nsadmin.operations.inventory.keeper import open_inventory

    scope = CheckScope(
        group=group,
        topic=topic,
        cluster_name=cluster_name,
        excluded=parse_excluded(exclude_pattern),
        min_clients=min_clients,
        inventory=open_inventory(session),
    )
    return run_check(session, "lag", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_clients(
    session: Session,
    min_version: Annotated[
        str | None,
        Option("--min-version", metavar="VERSION", help="The oldest accepted release. Default: 5.0.0."),
    ] = None,
    cluster_name: ClusterOption = None,
    warning: Annotated[str | None, warning_option("Clients that may be older. Default: 0.")] = None,
    critical: Annotated[str | None, critical_option("Clients that may be older. Default: 1000000.")] = None,
) -> CheckVerdict:
    """Check whether connected clients are older than a release.

    The check counts clients of brokers and of proxies. The state is at least unknown if the version of a
    client is unknown, or if a broker or proxy does not answer.

    Examples:
        # Who uses an old client: clients older than 5.0.0, with their addresses and groups
        nsadmin check clients
        # Accept 4.9.7, and clients up to ten that are older
        nsadmin check clients --min-version 4.9.7 --warning 10
    """
    from nsadmin.operations.checks.clients import parse_min_version

    scope = CheckScope(cluster_name=cluster_name)
    if min_version is not None:
        scope = scope._replace(min_version=min_version)
    if parse_min_version(scope.min_version) is None:
        raise UsageError(f'invalid version "{min_version}" for --min-version: use a release such as 5.0.0')
    return run_check(session, "clients", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_replicas(
    session: Session,
    cluster_name: ClusterOption = None,
    warning: Annotated[
        str | None, warning_option("Differences that slaves do not remove. Default: 0.")
    ] = None,
    critical: Annotated[str | None, critical_option("Items that slaves may lack. Default: 0.")] = None,
) -> CheckVerdict:
    """Check whether slaves copy messages, and have the topics, groups, offsets and settings of their master.

    A slave without a replication connection is critical (5.0 and later), and so is one whose commit log
    stands still for a minute while its master's grows. Slaves copy topics, groups and offsets every 70 s
    (4.x: 10 s). A difference counts when it is older than two copies, or when the slave will never copy it.
    nsadmin remembers differences between two runs, so run this check often.
    `nsadmin replicaDiff` lists all differences. Releases whose slaves lose topics are a warning.

    Examples:
        # Do all slaves keep up with their masters, or are messages lost if a master dies now?
        nsadmin check replicas
        # Accept settings that differ on purpose
        nsadmin check replicas --warning 5
    """
    from nsadmin.operations.inventory.keeper import open_inventory

    scope = CheckScope(cluster_name=cluster_name, inventory=open_inventory(session))
    return run_check(session, "replicas", warning, critical, scope)


@command(columns=CHECK_COLUMNS)
def check_registration_size(
    session: Session,
    broker_text: Annotated[
        str | None,
        Option("-b", "--brokerAddr", metavar="ADDR", help="One broker: HOST:PORT, NAME or NAME:ID."),
    ] = None,
    cluster_name: ClusterOption = None,
    warning: Annotated[
        str | None, warning_option("Size of a registration, in percent of 16 MiB. Default: 50.")
    ] = None,
    critical: Annotated[
        str | None, critical_option("Size of a registration, in percent of 16 MiB. Default: 80.")
    ] = None,
) -> CheckVerdict:
    """Check how near the registrations of brokers are to the limit of name servers, 16 MiB.

    A broker above the limit disappears with all its topics. Name servers do not list such a broker: name it
    with -b. `nsadmin registrationSize` shows more.

    Examples:
        # Check the largest registration
        nsadmin check registrationSize
        # Check a broker that name servers may not list
        nsadmin check registrationSize -b 127.0.0.1:10911
    """
    exclusive_options.refuse_both("-b ADDR", broker_text, "--clusterName CLUSTER", cluster_name)
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    scope = CheckScope(cluster_name=cluster_name, broker_addr=broker_addr)
    return run_check(session, "registrationSize", warning, critical, scope)
