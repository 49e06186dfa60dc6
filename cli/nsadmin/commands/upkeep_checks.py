"""checkHeartbeat, checkRegistrationSize, checkCertificates, checkJournal, checkDrain: gradual problems."""

from pathlib import Path
from time import time
from typing import Annotated

from nsadmin.commands import moments
from nsadmin.commands.checking import COLUMNS, ClusterOption, checked, scale
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.recorded import JournalOption
from nsadmin.commands.targets import AddrOption, broker_addr
from nsadmin.diagnostics import UsageError
from nsadmin.operations.checks.finding import Finding
from nsadmin.output import Verdict
from nsadmin.session import Session


@shows(COLUMNS)
def check_heartbeat(
    session: Session,
    warning: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How much of its time a broker may be silent, in percent; 50 if left out.",
        ),
    ] = None,
    critical: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 75 if left out.")
    ] = None,
) -> Verdict:
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

    limits = scale("heartbeat", warning, critical)
    return checked(session, "heartbeat", lambda: heartbeat.judge(limits, heartbeat.look(session.admin)))


@shows(COLUMNS)
def check_registration_size(
    session: Session,
    broker: AddrOption = None,
    cluster: ClusterOption = None,
    warning: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How much of 16 MiB a registration may take, in percent; 50 if left out.",
        ),
    ] = None,
    critical: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 80 if left out.")
    ] = None,
) -> Verdict:
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

    if broker is not None and cluster is not None:
        raise UsageError("check registrationSize: type either -b ADDR or --clusterName CLUSTER")
    addr = None if broker is None else broker_addr(session, broker)
    limits = scale("registrationSize", warning, critical)
    return checked(
        session,
        "registrationSize",
        lambda: registration_size.judge(limits, registration_size.look(session.admin, cluster, addr)),
    )


@shows(COLUMNS)
def check_certificates(
    session: Session,
    warning: Annotated[
        str | None,
        Option("--warning", metavar="RANGE", help="How many days have to be left; 30: if left out."),
    ] = None,
    critical: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 7: if left out.")
    ] = None,
) -> Verdict:
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

    limits, own = scale("certificates", warning, critical), session.options.access.tls
    return checked(
        session,
        "certificates",
        lambda: certificates.judge(limits, certificates.look(session.admin, time(), own)),
    )


@shows(COLUMNS)
def check_journal(
    session: Session,
    journal: JournalOption = None,
    since: Annotated[
        str,
        Option(
            "--since",
            metavar="TIME",
            help=f"Count losses from then on; -24h if left out. {moments.HELP}",
        ),
    ] = "-24h",
    verify: Annotated[
        bool, Option("--verify", help="Look through all of each journal, which takes its time.")
    ] = False,
    warning: Annotated[
        str | None,
        Option(
            "--warning", metavar="RANGE", help="How old the last record may be, in seconds; 120 if left out."
        ),
    ] = None,
    critical: Annotated[
        str | None, Option("--critical", metavar="RANGE", help="The same; 600 if left out.")
    ] = None,
) -> Verdict:
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

    limits = scale("journal", warning, critical)
    folders = [Path(folder).expanduser() for folder in dict.fromkeys(journal or session.options.journals)]
    moments.moment("check journal", "--since", since, 0)

    def look() -> Finding:
        now = int(time() * 1000)
        begin = moments.moment("check journal", "--since", since, 0, now)
        servers = [] if journal else checking.of_servers(session.admin)
        found = [checking.of_folder(folder, begin, verify) for folder in folders]
        return checking.judge(limits, checking.Seen(now, servers, found))

    return checked(session, "journal", look)


@shows(COLUMNS)
def check_drain(
    session: Session,
    warning: Annotated[
        str | None,
        Option(
            "--warning",
            metavar="RANGE",
            help="How old a drain may be, in seconds; 86400 (a day) if left out.",
        ),
    ] = None,
    critical: Annotated[
        str | None,
        Option(
            "--critical",
            metavar="RANGE",
            help="How many topics may be open to writes on drained brokers; 0 if left out.",
        ),
    ] = None,
) -> Verdict:
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
    from nsadmin.operations.drain.keeping import home

    limits = scale("drain", warning, critical)
    return checked(
        session,
        "drain",
        lambda: drain.judge(limits, drain.look(session.admin, int(time() * 1000), home())),
    )
