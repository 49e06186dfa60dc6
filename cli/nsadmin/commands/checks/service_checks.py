"""Owns the checks of the service: namesrv, brokers, divergence, topic, writable and lag.

Each check exits like a plugin of a monitoring system. Thresholds are ranges of the Monitoring Plugins
Development Guidelines.
"""

import re
from time import monotonic, sleep
from typing import Annotated

from typer import Argument, Option

from nsadmin.client.wall_clock import time
from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.checks.check_runner import (
    CHECK_COLUMNS,
    ClusterOption,
    ExpectOption,
    SettleOption,
    announce_wait,
    parse_expectation,
    parse_limits,
    parse_settle_seconds,
    run_check,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session


@command(columns=CHECK_COLUMNS)
def check_namesrv(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Name servers that may be down. Default: 0."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical", metavar="RANGE", help="Name servers that must serve. Default: 1: (at least one)."
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether every name server answers and is ready to serve routes.

    With -n and a single name server, this is a health probe for that server's container: OK or critical.

    A RANGE describes the accepted values. 3 accepts 0 to 3, 3: accepts 3 or more, and 3:5 accepts 3 to 5.
    @3:5 accepts all values outside of 3 to 5, and ~: accepts every value.

    Examples:
        # Check every name server
        nsadmin check namesrv
        # Require at least two name servers (exit code 2)
        nsadmin check namesrv --critical 2: --format nagios
        # Wait for the name servers after a restart
        nsadmin check namesrv --wait-until-ok 5m
    """
    from nsadmin.operations.checks import namesrv

    limits = parse_limits("namesrv", warning_range, critical_range)
    return run_check(
        session,
        "namesrv",
        lambda: namesrv.judge_name_servers(limits, namesrv.observe_name_servers(session.admin)),
    )


@command(columns=CHECK_COLUMNS)
def check_brokers(
    session: Session,
    cluster_name: ClusterOption = None,
    expectation: ExpectOption = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="Brokers that may be down, or missing as masters. Default: 0.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="Broker names that may lack a master that answers. Default: 0.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether every registered broker answers and every broker name has a master.

    A stopped broker soon leaves the lists of all name servers. The check is critical if a command saw the
    broker in the last 7 days (see `nsadmin inventory list`), or if --expect names it. A broker that only some
    name servers list is a warning.

    Examples:
        # Check all registered brokers
        nsadmin check brokers
        # Require two brokers
        nsadmin check brokers --expect broker-a-0,broker-b-0
        # Write metrics for node_exporter
        nsadmin check brokers --format prometheus --output-file nsadmin_brokers.prom
    """
    from nsadmin.operations.checks import brokers
    from nsadmin.operations.inventory.keeper import open_inventory

    limits = parse_limits("brokers", warning_range, critical_range)
    expected_count, expected_brokers = parse_expectation("brokers", expectation)
    inventory = open_inventory(session, expected_brokers)
    return run_check(
        session,
        "brokers",
        lambda: brokers.judge_brokers(
            limits,
            brokers.observe_brokers(session.admin, cluster_name, inventory),
            expected_count,
            cluster_name,
        ),
    )


@command(columns=CHECK_COLUMNS)
def check_divergence(
    session: Session,
    settle_seconds: SettleOption = None,
    expectation: ExpectedBrokersOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Differences to accept. Default: 0."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="Brokers and queues of topics that may differ. Default: 0.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether all name servers have the same brokers, queues of topics, KV config and settings.

    The heartbeats of brokers remove differences between name servers. So nsadmin compares again for up to
    --settle seconds, and counts only differences that remain. The state is unknown if fewer than two name
    servers answer. `nsadmin divergence` shows the differences and their causes.

    Examples:
        # The state is unknown with a single name server (exit code 3)
        nsadmin check divergence
        # Compare only once (exit code 3)
        nsadmin check divergence --settle 0 --format nagios
    """
    from nsadmin.operations.checks import divergence
    from nsadmin.operations.checks.findings import CheckFinding
    from nsadmin.operations.divergence.observer import DivergenceObserver, find_missing_brokers

    limits, patience_seconds = (
        parse_limits("divergence", warning_range, critical_range),
        parse_settle_seconds(settle_seconds),
    )
    divergence_observer = DivergenceObserver(
        session.admin, lambda: int(monotonic() * 1000), settle_ms=int(patience_seconds * 1000)
    )
    inventory = open_expected_inventory(session, "check divergence", expectation)

    def probe_name_servers() -> CheckFinding:
        observation = divergence_observer.observe_until_settled(
            sleep, lambda first_look, wait_seconds: announce_wait(session, wait_seconds)
        )
        missing_brokers = find_missing_brokers(observation, inventory)
        return divergence.judge_divergence(limits, observation, missing_brokers, inventory.problem)

    return run_check(session, "divergence", probe_name_servers)


@command(columns=CHECK_COLUMNS)
def check_topic(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    expectation: ExpectedBrokersOption = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="Brokers of the topic that may refuse messages. Default: 0.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="Brokers of the topic that must accept messages. Default: 1: (at least one).",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether a topic is writable, independent of the name server that a client asks.

    A broker accepts messages of the topic if its queues are writable, and if its master is registered and
    answers. The name server with the fewest such brokers counts.

    Examples:
        # Check a topic
        nsadmin check topic orders
        # Report critical if fewer than four brokers accept messages
        nsadmin check topic orders --critical 4:
        # An unknown topic (exit code 2)
        nsadmin check topic no-such-topic
    """
    from nsadmin.operations.checks import topic as checking

    limits = parse_limits("topic", warning_range, critical_range)
    inventory = open_expected_inventory(session, "check topic", expectation)
    return run_check(
        session,
        "topic",
        lambda: checking.judge_topic(limits, checking.observe_topic(session.admin, topic, inventory)),
        topic,
    )


@command(columns=CHECK_COLUMNS)
def check_writable(
    session: Session,
    cluster_name: ClusterOption = None,
    expectation: ExpectedBrokersOption = None,
    exclude_pattern: Annotated[
        str | None,
        Option("--exclude", metavar="REGEX", help="Skip topics whose names match this pattern."),
    ] = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="Topics that may be writable on only some of their brokers. Default: 0.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Topics that may be unwritable. Default: 0."),
    ] = None,
) -> CheckVerdict:
    """Check whether every topic is writable, independent of the name server that a client asks.

    The check reads every route on every name server and asks every master. It skips RocketMQ's own topics and
    the topics of groups (%RETRY%, %DLQ%), because clients write these without a route. A topic that its
    brokers have as read-only counts as intended. Topics of a broker that left all name servers are not
    writable there (see `nsadmin inventory list`).

    Examples:
        # Check all topics
        nsadmin check writable
        # Check the topics of one cluster, without archives
        nsadmin check writable --clusterName cluster-a --exclude '^archive-'
    """
    from nsadmin.operations.checks import writable_topics, writable_topics_observation

    limits, excluded_topics = (
        parse_limits("writable", warning_range, critical_range),
        _compile_exclude_pattern(exclude_pattern),
    )
    inventory = open_expected_inventory(session, "check writable", expectation)
    return run_check(
        session,
        "writable",
        lambda: writable_topics.judge_writable_topics(
            limits,
            writable_topics_observation.observe_writable_topics(session.admin, inventory),
            cluster_name,
            excluded_topics,
        ),
    )


def _compile_exclude_pattern(pattern_text: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern_text is None else re.compile(pattern_text)
    except re.error as error:
        raise UsageError(f'invalid regular expression "{pattern_text}" for --exclude: {error}') from None


@command(columns=CHECK_COLUMNS)
def check_lag(
    session: Session,
    group: Annotated[str, Argument(metavar="GROUP", help="A consumer group."), Flags("-g", "--groupName")],
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only this topic.")
    ] = None,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Messages that the group may be behind. Default: 10000."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Messages that the group may be behind. Default: 100000."),
    ] = None,
) -> CheckVerdict:
    """Check how many messages a consumer group has not consumed, on all brokers together.

    Messages that wait while no client of the group is connected are at least a warning. If a broker does not
    answer, the number is a lower bound: it can raise an alert, but then the state cannot be OK.

    Examples:
        # Check how far a group is behind
        nsadmin check lag warehouse --warning 1000000 --critical 10000000
        # Check only one topic
        nsadmin check lag warehouse -t payments --warning 1000000 --critical 10000000
        # An unknown group (exit code 3)
        nsadmin check lag no-such-group
    """
    from nsadmin.operations.checks import lag

    limits = parse_limits("lag", warning_range, critical_range)
    return run_check(
        session,
        "lag",
        lambda: lag.judge_lag(
            limits, lag.observe_lag(session.admin, int(time() * 1000), group, topic, cluster_name)
        ),
        group,
    )
