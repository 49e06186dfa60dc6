"""checkHeartbeat, checkRegistrationSize, checkCertificates, checkJournal, checkDrain: gradual problems."""

from pathlib import Path
from time import time
from typing import Annotated

from nsadmin.command_line import time_arguments
from nsadmin.command_line.broker_targets import OptionalBrokerAddrOption, find_broker_addr
from nsadmin.command_line.declarations import Option, declare_columns
from nsadmin.commands.checks.check_runner import CHECK_COLUMNS, ClusterOption, parse_limits, run_check
from nsadmin.commands.history.journal_source import JournalOption
from nsadmin.exit_codes import UsageError
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.output import CheckVerdict
from nsadmin.session import Session


@declare_columns(CHECK_COLUMNS)
def check_heartbeat(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How much of its time a broker may be silent, in percent; 50 if left out.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 75 if left out.")
    ] = None,
) -> CheckVerdict:
    """Check how long ago name servers heard of their brokers, before they let them go.

    Only our name servers tell. Most brokers register every 30 s and are gone after 120 s of silence: up to
    25 percent are usual, and at 50 one heartbeat was missed. What Java's name servers list was heard within
    the last two minutes, and nothing more is known: there a broker that is listed and does not answer is a
    warning. So is, on any, a broker that only another name server lists.

    Examples:
        # The longest silence
        nsadmin checkHeartbeat
        # For Nagios, in percent of the time that brokers have (exit code 2)
        nsadmin checkHeartbeat --critical @0:100 --format nagios
    """
    from nsadmin.operations.checks import heartbeat

    limits = parse_limits("heartbeat", warning_range, critical_range)
    return run_check(
        session,
        "heartbeat",
        lambda: heartbeat.judge_heartbeats(limits, heartbeat.observe_heartbeats(session.admin)),
    )


@declare_columns(CHECK_COLUMNS)
def check_registration_size(
    session: Session,
    broker_text: OptionalBrokerAddrOption = None,
    cluster_name: ClusterOption = None,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How much of 16 MiB a registration may take, in percent; 50 if left out.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 80 if left out.")
    ] = None,
) -> CheckVerdict:
    """Check how near brokers are to the largest registration that a name server reads, 16 MiB.

    A broker beyond it disappears with all its topics. One that has is listed nowhere: name it with -b.
    `nsadmin registrationSize` shows more.

    Examples:
        # The largest of all
        nsadmin checkRegistrationSize
        # One broker that may be listed nowhere
        nsadmin checkRegistrationSize -b 127.0.0.1:10911
    """
    from nsadmin.operations.checks import registration_size

    if broker_text is not None and cluster_name is not None:
        raise UsageError("check registrationSize: type either -b ADDR or --clusterName CLUSTER")
    broker_addr = None if broker_text is None else find_broker_addr(session, broker_text)
    limits = parse_limits("registrationSize", warning_range, critical_range)
    return run_check(
        session,
        "registrationSize",
        lambda: registration_size.judge_registration_sizes(
            limits, registration_size.observe_registration_sizes(session.admin, cluster_name, broker_addr)
        ),
    )


@declare_columns(CHECK_COLUMNS)
def check_certificates(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many days have to be left; 30: if left out."),
    ] = None,
    critical_range: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 7: if left out.")
    ] = None,
) -> CheckVerdict:
    """Check how many days the certificates of TLS servers, and this client's own files, are still valid.

    A handshake is made with every name server and broker, also without --tls, and whether their certificates
    are trusted or not. Of a chain, the certificate that ends first counts. With --tlsCert and --tlsCa, or
    those of the context, these files are looked at as well. Where nobody speaks TLS, the state is unknown.

    Examples:
        # Every server that speaks TLS
        nsadmin checkCertificates
        # Two months are needed to get a new one
        nsadmin checkCertificates --warning 60: --critical 14:
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


@declare_columns(CHECK_COLUMNS)
def check_journal(
    session: Session,
    journal_folders: JournalOption = None,
    since_text: Annotated[
        str,
        Option(
            "--since",
            metavar="TIME",
            help=f"Count losses from then on; -24h if left out. {time_arguments.TIME_HELP}",
        ),
    ] = "-24h",
    verify_records: Annotated[
        bool, Option("--verify", help="Look through all of each journal, which takes its time.")
    ] = False,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning", metavar="RANGE", help="How old the last record may be, in seconds; 120 if left out."
        ),
    ] = None,
    critical_range: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 600 if left out.")
    ] = None,
) -> CheckVerdict:
    """Check whether journals are written, go on and are whole.

    Name servers of ours say themselves whether they can write theirs; the journals in the context's folders
    are read. With --journal only that folder is looked at, and no name server is asked. A running name server
    or collector writes every minute. Events that were lost, and polls of a collector that fail, are a
    warning; what cannot be written or read, or is damaged, is critical.

    Examples:
        # What name servers say of theirs; a lab of tests has none (exit code 3)
        nsadmin checkJournal
        # A journal that has ended long ago (exit code 2)
        nsadmin checkJournal --journal namesrv/journal
        # The same, looked through for damage, and never too old
        nsadmin checkJournal --journal namesrv/journal --verify --warning '~:' --critical '~:'
    """
    from nsadmin.operations.checks import journal as checking

    limits = parse_limits("journal", warning_range, critical_range)
    folder_paths = [
        Path(journal_folder).expanduser()
        for journal_folder in dict.fromkeys(journal_folders or session.options.journal_folders)
    ]
    time_arguments.parse_time_option("check journal", "--since", since_text, 0)

    def probe_journals() -> CheckFinding:
        now_ms = int(time() * 1000)
        begin_ms = time_arguments.parse_time_option("check journal", "--since", since_text, 0, now_ms)
        server_states = [] if journal_folders else checking.read_server_statuses(session.admin)
        folder_states = [
            checking.inspect_folder(folder_path, begin_ms, verify_records) for folder_path in folder_paths
        ]
        return checking.judge_journals(
            limits, checking.JournalObservation(now_ms, server_states, folder_states)
        )

    return run_check(session, "journal", probe_journals)


@declare_columns(CHECK_COLUMNS)
def check_drain(
    session: Session,
    warning_range: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How old a drain may be, in seconds; 86400 (a day) if left out.",
        ),
    ] = None,
    critical_range: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="How many topics may be open to writes on drained brokers; 0 if left out.",
        ),
    ] = None,
) -> CheckVerdict:
    """Check whether drained brokers still are, and whether a drain was forgotten or left half-way.

    A topic that is changed, a broker or name server that is restarted lets clients write again, without a
    word: that is critical, unless `nsadmin drain --hold` is there to close it. Drains are kept on the machine
    where they were begun (`nsadmin drainStatus`): run this one there.

    Examples:
        # Those that were begun here
        nsadmin checkDrain
        # A maintenance may take a week
        nsadmin checkDrain --warning 604800
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
