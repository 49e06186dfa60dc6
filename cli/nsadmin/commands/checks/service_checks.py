"""checkNamesrv, checkBrokers, checkDivergence, checkTopic, checkWritable, checkLag: is the service usable?

Each check exits like a plugin of a monitoring system. Thresholds are ranges of the Monitoring Plugins
Development Guidelines.
"""

import re
from time import monotonic, sleep, time
from typing import Annotated

from nsadmin.command_line.broker_expectation import ExpectedBrokersOption, open_expected_inventory
from nsadmin.command_line.declarations import Argument, Option, declare_columns
from nsadmin.commands.checks.check_runner import (
    CHECK_COLUMNS,
    ClusterOption,
    ExpectOption,
    SettleOption,
    parse_expectation,
    parse_limits,
    parse_settle_seconds,
    run_check,
)
from nsadmin.exit_codes import UsageError
from nsadmin.output import CheckVerdict
from nsadmin.session import Session


@declare_columns(CHECK_COLUMNS)
def check_namesrv(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many may not serve; 0 if left out."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="How many have to serve; 1: (at least one) if left out."),
    ] = None,
) -> CheckVerdict:
    """Check whether every name server answers and is ready to tell routes.

    Typed `nsadmin check namesrv` as well. With -n of a single name server it is the health probe of that
    server's container: OK, or critical.

    A RANGE says what is fine: 3 is 0 to 3, 3: is 3 or more, 3:5 is in between, @3:5 is anything else, ~: is
    everything.

    Examples:
        # Is every name server there?
        nsadmin checkNamesrv
        # At least two have to serve (exit code 2)
        nsadmin checkNamesrv --critical 2: --format nagios
        # Wait for them after a restart
        nsadmin checkNamesrv --wait-until-ok 5m
    """
    from nsadmin.operations.checks import namesrv

    limits = parse_limits("namesrv", warning_range, critical_range)
    return run_check(
        session,
        "namesrv",
        lambda: namesrv.judge_name_servers(limits, namesrv.observe_name_servers(session.admin)),
    )


@declare_columns(CHECK_COLUMNS)
def check_brokers(
    session: Session,
    cluster_name: ClusterOption = None,
    expectation: ExpectOption = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How many brokers may not answer, or be missing as masters; 0 if left out.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="How many broker names may be without a master that answers; 0 if left out.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether every broker that any name server lists answers, and every broker name has a master.

    A broker that has gone is listed by no name server after some seconds. It is critical if a command saw it
    in the last 7 days (see inventory list), or if --expect names it. A broker that one name server lists and
    another one does not is a warning.

    Examples:
        # All that are registered
        nsadmin checkBrokers
        # These two have to be there
        nsadmin checkBrokers --expect broker-a-0,broker-b-0
        # For node_exporter
        nsadmin checkBrokers --format prometheus --output-file nsadmin_brokers.prom
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


@declare_columns(CHECK_COLUMNS)
def check_divergence(
    session: Session,
    settle_seconds: SettleOption = None,
    expectation: ExpectedBrokersOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many things may differ; 0 if left out."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="How many brokers and queues of topics may differ; 0 if left out.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether all name servers know the same: brokers, queues of topics, KV config, settings.

    Brokers make name servers equal with their heartbeats. What differs is looked at again, for at most
    --settle seconds, and only what is still there then counts. With fewer than two name servers that answer,
    nobody knows. `nsadmin divergence` shows more.

    Examples:
        # Of one name server nobody can say that it agrees (exit code 3)
        nsadmin checkDivergence
        # At once, without a second look (exit code 3)
        nsadmin checkDivergence --settle 0 --format nagios
    """
    from nsadmin.operations.checks import divergence
    from nsadmin.operations.checks.findings import CheckFinding
    from nsadmin.operations.divergence.observer import DivergenceObserver

    limits, patience_seconds = (
        parse_limits("divergence", warning_range, critical_range),
        parse_settle_seconds("check divergence", settle_seconds),
    )
    divergence_observer = DivergenceObserver(
        session.admin, lambda: int(monotonic() * 1000), settle_ms=int(patience_seconds * 1000)
    )
    inventory = open_expected_inventory(session, "check divergence", expectation)

    def probe_name_servers() -> CheckFinding:
        observation = divergence_observer.observe_until_settled(sleep, _ignore_progress)
        lost_topics = inventory.observe_snapshots(observation.server_snapshots)
        return divergence.judge_divergence(limits, observation, lost_topics.missing_brokers)

    return run_check(session, "divergence", probe_name_servers)


def _ignore_progress(observed_look: object, wait_seconds: float) -> None:
    """A check writes one report, so it does not announce that it waits."""


@declare_columns(CHECK_COLUMNS)
def check_topic(
    session: Session,
    topic: Annotated[str, Argument(("-t", "--topic"), "TOPIC", "The topic.")],
    expectation: ExpectedBrokersOption = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How many of its brokers may take no messages of it; 0 if left out.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="How many brokers have to take messages of it; 1: (at least one) if left out.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether a topic can be written, whichever name server a client asks.

    A broker takes messages of it where its queues may be written, and its master is registered and answers.
    The name server that has the fewest such brokers counts.

    Examples:
        # Can it be written?
        nsadmin checkTopic orders
        # Fewer than four brokers are critical
        nsadmin checkTopic orders --critical 4:
        # One that is not there (exit code 2)
        nsadmin checkTopic no-such-topic
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


@declare_columns(CHECK_COLUMNS)
def check_writable(
    session: Session,
    cluster_name: ClusterOption = None,
    expectation: ExpectedBrokersOption = None,
    exclude_pattern: Annotated[
        str | None,
        Option("--exclude", metavar="REGEX", help="Without topics in whose names this is found."),
    ] = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How many topics may be written on fewer brokers than have them; 0 if left out.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="How many topics may not be written; 0 if left out."),
    ] = None,
) -> CheckVerdict:
    """Check whether every topic can be written, whichever name server a client asks.

    Every route on every name server is read, and every master is asked. RocketMQ's own topics are left out,
    and those of groups (%RETRY%, %DLQ%), which are written without a route. A topic that brokers themselves
    have as read-only is so on purpose. Topics of a broker that left all name servers cannot be written there
    (see inventory list).

    Examples:
        # All topics
        nsadmin checkWritable
        # Those of one cluster, but for archives
        nsadmin checkWritable --clusterName cluster-a --exclude '^archive-'
    """
    from nsadmin.operations.checks import writable_topics

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
            writable_topics.observe_writable_topics(session.admin, inventory),
            cluster_name,
            excluded_topics,
        ),
    )


def _compile_exclude_pattern(pattern_text: str | None) -> re.Pattern[str] | None:
    try:
        return None if pattern_text is None else re.compile(pattern_text)
    except re.error as error:
        raise UsageError(
            f"check writable: --exclude {pattern_text} is no regular expression: {error}"
        ) from None


@declare_columns(CHECK_COLUMNS)
def check_lag(
    session: Session,
    group: Annotated[str, Argument(("-g", "--groupName"), "GROUP", "The consumer group.")],
    topic: Annotated[
        str | None, Option("-t", "--topicName", metavar="TOPIC", help="Only on this topic.")
    ] = None,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many messages it may be behind; 10000 if left out."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="How many messages it may be behind; 100000 if left out."),
    ] = None,
) -> CheckVerdict:
    """Check how many messages a consumer group has not consumed yet, over all brokers.

    Where messages wait and nobody of the group is connected, it is a warning at least. Where a broker does
    not answer, the number is a lower bound: enough for an alert, but otherwise unknown.

    Examples:
        # How far is it behind?
        nsadmin checkLag warehouse --warning 1000000 --critical 10000000
        # Only on one topic
        nsadmin checkLag warehouse -t payments --warning 1000000 --critical 10000000
        # A group that is not there (exit code 3)
        nsadmin checkLag no-such-group
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
