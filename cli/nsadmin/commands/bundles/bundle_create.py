"""Owns bundle create, which saves the answers of a cluster in one file without secrets."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.bundles.bundle_file import BUNDLE_SUFFIX, BundleManifest
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.command_line.time_arguments import TIME_HELP, parse_past_time
from nsadmin.commands.procedures.signals import interrupt_on_sigterm
from nsadmin.console import audit
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.bundles.bundle_builder import BundleOrder, check_target, choose_rates, create_bundle
from nsadmin.operations.bundles.collector import DEFAULT_MAX_DETAILS, CollectionPlan, list_namespaces
from nsadmin.operations.bundles.local_files import parse_log_folder
from nsadmin.operations.bundles.pseudonyms import choose_kinds
from nsadmin.operations.state_folder import find_state_home

BUNDLE_COLUMNS: Columns[tuple[Path, BundleManifest]] = (
    Column("file", "the bundle", lambda b: str(b[0])),
    *of_part(
        lambda b: b[1],
        (
            Column("time", "moment for which ages are computed (UTC)", lambda m: format_utc(m.created_ms)),
            Column("nsadmin", "version of nsadmin that made the bundle", lambda m: m.tool_version),
            Column("namesrvAddrs", "addresses of the name servers", lambda m: m.namesrv_addrs),
            Column(
                "serverCount",
                "number of servers with answers in the bundle",
                lambda m: len(m.members_by_server),
            ),
            Column("answers", "number of answers of servers in the bundle", lambda m: m.request_count),
            Column("seconds", "duration of the collection, in seconds", lambda m: m.seconds),
        ),
    ),
    Column("size", "size of the file, in bytes", lambda b: to_bytes(b[0].stat().st_size)),
    *of_part(
        lambda b: b[1],
        (
            Column(
                "anonymised",
                "kinds of names with pseudonyms: addresses, names; null for none",
                lambda m: ", ".join(m.anonymised) or None,
            ),
            Column("leftOut", "number of gaps; bundle show lists them", lambda m: len(m.left_out)),
        ),
    ),
)
_DEFAULT_SINCE = "6h"


class UnwritableBundleError(RocketMQError):
    """The bundle was collected, and could not be written."""


@command(columns=BUNDLE_COLUMNS, agent_refusal="it writes local files")
def bundle_create(
    session: Session,
    file_name: Annotated[
        str | None,
        Argument(metavar="FILE", help="File to write. Default: named by the time."),
        Flags("--out", "--file"),
    ],
    since_text: Annotated[
        str, Option("--since", metavar="TIME", help=f"Include journals and the audit log since: {TIME_HELP}")
    ] = _DEFAULT_SINCE,
    journal_folders: Annotated[
        list[str] | None,
        Option(
            "--journal",
            metavar="DIR",
            help="Include this journal, or folder of `nsadmin collect`. Repeatable. Default: the context's.",
        ),
    ] = None,
    log_folders: Annotated[
        list[str] | None,
        Option(
            "--logs",
            metavar="[HOST:]DIR",
            help="Include the end of broker.log, store.log and namesrv.log in this folder, of a HOST through "
            "ssh. Repeatable.",
        ),
    ] = None,
    namespaces: IncludedNamespacesOption = None,
    anonymise: Annotated[
        bool, Option("--anonymise", help="Replace host names and addresses by pseudonyms.")
    ] = False,
    anonymise_names: Annotated[
        bool,
        Option(
            "--anonymise-names",
            help="Also replace names of topics, groups, brokers, clusters and users. Implies --anonymise.",
        ),
    ] = False,
    requests_per_second: Annotated[
        int | None,
        Option(
            "--rate",
            metavar="N",
            help="Send each server at most N requests per second. Default: 5000, or 20000 for name servers.",
            min=1,
        ),
    ] = None,
    max_details: Annotated[
        int,
        Option(
            "--max-details",
            metavar="N",
            help="Send at most N requests about single topics, groups and clients.",
            min=0,
        ),
    ] = DEFAULT_MAX_DETAILS,
) -> ResultRows:
    """Save the answers of a cluster in one file, without secrets, for support and analysis.

    The file has the answers of all servers to the requests of reading commands. They contain versions,
    routes, tables of name servers, runtime figures and settings of brokers, topics, groups, offsets, clients,
    users and ACLs. The file also has recent journals and the audit log. nsadmin --bundle FILE COMMAND reads
    it in place of the cluster.

    Passwords, keys, tokens and signatures are replaced by ***. The file contains no messages. Pseudonyms are
    the same in the whole file, and their key is not saved. bundle show lists the gaps, with the reasons.

    --logs reads 1 MiB of each log. With --ssh, the connection to HOST goes through that host.

    Examples:
        # Diagnostics for support, in one file
        nsadmin bundle create incident.nsbundle.zip
        # Without host names, addresses and names
        nsadmin bundle create anonymous.nsbundle.zip --anonymise-names
        # With the logs of a broker on this machine
        nsadmin bundle create with-logs.nsbundle.zip --logs ~/logs/rocketmqlogs
    """
    if session.options.bundle is not None:
        raise UsageError(f"bundle create reads a cluster: {session.options.bundle_advice}")
    now_seconds = time()
    since_ms = parse_past_time("--from", since_text, int(now_seconds * 1000))
    name_servers = session.admin.addresses
    bundle_path = Path(file_name or _name_by_time(now_seconds)).expanduser()
    if bundle_path.is_file():
        raise UsageError(f"{bundle_path} exists: use another name")
    order = BundleOrder(
        bundle_path,
        CollectionPlan(list_namespaces(namespaces or ()), max_details),
        choose_rates(requests_per_second),
        since_ms,
        tuple(journal_folders or session.options.journal_folders),
        audit.audit_path(),
        find_state_home(),
        choose_kinds(anonymise=anonymise, anonymise_names=anonymise_names),
        tuple(parse_log_folder(text, session.options.access.tunnel) for text in log_folders or ()),
    )
    try:
        check_target(bundle_path)
    except OSError as error:
        raise UsageError(f'cannot write the bundle "{bundle_path}": {error.strerror}') from None
    try:
        with (
            interrupt_on_sigterm(),
            create_bundle(
                lambda access: session.open_other_client(name_servers, access),
                session.options.access,
                name_servers.addrs,
                order,
            ) as bundle,
        ):
            manifest = bundle.manifest
    except OSError as error:
        raise UnwritableBundleError(
            f'cannot write the bundle "{bundle_path}": {error.strerror}: make room, or write it elsewhere'
        ) from None
    notes = [
        f"left out: {gap.item}{f' ({gap.quantity})' if gap.quantity > 1 else ''}: {gap.reason}"
        for gap in manifest.left_out
    ]
    return ResultRows.from_records(BUNDLE_COLUMNS, [(bundle_path, manifest)], [None], notes)


def _name_by_time(now_seconds: float) -> str:
    from datetime import UTC, datetime

    return f"nsadmin-{datetime.fromtimestamp(now_seconds, UTC):%Y%m%dT%H%M%SZ}{BUNDLE_SUFFIX}"
