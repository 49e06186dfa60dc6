"""configDiff: finds settings of brokers and name servers that differ between servers or from the default."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

from namesrv_core.errors import RocketMQError
from nsadmin.client import ServerResult
from nsadmin.client.results import error_text
from nsadmin.client.targets import members
from nsadmin.commands.declared import Option, shows
from nsadmin.commands.units import counted
from nsadmin.diagnostics import UsageError
from nsadmin.operations.config_diff import KnownDefaults, Server, changed, differing, in_words, shown
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("kind", "key", "differs", "default", "values")


class Differ(RocketMQError):
    """Servers have different settings."""


@shows(COLUMNS)
def config_diff(
    session: Session,
    cluster: Annotated[
        str | None,
        Option("-c", "--clusterName", metavar="CLUSTER", help="Of brokers, those of this cluster."),
    ] = None,
    brokers: Annotated[bool, Option("--brokers", help="Only brokers.")] = False,
    name_servers: Annotated[bool, Option("--namesrvs", help="Only name servers.")] = False,
    default: Annotated[
        bool, Option("--default", help="Instead, what is not the default of the server's release.")
    ] = False,
    own: Annotated[bool, Option("--own", help="Names, addresses, ports and paths too.")] = False,
) -> Rows:
    """Show settings that differ: among brokers, and among name servers.

    Names, addresses, ports and paths differ by their nature and are left out, unless --own asks for them. A
    server whose release does not know a setting is left out of its row. Defaults are those of released 4.9.7
    and 5.5.0 servers, and stand for other releases of their generation; what depends on the machine has none.
    What looks like a secret is not shown. As with diff, the exit code is 1 where something differs, and 3
    where there are no two to compare; with --default it is 0.

    Examples:
        # What is not the same everywhere (exit code 1)
        nsadmin configDiff
        # What somebody has set on brokers of a cluster
        nsadmin configDiff -c cluster-a --brokers --default
    """
    if brokers and name_servers:
        raise UsageError("configDiff: --brokers and --namesrvs leave nothing: type one of them")
    found: list[ServerResult[Server]] = []
    if not brokers:
        found += _name_servers(session)
    if not name_servers:
        found += _brokers(session, cluster)
    known = KnownDefaults()
    servers = [one.result for one in found if one.result is not None]
    choose = changed if default else differing
    rows: list[Row] = [
        {
            "kind": one.kind,
            "key": one.key,
            "differs": in_words(shown(one)),
            "default": _default(one.defaults),
            "values": shown(one),
        }
        for one in choose(servers, known, own=own)
    ]
    failures = [one.error for one in found if one.error is not None]
    errors: list[RocketMQError | None] = [None, *failures] if servers else [*failures]
    if rows and not default:
        errors = [Differ("settings differ")]
    notes = [f"{one.addr}: {error_text(one.error)}" for one in found if one.error is not None]
    if not default:
        notes += [f"one {kind}, and nobody to compare it with" for kind in _alone(servers)]
    if rows and not default:
        notes.append(counted(len(rows), "difference"))
    elif not default and servers and len(_alone(servers)) == len({one.kind for one in servers}):
        errors.append(Differ("nobody to compare with"))
    return Rows(COLUMNS, rows, errors, [*notes, *_stand_ins(servers, known)], COLUMNS[:4])


_KINDS = {"namesrv": "name server", "broker": "broker"}


def _alone(servers: Sequence[Server]) -> list[str]:
    """The kinds with only one server, which has no other to compare it with."""
    kinds = [one.kind for one in servers]
    return [word for kind, word in _KINDS.items() if kinds.count(kind) == 1]


def _name_servers(session: Session) -> Iterator[ServerResult[Server]]:
    admin = session.admin
    releases = {
        one.addr: one.result.version for one in admin.name_servers.pulse_each() if one.result is not None
    }
    for addr, config, error in admin.name_servers.config_each():
        if config is None:
            yield ServerResult(f"name server {addr}", None, error)
        else:
            yield ServerResult(addr, Server("namesrv", addr, _release(releases.get(addr)), config), None)


def _brokers(session: Session, cluster: str | None) -> Iterator[ServerResult[Server]]:
    targets = members(session.admin.clusters.info(), cluster)
    named = {
        target.broker_addr: f"{target.broker_name}:{target.broker_id}"
        for target in targets
        if target.broker_addr
    }
    infos = session.brokers.runtime_infos(list(named))
    releases = {one.addr: one.result.version for one in infos if one.result is not None}
    for addr, config, error in session.admin.broker_configs.each(named):
        if config is None:
            yield ServerResult(f"broker {named[addr]} at {addr}", None, error)
        else:
            yield ServerResult(
                addr, Server("broker", named[addr], _release(releases.get(addr)), config), None
            )


def _release(version: str | None) -> str:
    """Format V5_5_0 as 5.5.0."""
    return (version or "").removeprefix("V").replace("_", ".")


def _default(defaults: Mapping[str, str | None]) -> str | None:
    """The default as one text if all releases agree, else each default with its release."""
    texts = set(defaults.values())
    if len(texts) == 1:
        return texts.pop()
    told = [f"{value} ({release})" for release, value in defaults.items() if value is not None]
    return ", ".join(told) or None


def _stand_ins(servers: Sequence[Server], known: KnownDefaults) -> Iterator[str]:
    for kind, release in sorted({(server.kind, server.release) for server in servers}):
        nearest = known.release(kind, release)
        what = "name servers" if kind == "namesrv" else "brokers"
        if nearest is None:
            yield f"no defaults are known of {what} {release or 'whose release is not known'}"
        elif nearest != release:
            yield f"for {what} {release} stand the defaults of {nearest}"
