"""Owns configDiff, which finds settings that differ between servers or from the default."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.targets import list_member_targets
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import Values, command
from nsadmin.commands.columns.settings import KEY
from nsadmin.commands.transfer.cluster_ends import CLUSTER_VALUE_HELP, resolve_cluster
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.config_diff import (
    ComparedServer,
    KnownDefaults,
    SettingDifference,
    describe_texts,
    find_changed_settings,
    find_differences,
    redact_secrets,
)


def _describe_default(defaults: Mapping[str, str | None]) -> str | None:
    """The default as one text if all releases agree, else each default with its release."""
    if len(set(defaults.values())) == 1:
        return next(iter(defaults.values()))
    return ", ".join(f"{text} ({release})" for release, text in defaults.items() if text is not None) or None


CONFIG_DIFF_COLUMNS: Columns[SettingDifference] = (
    Column("kind", "broker or namesrv", lambda d: d.server_kind),
    KEY.of(lambda d: d.setting_name),
    Column("differs", "the servers with each value", lambda d: describe_texts(redact_secrets(d))),
    Column(
        "default",
        "the default of the release; null if it depends on the machine",
        lambda d: _describe_default(d.defaults_by_release),
    ),
    Column("values", "the value on each server", redact_secrets, wide=True),
)
_KINDS_IN_WORDS = {"namesrv": "name server", "broker": "broker"}


class SettingsDifferError(RocketMQError):
    """Servers have different settings."""


@command(columns=CONFIG_DIFF_COLUMNS)
def config_diff(
    session: Session,
    cluster_name: Annotated[
        str | None, Option("-c", "--clusterName", metavar="CLUSTER", help="Only the brokers of this cluster.")
    ] = None,
    only_brokers: Annotated[bool, Option("--brokers", help="Only brokers.")] = False,
    only_name_servers: Annotated[bool, Option("--namesrvs", help="Only name servers.")] = False,
    against_defaults: Annotated[
        bool,
        Option(
            "--default", help="Show settings that differ from the default of the server's version instead."
        ),
    ] = False,
    include_own: Annotated[bool, Option("--own", help="Include names, addresses, ports and paths.")] = False,
    other_cluster: Annotated[
        str | None,
        Option("--with", metavar="CONTEXT", help=f"Compare also with the servers of {CLUSTER_VALUE_HELP}."),
        Values("contexts"),
    ] = None,
) -> ResultRows:
    """Show settings that differ between brokers, and between name servers.

    Without --own, nsadmin skips names, addresses, ports and paths, which always differ. A row does not
    include servers whose release does not have the setting. Defaults come from released 4.9.7 and 5.5.0
    servers. Other releases use the defaults of the nearest one. Settings that depend on the machine have no
    default. Secrets are hidden. The exit code is 1 if settings differ, and 3 without two servers of a kind.
    With --default it is 0.

    Examples:
        # Settings that differ between brokers, or between name servers (exit code 1)
        nsadmin configDiff
        # Settings of brokers that somebody changed from their defaults
        nsadmin configDiff -c cluster-a --brokers --default
        # Compare two clusters, the current one with that of a context: settings that differ (exit code 1)
        nsadmin configDiff --brokers --with staging
    """
    if only_brokers and only_name_servers:
        raise UsageError("--brokers and --namesrvs exclude each other: pass only one of them")
    server_results: list[ServerResult[ComparedServer]] = []
    with ExitStack() as clients:
        sources = [(session.admin, "")]
        if other_cluster is not None:
            other = resolve_cluster(session, "configDiff", "--with", other_cluster)
            client = clients.enter_context(session.open_other_client(other.namesrv_addr, other.access))
            sources.append((client, f"{other_cluster}/"))
        for admin, prefix in sources:
            if not only_brokers:
                server_results += _fetch_namesrv_settings(admin, prefix)
            if not only_name_servers:
                server_results += _fetch_broker_settings(admin, prefix, cluster_name)
    answered_servers = [server for _, server, _ in server_results if server is not None]
    known_defaults = KnownDefaults()
    choose_settings = find_changed_settings if against_defaults else find_differences
    differences = list(choose_settings(answered_servers, known_defaults, include_own=include_own))
    failures = [error for _, _, error in server_results if error is not None]
    errors: list[RocketMQError | None] = [None, *failures] if answered_servers else [*failures]
    notes = [f"{addr}: {error_text(error)}" for addr, _, error in server_results if error is not None]
    if against_defaults and not differences and answered_servers:
        notes.append(f"no setting of {_count_servers(answered_servers, 1)} differs from its default")
    if not against_defaults:
        notes += _comparison_notes(answered_servers, len(differences))
        if differences:
            errors = [SettingsDifferError("settings differ")]
        elif answered_servers and not _count_servers(answered_servers):
            errors.append(SettingsDifferError("no two servers to compare"))
    notes += _substitution_notes(answered_servers, known_defaults)
    return ResultRows.from_records(CONFIG_DIFF_COLUMNS, differences, errors, notes)


def _comparison_notes(servers: Sequence[ComparedServer], row_count: int) -> Iterator[str]:
    """Say which servers were compared, and which have no other of their kind."""
    kinds = [server.server_kind for server in servers]
    for kind, kind_in_words in _KINDS_IN_WORDS.items():
        if kinds.count(kind) == 1:
            yield f"only one {kind_in_words} answered: its settings were not compared"
    compared_servers = _count_servers(servers)
    if compared_servers:
        difference_count = count_noun(row_count, "difference") if row_count else "no differences"
        yield f"{difference_count} among {compared_servers}"


def _count_servers(servers: Sequence[ComparedServer], min_count: int = 2) -> str:
    """The numbers of brokers and name servers; by default, of those with others to be compared with."""
    kinds = [server.server_kind for server in servers]
    return " and ".join(
        count_noun(kinds.count(kind), kind_in_words)
        for kind, kind_in_words in _KINDS_IN_WORDS.items()
        if kinds.count(kind) >= min_count
    )


def _fetch_namesrv_settings(admin: AdminClient, prefix: str) -> Iterator[ServerResult[ComparedServer]]:
    name_servers = admin.name_servers
    releases = {r.addr: r.result.version for r in name_servers.get_pulse_each() if r.result is not None}
    for addr, config, error in name_servers.get_config_each():
        if config is None:
            yield ServerResult(f"name server {prefix}{addr}", None, error)
        else:
            # V5_5_0 becomes 5.5.0.
            release = (releases.get(addr) or "").removeprefix("V").replace("_", ".")
            yield ServerResult(addr, ComparedServer("namesrv", prefix + addr, release, config), None)


def _fetch_broker_settings(
    admin: AdminClient, prefix: str, cluster_name: str | None
) -> Iterator[ServerResult[ComparedServer]]:
    targets = list_member_targets(admin.clusters.get_info(), cluster_name)
    names_by_addr = {
        t.broker_addr: f"{prefix}{t.broker_name}:{t.broker_id}" for t in targets if t.broker_addr
    }
    info_results = admin.brokers.get_runtime_info(list(names_by_addr))
    releases = {r.addr: r.result.release for r in info_results if r.result is not None}
    for addr, config, error in admin.broker_configs.get_each(names_by_addr):
        name = names_by_addr[addr]
        if config is None:
            yield ServerResult(f"broker {name} at {addr}", None, error)
        else:
            yield ServerResult(addr, ComparedServer("broker", name, releases.get(addr) or "", config), None)


def _substitution_notes(servers: Sequence[ComparedServer], known_defaults: KnownDefaults) -> Iterator[str]:
    for server_kind, release in sorted({(server.server_kind, server.release) for server in servers}):
        nearest_release = known_defaults.find_nearest_release(server_kind, release)
        kind_in_words = "name servers" if server_kind == "namesrv" else "brokers"
        if nearest_release is None:
            yield f"no known defaults for {kind_in_words} {release or 'of an unknown version'}"
        elif nearest_release != release:
            yield f"defaults of {nearest_release} are used for {kind_in_words} {release}"
