"""Observes servers for the security audit. Its requests change nothing and attack nothing."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access.acls import AclEntry
from nsadmin.client.access.certificates import CertificateSummary, NoTls
from nsadmin.client.access.exposure import ExposureAnswer, ServerExposure
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.release_faults import has_users

NAME_SERVER, BROKER, PROXY = "name server", "broker", "proxy"

Question = Callable[[ServerExposure, Iterable[str]], list[ServerResult[ExposureAnswer]]]
_QUESTIONS_BY_KIND: Mapping[str, Question] = {
    NAME_SERVER: ServerExposure.name_servers, BROKER: ServerExposure.brokers, PROXY: ServerExposure.proxies,
}  # fmt: skip
_REPLICATION_KEY = "haListenPort"
_GRPC_TIMEOUT_SECONDS = 3.0


class AuditedServer(NamedTuple):
    """The facts about one server. None means unknown.

    Attributes:
        settings: The settings that this client may read.
        public_settings: The settings that the server returns to unauthenticated clients.
        lists_brokers: Whether a name server lists its brokers to unauthenticated clients.
        is_ours: Whether it is nsadmin's own name server.
        certificate: Its TLS certificate, if `speaks_tls`.
        has_open_replication: Whether a broker's replication port accepts connections from this machine.
        password_readers: The subjects whose ACL lets them read the passwords of all users, if the broker
            authenticates. None: these credentials may not read its ACLs.
        lists_connections: Whether the gRPC port of a proxy lists its connections to unauthenticated clients.
        error: Why nothing at all is known.
    """

    kind: str
    name: str
    addr: str
    version: str | None = None
    settings: Mapping[str, str] | None = None
    public_settings: Mapping[str, str] | None = None
    lists_brokers: bool = False
    is_ours: bool = False
    answers_plain_text: bool | None = None
    speaks_tls: bool | None = None
    certificate: CertificateSummary | None = None
    has_open_replication: bool | None = None
    password_readers: tuple[str, ...] | None = ()
    lists_connections: bool = False
    error: str | None = None


class SecurityObservation(NamedTuple):
    """All servers at `now_seconds`. `listing_problem` says why the list of brokers is unknown."""

    now_seconds: float
    audited_servers: Sequence[AuditedServer]
    listing_problem: str | None = None


class AuditClients(NamedTuple):
    """The clients of an audit: the operator's own, and two unauthenticated ones, in plain text and TLS."""

    own_client: AdminClient
    plain_client: AdminClient
    tls_client: AdminClient


def observe_servers(clients: AuditClients, now: float) -> SecurityObservation:
    """Observe all name servers, and all brokers that at least one of them lists."""
    namesrv_addrs = list(clients.own_client.addresses.addrs)
    broker_listing = listed_brokers.observe_listing(clients.own_client)
    own_servers = _find_own_servers(clients)
    open_servers = {
        addr
        for addr, answer, _ in _ask_as_stranger(clients, ServerExposure.clusters, namesrv_addrs)
        if answer and answer.refusal_text is None
    }
    name_servers = [
        server._replace(is_ours=server.addr in own_servers, lists_brokers=server.addr in open_servers)
        for server in _observe_kind(clients, NAME_SERVER, {addr: addr for addr in namesrv_addrs})
    ]
    audited_brokers = _observe_kind(clients, BROKER, broker_listing.broker_names)
    audited_brokers = _probe_replication(clients.own_client, audited_brokers)
    audited_brokers = _find_password_readers(clients.own_client, audited_brokers)
    listing_problem = None if broker_listing.groups_by_server else "no name server returned a list of brokers"
    return SecurityObservation(
        now, [*name_servers, *audited_brokers, *_observe_proxies(clients)], listing_problem
    )


def _observe_proxies(clients: AuditClients) -> list[AuditedServer]:
    """Observe the remoting and the gRPC port of each proxy whose ports are known."""
    try:
        proxies = clients.own_client.proxies.list_proxies().proxies
    except RocketMQError:
        return []
    known_proxies = [proxy for proxy in proxies if proxy.is_answering is not None]
    remoting_names = {proxy.proxy_addr: f"proxy {proxy.proxy_addr}" for proxy in known_proxies}
    grpc_addrs = {proxy.grpc_addr: proxy for proxy in known_proxies if proxy.grpc_addr and proxy.is_answering}
    certificates = clients.own_client.certificates.get_own(grpc_addrs)
    grpc_ports = [
        AuditedServer(
            PROXY,
            f"proxy {addr} (gRPC)",
            addr,
            proxy.version,
            settings={},
            answers_plain_text=clients.own_client.proxies.answers_grpc(addr, _GRPC_TIMEOUT_SECONDS),
            speaks_tls=_does_speak_tls(result),
            certificate=result.result,
            # nsadmin sends no credentials through gRPC.
            lists_connections=proxy.connection_addrs is not None,
        )
        for (addr, proxy), result in zip(grpc_addrs.items(), certificates, strict=True)
    ]
    return [*_observe_kind(clients, PROXY, remoting_names), *grpc_ports]


def _find_own_servers(clients: AuditClients) -> set[str]:
    """Find nsadmin's own name servers: only they report heartbeat ages.

    Servers whose certificate the operator's client does not trust answer the TLS client, which trusts any.
    """
    heartbeat_results = clients.own_client.clusters.get_heartbeats_each()
    if any(result.result is None for result in heartbeat_results):
        heartbeat_results += clients.tls_client.clusters.get_heartbeats_each()
    return {
        result.addr for result in heartbeat_results if result.result and result.result.heartbeats is not None
    }


def _observe_kind(clients: AuditClients, kind: str, name_by_addr: Mapping[str, str]) -> list[AuditedServer]:
    question = _QUESTIONS_BY_KIND[kind]
    return [
        _combine_answers(AuditedServer(kind, name, addr), own, plain, stranger, certificate)
        for (addr, name), own, plain, stranger, certificate in zip(
            name_by_addr.items(),
            question(clients.own_client.exposure, name_by_addr),
            question(clients.plain_client.exposure, name_by_addr),
            _ask_as_stranger(clients, question, name_by_addr),
            clients.own_client.certificates.get_own(name_by_addr),
            strict=True,
        )
    ]


def _ask_as_stranger(
    clients: AuditClients, question: Question, server_addrs: Iterable[str]
) -> list[ServerResult[ExposureAnswer]]:
    """Ask as an unauthenticated client: in plain text, or through TLS where plain text fails."""
    plain_results = question(clients.plain_client.exposure, server_addrs)
    silent_addrs = [result.addr for result in plain_results if result.result is None]
    tls_results = {
        result.addr: result
        for result in question(clients.tls_client.exposure, silent_addrs)
        if result.result is not None
    }
    return [tls_results.get(result.addr, result) for result in plain_results]


def _combine_answers(
    known_server: AuditedServer,
    own_result: ServerResult[ExposureAnswer],
    plain_result: ServerResult[ExposureAnswer],
    stranger_result: ServerResult[ExposureAnswer],
    result: ServerResult[CertificateSummary],
) -> AuditedServer:
    known_answers = [
        answer for _, answer, _ in (own_result, plain_result, stranger_result) if answer is not None
    ]
    speaks_tls = _does_speak_tls(result)
    if not known_answers and not speaks_tls:
        return known_server._replace(error=error_text(own_result.error) if own_result.error else "no answer")
    public_settings = _settings_of(stranger_result)
    own_settings = _settings_of(own_result)
    return known_server._replace(
        version=known_answers[0].version_name if known_answers else None,
        settings=public_settings if own_settings is None else own_settings,
        public_settings=public_settings,
        answers_plain_text=plain_result.result is not None if known_answers or speaks_tls else None,
        speaks_tls=speaks_tls,
        certificate=result.result,
    )


def _does_speak_tls(result: ServerResult[CertificateSummary]) -> bool | None:
    if result.result:
        return True
    return False if isinstance(result.error, NoTls) else None


def _settings_of(exposure_result: ServerResult[ExposureAnswer]) -> Mapping[str, str] | None:
    answer = exposure_result.result
    return answer.settings if answer is not None and answer.refusal_text is None else None


def _find_password_readers(
    own_client: AdminClient, audited_brokers: Sequence[AuditedServer]
) -> list[AuditedServer]:
    """Brokers return the passwords of all users, in clear text, to who may get or list their cluster."""
    guarded_addrs = [
        broker.addr
        for broker in audited_brokers
        if broker.settings is not None and broker.public_settings is None and has_users(broker.version)
    ]
    readers_by_addr = {
        result.addr: None
        if result.result is None
        else tuple(subject for subject, entries in result.result.items() if any(map(_shows_users, entries)))
        for result in own_client.acls.list_entries(guarded_addrs)
    }
    return [
        broker._replace(password_readers=readers_by_addr.get(broker.addr, ())) for broker in audited_brokers
    ]


def _shows_users(entry: AclEntry) -> bool:
    return (
        entry.decision == "Allow"
        and entry.resource.startswith("Cluster:")
        and not {"All", "Get", "List"}.isdisjoint(entry.actions)
    )


def _probe_replication(
    own_client: AdminClient, audited_brokers: Sequence[AuditedServer]
) -> list[AuditedServer]:
    """Probe the replication ports. They do not authenticate, and send all messages to any client."""
    addr_by_broker = {}
    for audited_broker in audited_brokers:
        port_text = (audited_broker.settings or {}).get(_REPLICATION_KEY, "")
        if port_text.isdecimal() and 0 < int(port_text) < 65536:
            addr_by_broker[audited_broker.addr] = f"{audited_broker.addr.rpartition(':')[0]}:{port_text}"
    connection_results = own_client.exposure.check_reachable(addr_by_broker.values())
    return [
        broker._replace(has_open_replication=connection_results.get(addr_by_broker.get(broker.addr, "")))
        for broker in audited_brokers
    ]
