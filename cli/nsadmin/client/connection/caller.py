"""Caller, which sends requests to many servers at once and turns refusals into errors."""

from _thread import RLock, get_ident
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from namesrv_core.errors import BadSettings, RocketMQError
from namesrv_core.protocol.command import ExtFields, RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import CallError, ExchangeObserver
from nsadmin.client import wall_clock
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, make_finder
from nsadmin.client.connection.call_scope import CallScope
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.connection.read_retries import send_with_retries
from nsadmin.client.connection.request_outcomes import judge_answer, refuse_changes, report_original_addrs
from nsadmin.client.results import ServerResult

if TYPE_CHECKING:
    from namesrv_core.transport.host_resolver import AddrLookup

T = TypeVar("T")
U = TypeVar("U")

BrokerAddrFinder = Callable[["Caller", Iterable[str]], Mapping[str, str | RocketMQError]]
"""Takes a caller and broker names (NAME or NAME/ID). Returns the address of each, or why it has none."""


def _find_no_addrs(caller: "Caller", broker_names: Iterable[str]) -> Mapping[str, str | RocketMQError]:
    return {}


class Caller:
    """The connections of one AdminClient."""

    def __init__(
        self,
        name_server_source: NameServerList | NameServerFinder,
        access: Access,
        observer: ExchangeObserver | None = None,
        *,
        read_only: bool = False,
        pool: Pool | None = None,
        find_broker_addrs: BrokerAddrFinder = _find_no_addrs,
    ) -> None:
        if not access.timeout > 0:
            raise BadSettings(f"invalid timeout {access.timeout}: use a number of seconds above 0")
        self._find_name_servers = make_finder(name_server_source)
        self._found_name_servers: NameServerList | None = None
        self._finder_guard = RLock()
        self.access = access
        self.read_only = read_only
        self.observer = observer
        self._own_pool = Pool()
        self._connections = (self._own_pool if pool is None else pool).get_connections(access)
        self._scope = self._connections.open_scope()
        self._task_scopes: dict[int, CallScope] = {}
        self._map_addr = access.build_address_map()
        self._find_broker_addrs = find_broker_addrs

    @property
    def name_servers(self) -> NameServerList:
        """The name servers in request order.

        The first access calls the finder, and raises its errors. Other threads wait for it.
        """
        # The lock of a cached_property would be one for all clients of the process.
        if self._found_name_servers is None:
            with self._finder_guard:
                self._current_scope.require_open()
                if self._found_name_servers is None:
                    # The finder may need the tunnel too, and shares it if it is open.
                    self._connections.lease_tunnel()
                    self._found_name_servers = self._find_name_servers()
        return self._found_name_servers

    def close(self) -> None:
        """Close the caller's own connections. Connections of a shared pool stay open.

        Pending and later calls raise ClientClosed.
        """
        self._connections.end_scope(self._scope, "this client is closed: create a new client")
        self._own_pool.close()

    @property
    def _current_scope(self) -> CallScope:
        return self._task_scopes.get(get_ident(), self._scope)

    def require_open(self) -> None:
        """Check that this client may send requests."""
        self._current_scope.require_open()

    def open_task_scope(self) -> CallScope:
        """Return a scope for the calls of one task, which can end before the client is closed."""
        return CallScope(self._scope)

    def run_in_scope(self, scope: CallScope, function: Callable[[], T]) -> T:
        """Call a function whose calls, in this thread, belong to a scope."""
        scope.require_open()
        with self._enter_scope(scope, None):
            return function()

    def share_scope(self, shared: U) -> AbstractContextManager[U]:
        """A context manager for another thread, whose calls then end together with those of this one."""
        return self._enter_scope(self._current_scope, shared)

    @contextmanager
    def _enter_scope(self, scope: CallScope, shared: U) -> Iterator[U]:
        scope_before = self._task_scopes.get(get_ident())
        self._task_scopes[get_ident()] = scope
        try:
            yield shared
        finally:
            if scope_before is None:
                del self._task_scopes[get_ident()]
            else:
                self._task_scopes[get_ident()] = scope_before

    def end_task_scope(self, scope: CallScope) -> None:
        """End the calls of one task. The connections stay open, except those with a pending request."""
        self._connections.end_scope(scope, "the call was cancelled")

    def send_requests(
        self,
        calls: Iterable[tuple[str, RemotingCommand]],
        timeout_seconds: float | None = None,
        *,
        accepted_codes: Container[int] = (0,),
    ) -> list[ServerResult[RemotingCommand]]:
        """Send requests to servers at once; sign, map addresses and retry reads as `access` says.

        Each server is an address or the name of a broker, which is also the `addr` of its result. A broker
        that is not registered has a NotFound, a read-only client raises ReadOnlyAccess and sends nothing.
        """
        calls = list(calls)
        if self.read_only:
            refuse_changes(calls)
        addr_by_name = self._resolve_names(server_addr for server_addr, _ in calls)
        error_by_name = {name: e for name, e in addr_by_name.items() if isinstance(e, RocketMQError)}
        answers = iter(
            self._send_calls([c for c in calls if c[0] not in error_by_name], addr_by_name, timeout_seconds)
        )
        return [
            ServerResult(server_addr, None, error_by_name[server_addr])
            if server_addr in error_by_name
            else judge_answer(server_addr, command, next(answers), accepted_codes)
            for server_addr, command in calls
        ]

    def _resolve_names(self, server_addrs: Iterable[str]) -> Mapping[str, str | RocketMQError]:
        """Return the address or error of everything that has no port, and so is the name of a broker."""
        broker_names = {server_addr for server_addr in server_addrs if ":" not in server_addr}
        return self._find_broker_addrs(self, broker_names) if broker_names else {}

    def _send_calls(
        self,
        calls: list[tuple[str, RemotingCommand]],
        addr_by_name: Mapping[str, str | RocketMQError],
        timeout_seconds: float | None,
    ) -> list[RemotingCommand | CallError]:
        if self.access.answers is None:
            return self._send_live(calls, addr_by_name, timeout_seconds)
        self.require_open()
        return self.access.answers.answer_calls(
            self.access.identity,
            [(str(addr_by_name.get(server_addr, server_addr)), command) for server_addr, command in calls],
            lambda indexes: self._send_live(
                [calls[index] for index in indexes], addr_by_name, timeout_seconds
            ),
        )

    def _send_live(
        self,
        calls: list[tuple[str, RemotingCommand]],
        addr_by_name: Mapping[str, str | RocketMQError],
        timeout_seconds: float | None,
    ) -> list[RemotingCommand | CallError]:
        mapped_calls = [
            (self._map_server_addr(str(addr_by_name.get(a, a))), self._sign_command(c)) for a, c in calls
        ]
        observer = self.observer and report_original_addrs(self.observer, calls, mapped_calls)
        if timeout_seconds is None:
            timeout_seconds = self.access.timeout
        scope = self._current_scope
        return send_with_retries(
            lambda due_calls: self._connections.send_requests(due_calls, timeout_seconds, observer, scope),
            mapped_calls,
            self.access.retries,
            lambda seconds: self._connections.pause(seconds, scope),
        )

    def pause(self, pause_seconds: float) -> None:
        """Wait between two requests of a procedure."""
        self._connections.pause(pause_seconds, self._current_scope)

    def _sign_command(self, command: RemotingCommand) -> RemotingCommand:
        """Return the signed request. Adding a field afterwards would invalidate the signature."""
        credentials = self.access.credentials
        if credentials is None:
            return command
        from namesrv_core.protocol.acl_signature import sign_command

        return sign_command(command, *credentials)

    def send_to_each(
        self,
        server_addrs: Iterable[str],
        request_code: int,
        ext_fields: ExtFields | None = None,
        request_body: bytes = b"",
    ) -> list[ServerResult[RemotingCommand]]:
        """Send the same request to each address; return one ServerResult per address, in their order."""
        if isinstance(server_addrs, str):
            raise TypeError('pass a list of addresses, such as ["host:port"], instead of one string')
        return self.send_requests(
            [(addr, build_request(request_code, ext_fields, request_body)) for addr in server_addrs]
        )

    def send_to_name_servers(
        self, request_code: int, ext_fields: ExtFields | None = None, request_body: bytes = b""
    ) -> list[ServerResult[RemotingCommand]]:
        """Send the same request to every name server; return one ServerResult per name server."""
        return self.send_to_each(self.name_servers.addrs, request_code, ext_fields, request_body)

    def connect_addr(self, server_addr: str) -> str:
        """Return the address to connect to. The address map applies to brokers, not to name servers."""
        addr_or_error = self._resolve_names([server_addr]).get(server_addr, server_addr)
        if isinstance(addr_or_error, RocketMQError):
            raise addr_or_error
        return self._map_server_addr(addr_or_error)

    def _map_server_addr(self, server_addr: str) -> str:
        if self._map_addr is None or self._is_name_server(server_addr):
            return server_addr
        return self._map_addr(server_addr)

    @property
    def clock_ms(self) -> int:
        """The moment that ages are computed for, in ms since 1970 (UTC): now, or that of a bundle."""
        answers = self.access.answers
        return int(wall_clock.time() * 1000) if answers is None else answers.clock_ms

    def run_probe(self, probe_name: str, subject: str, probe: Callable[[], T]) -> T:
        """Read something in another way than with requests that a bundle can answer."""
        answers = self.access.answers
        if answers is None:
            return probe()
        result: T = answers.answer_probe(probe_name, subject, probe)
        return result

    @property
    def find_addrs(self) -> "AddrLookup | None":
        """Finds the local end of the tunnel to a server, for other connections; None to connect directly."""
        tunnel = self._connections.lease_tunnel()
        return None if tunnel is None else tunnel.find_addrs

    @property
    def proxies(self) -> tuple[str, ...]:
        """The configured proxies, else those that the tunnel finds. Raises CallError."""
        tunnel = self._connections.lease_tunnel()
        return self.access.proxies or (() if tunnel is None else tunnel.list_proxies())

    def get_peer(self, server_addr: str) -> Any:
        """Return the socket address of the server connected at an address; None if not connected."""
        return self._connections.get_peer(self.connect_addr(server_addr))

    def _is_name_server(self, server_addr: str) -> bool:
        # Before the finder ran, no request goes to a name server: do not run it for this question.
        name_servers = self._found_name_servers
        return name_servers is not None and server_addr in name_servers.addrs
