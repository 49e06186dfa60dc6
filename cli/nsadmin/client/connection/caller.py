"""Caller, which sends requests to many servers at once and turns refusals into errors."""

from _thread import RLock, get_ident
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from namesrv_core.errors import BadSettings, NotSupported, RocketMQError, build_request_error
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError, ExchangeObserver
from nsadmin.client import wall_clock
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, make_finder
from nsadmin.client.connection.connection_pool import CallScope, Pool
from nsadmin.client.connection.requests import Header, make_request
from nsadmin.client.connection.response_bodies import ResponseDecoder, decode_answer, parse_config_items
from nsadmin.client.results import NotANameServer, ReadOnlyAccess, ServerResult

if TYPE_CHECKING:
    from namesrv_core.transport.host_resolver import AddrLookup

T = TypeVar("T")
U = TypeVar("U")

Call = tuple[str, RemotingCommand]
"""The address or name of a server, and a request to it."""
CallAnswer = RemotingCommand | CallError
NamedAddrs = Mapping[str, str | RocketMQError]
"""The addresses of brokers by NAME or NAME/ID, or why they have none."""

_RETRIABLE_KINDS = ("unconnected", "timeout", "closed")
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 1.0


class Caller:
    """The connections of one AdminClient."""

    def __init__(
        self,
        namesrv_addr: str | Iterable[str] | NameServerList | NameServerFinder | None,
        access: Access,
        observer: ExchangeObserver | None = None,
        *,
        read_only: bool = False,
        pool: Pool | None = None,
        find_broker_addrs: "Callable[[Caller, Iterable[str]], NamedAddrs]" = lambda caller, names: {},
    ) -> None:
        self._find_name_servers = make_finder(namesrv_addr)
        if not access.timeout > 0:
            raise BadSettings(f"invalid timeout {access.timeout}: use a number of seconds above 0")
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
        self._wrong_servers: dict[str, NotANameServer | None] = {}

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
        calls: Iterable[Call],
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
            _refuse_changes(calls)
        named_addrs = self._resolve_names(addr for addr, _ in calls)
        errors = {name: e for name, e in named_addrs.items() if isinstance(e, RocketMQError)}
        sendable = [(addr, command) for addr, command in calls if addr not in errors]
        answers = iter(self._send_calls(sendable, named_addrs, timeout_seconds))
        return [
            ServerResult(addr, None, errors[addr])
            if addr in errors
            else self._judge(addr, command, next(answers), accepted_codes)
            for addr, command in calls
        ]

    def _judge(
        self, addr: str, command: RemotingCommand, answer: CallAnswer, accepted_codes: Container[int]
    ) -> ServerResult[RemotingCommand]:
        """Judge an answer; say so if a broker stands in for a name server, and so does not know a request."""
        result = _judge_answer(addr, command, answer, accepted_codes)
        code = RequestCode.find(command.code)
        # Name servers know the requests that have senders.
        is_unknown = isinstance(result.error, NotSupported) and code is not None and code.senders
        if not is_unknown or not self._is_name_server(addr):
            return result
        if addr not in self._wrong_servers:
            self._wrong_servers[addr] = self._find_broker_at(addr)
        return ServerResult(addr, None, self._wrong_servers[addr] or result.error)

    def _find_broker_at(self, server_addr: str) -> NotANameServer | None:
        [answer] = self._send_calls([(server_addr, make_request(RequestCode.GET_BROKER_CONFIG))], {}, None)
        if isinstance(answer, CallError) or answer.code:
            return None
        settings = parse_config_items(answer)
        if "brokerName" not in settings:
            return None
        return NotANameServer(server_addr, settings["brokerName"], settings.get("namesrvAddr", ""))

    def _resolve_names(self, server_addrs: Iterable[str]) -> NamedAddrs:
        """Return the address or error of everything that has no port, and so is the name of a broker."""
        broker_names = {addr for addr in server_addrs if ":" not in addr}
        return self._find_broker_addrs(self, broker_names) if broker_names else {}

    def _send_calls(
        self, calls: list[Call], named_addrs: NamedAddrs, timeout_seconds: float | None
    ) -> list[CallAnswer]:
        """Let the servers answer, or the source of answers of `access`, which may ask the servers."""
        own_calls = [(str(named_addrs.get(addr, addr)), command) for addr, command in calls]
        seconds = self.access.timeout if timeout_seconds is None else timeout_seconds
        if self.access.answers is None:
            return self._send_live(calls, own_calls, seconds)
        self.require_open()
        return self.access.answers.answer_calls(
            self.access.identity,
            own_calls,
            lambda indexes: self._send_live(
                [calls[index] for index in indexes], [own_calls[index] for index in indexes], seconds
            ),
        )

    def _send_live(
        self, calls: Sequence[Call], own_calls: Sequence[Call], timeout_seconds: float
    ) -> list[CallAnswer]:
        """Send requests through the address map, and reads without an answer again."""
        mapped_calls = [(self._map_server_addr(addr), self._sign_command(c)) for addr, c in own_calls]
        observer = self.observer and _report_original_addrs(self.observer, calls, mapped_calls)
        scope = self._current_scope
        answers = self._connections.send_requests(mapped_calls, timeout_seconds, observer, scope)
        for attempt in range(self.access.retries):
            unanswered = [i for i, (_, c) in enumerate(mapped_calls) if _can_retry(c, answers[i])]
            if not unanswered:
                break
            self._connections.pause(min(_FIRST_PAUSE_SECONDS * 2**attempt, _LONGEST_PAUSE_SECONDS), scope)
            retried_calls = [mapped_calls[index] for index in unanswered]
            new_answers = self._connections.send_requests(retried_calls, timeout_seconds, observer, scope)
            for index, answer in zip(unanswered, new_answers, strict=True):
                answers[index] = answer
        return answers

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
        header: Header | None = None,
        request_body: bytes = b"",
    ) -> list[ServerResult[RemotingCommand]]:
        """Send the same request to each address; return one ServerResult per address, in their order."""
        if isinstance(server_addrs, str):
            raise TypeError('pass a list of addresses, such as ["host:port"], instead of one string')
        return self.send_requests(
            [(addr, make_request(request_code, header, request_body)) for addr in server_addrs]
        )

    def read_each(
        self,
        server_addrs: Iterable[str],
        decode: ResponseDecoder[T],
        request_code: int,
        header: Header | None = None,
        request_body: bytes = b"",
    ) -> list[ServerResult[T]]:
        """As `send_to_each`, with decoded answers."""
        answers = self.send_to_each(server_addrs, request_code, header, request_body)
        return [decode_answer(answer, decode) for answer in answers]

    def read_one(
        self,
        server_addr: str,
        decode: ResponseDecoder[T],
        request_code: int,
        header: Header | None = None,
        request_body: bytes = b"",
    ) -> ServerResult[T]:
        """As `read_each`, for one server."""
        return self.read_each([server_addr], decode, request_code, header, request_body)[0]

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

    def map_in_threads(self, ask: Callable[[str], T], server_addrs: Iterable[str]) -> list[T]:
        """Ask each server in a thread: threads suffice, because they wait for the network."""
        from concurrent.futures import ThreadPoolExecutor

        addrs = list(server_addrs)
        self.require_open()
        with ThreadPoolExecutor(max(1, min(len(addrs), self.access.concurrency))) as thread_pool:
            results = list(thread_pool.map(ask, addrs))
        self.require_open()
        return results

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


def _can_retry(command: RemotingCommand, answer: CallAnswer) -> bool:
    return (
        isinstance(answer, CallError)
        and answer.kind in _RETRIABLE_KINDS
        and not RequestCode.is_change(command.code)
    )


def _refuse_changes(calls: Iterable[Call]) -> None:
    for addr, command in calls:
        if RequestCode.is_change(command.code):
            raise ReadOnlyAccess(f"not sent to {addr}: {RequestCode(command.code).name} changes the server")


def _judge_answer(
    server_addr: str, command: RemotingCommand, answer: CallAnswer, accepted_codes: Container[int]
) -> ServerResult[RemotingCommand]:
    if isinstance(answer, CallError):
        if answer.addr != server_addr:
            answer = CallError(server_addr, answer.kind, f"through {answer.addr}: {answer.reason}")
        if answer.was_sent and RequestCode.is_change(command.code):
            answer = CallError(server_addr, answer.kind, f"{answer.reason}; the change is possibly done")
        return ServerResult(server_addr, None, answer)
    if answer.code not in accepted_codes:
        error = build_request_error(answer.code, answer.remark)
        error.addr = server_addr
        return ServerResult(server_addr, None, error)
    return ServerResult(server_addr, answer, None)


def _report_original_addrs(
    observer: ExchangeObserver, calls: Iterable[Call], mapped_calls: Iterable[Call]
) -> ExchangeObserver:
    """Wrap an observer so that an Exchange names a mapped broker by its original address."""
    original_addrs = {a: addr for (addr, _), (a, _) in zip(calls, mapped_calls, strict=True) if a != addr}
    if not original_addrs:
        return observer
    return lambda e: observer(
        e._replace(addr=original_addrs[e.addr], via=e.addr) if e.addr in original_addrs else e
    )
