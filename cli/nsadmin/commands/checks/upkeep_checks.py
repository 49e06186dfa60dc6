"""Owns the checks for gradual problems: heartbeats, registrations, certificates, journals, replicas."""

from pathlib import Path
from typing import Annotated

from typer import Option

from nsadmin.client.wall_clock import time
from nsadmin.command_line import exclusive_options, time_arguments
from nsadmin.command_line.broker_targets import OptionalBrokerAddrOption, find_broker_addr
from nsadmin.command_line.declarations import command
from nsadmin.commands.checks.check_runner import CHECK_COLUMNS, ClusterOption, parse_limits, run_check
from nsadmin.commands.history.journal_source import JournalOption
from nsadmin.console.output import CheckVerdict
from nsadmin.console.session import Session
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.inventory.keeper import open_inventory


@command(columns=CHECK_COLUMNS)
def check_heartbeat(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="Silence of a broker, in percent of its timeout. Default: 50.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical", metavar="RANGE", help="Silence of a broker, in percent of its timeout. Default: 75."
        ),
    ] = None,
) -> CheckVerdict:
    """Check how long ago name servers received heartbeats of their brokers.

    Only nsadmin's name servers report this. Most brokers register every 30 s, and name servers remove them
    after 120 s of silence. So 25 percent is normal, and 50 percent means one missed heartbeat. Java name
    servers report only that a heartbeat came within the last two minutes. There, a listed broker that does
    not answer is a warning. On all name servers, a broker that only another name server lists is a warning.

    Examples:
        # Check the longest silence
        nsadmin check heartbeat
        # For Nagios, in percent of the brokers' timeout (exit code 2)
        nsadmin check heartbeat --critical @0:100 --format nagios
    """
    from nsadmin.operations.checks import heartbeat

    limits = parse_limits("heartbeat", warning_range, critical_range)
    return run_check(
        session,
        "heartbeat",
        lambda: heartbeat.judge_heartbeats(limits, heartbeat.observe_heartbeats(session.admin)),
    )


@command(columns=CHECK_COLUMNS)
def check_registration_size(
    session: Session,
    broker_text: OptionalBrokerAddrOption = None,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="Size of a registration, in percent of 16 MiB. Default: 50.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical", metavar="RANGE", help="Size of a registration, in percent of 16 MiB. Default: 80."
        ),
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
    from nsadmin.operations.checks import registration_size

    exclusive_options.refuse_both("-b ADDR", broker_text, "--clusterName CLUSTER", cluster_name)
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    limits = parse_limits("registrationSize", warning_range, critical_range)
    return run_check(
        session,
        "registrationSize",
        lambda: registration_size.judge_registration_sizes(
            limits, registration_size.observe_registration_sizes(session.admin, cluster_name, broker_addr)
        ),
    )


@command(columns=CHECK_COLUMNS)
def check_certificates(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Days until a certificate expires. Default: 30:."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Days until a certificate expires. Default: 7:."),
    ] = None,
) -> CheckVerdict:
    """Check how many days the certificates of TLS servers, and of this client, remain valid.

    nsadmin begins a TLS handshake with every name server and broker, even without --tls and even if it does
    not trust the certificate. In a chain, the certificate that expires first counts. nsadmin also checks the
    files of --tlsCert and --tlsCa, or of the context. The state is unknown if no server uses TLS.

    Examples:
        # Check every server that uses TLS
        nsadmin check certificates
        # Warn two months before a certificate expires
        nsadmin check certificates --warning 60: --critical 14:
    """
    from nsadmin.operations.checks import certificates

    limits, own_tls = parse_limits("certificates", warning_range, critical_range), session.options.access.tls
    return run_check(
        session,
        "certificates",
        lambda: certificates.judge_certificates(
            limits, certificates.observe_certificates(session.admin, time(), own_tls)
        ),
    )


@command(columns=CHECK_COLUMNS)
def check_journal(
    session: Session,
    journal_folders: JournalOption = None,
    since_text: Annotated[
        str,
        Option(
            "--since",
            metavar="TIME",
            help=f"Count losses since this time. Default: -24h. {time_arguments.TIME_HELP}",
        ),
    ] = "-24h",
    verify_records: Annotated[
        bool, Option("--verify", help="Verify every record of each journal, which takes longer.")
    ] = False,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Age of the last record, in seconds. Default: 120."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Age of the last record, in seconds. Default: 600."),
    ] = None,
) -> CheckVerdict:
    """Check whether journals are written, complete and undamaged.

    nsadmin's name servers report whether they can write their journals. nsadmin reads the journals in the
    context's folders. With --journal, it reads only that folder and asks no name server. A running name
    server or collector writes a record every minute. Lost events and failed polls of a collector are a
    warning. A journal that is damaged, or that cannot be written or read, is critical.

    Examples:
        # Ask the name servers; a test lab has no journals (exit code 3)
        nsadmin check journal
        # Check a journal that ended long ago (exit code 2)
        nsadmin check journal --journal namesrv/journal
        # Verify the same journal, of any age
        nsadmin check journal --journal namesrv/journal --verify --warning '~:' --critical '~:'
    """
    from nsadmin.operations.checks import journal as checking

    limits = parse_limits("journal", warning_range, critical_range)
    folder_paths = [
        Path(journal_folder).expanduser()
        for journal_folder in dict.fromkeys(journal_folders or session.options.journal_folders)
    ]
    time_arguments.parse_time_option("--since", since_text, 0)

    def probe_journals() -> CheckFinding:
        now_ms = int(time() * 1000)
        begin_ms = time_arguments.parse_time_option("--since", since_text, 0, now_ms)
        server_states = [] if journal_folders else checking.read_server_statuses(session.admin)
        folder_states = [
            checking.inspect_folder(folder_path, begin_ms, verify_records) for folder_path in folder_paths
        ]
        return checking.judge_journals(
            limits, checking.JournalObservation(now_ms, server_states, folder_states)
        )

    return run_check(session, "journal", probe_journals)


@command(columns=CHECK_COLUMNS)
def check_replicas(
    session: Session,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="Differences that slaves do not remove. Default: 0."),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option("--critical", metavar="RANGE", help="Items that slaves may lack. Default: 0."),
    ] = None,
) -> CheckVerdict:
    """Check whether slaves copy messages, and have the topics, groups, offsets and settings of their master.

    A slave without a replication connection is critical (5.0 and later), and so is one whose commit log
    stands still for a minute while its master's grows. Slaves copy topics, groups and offsets every 70 s
    (4.x: 10 s). A difference counts when it is older than two copies, or when the slave will never copy it.
    nsadmin remembers differences between two runs, so run this check often.
    `nsadmin replicaDiff` lists all differences. Releases whose slaves lose topics are a warning.

    Examples:
        # Check all slaves
        nsadmin check replicas
        # Accept settings that differ on purpose
        nsadmin check replicas --warning 5
    """
    from nsadmin.operations.checks import replicas
    from nsadmin.operations.replicas.comparer import ReplicaComparer
    from nsadmin.operations.replicas.memory_store import open_replica_memory

    limits = parse_limits("replicas", warning_range, critical_range)
    memory_store = open_replica_memory(open_inventory(session))
    return run_check(
        session,
        "replicas",
        lambda: replicas.judge_replicas(
            limits, ReplicaComparer(session.admin, memory_store, cluster_name).compare_replicas()
        ),
    )


@command(columns=CHECK_COLUMNS)
def check_drain(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="Age of a drain, in seconds. Default: 86400 (one day).",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="Topics on drained brokers that may be writable. Default: 0.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether drained brokers are still drained, and whether a drain was forgotten or interrupted.

    If a topic changes, or if a broker or name server restarts, clients can write to the drained broker again.
    This is critical, unless `nsadmin drain --hold` runs and removes the permission. The machine where a drain
    was started keeps it (see `nsadmin drainStatus`). Run this check on that machine.

    Examples:
        # Check the drains of this machine
        nsadmin check drain
        # Accept drains of up to a week
        nsadmin check drain --warning 604800
    """
    from nsadmin.operations.checks import drain
    from nsadmin.operations.state_folder import find_state_home

    limits = parse_limits("drain", warning_range, critical_range)
    return run_check(
        session,
        "drain",
        lambda: drain.judge_drains(
            limits, drain.observe_drains(session.admin, int(time() * 1000), find_state_home())
        ),
    )
