"""Caller, which sends requests to many servers at once and turns refusals into errors."""

from collections.abc import Callable, Container, Iterable
from functools import cached_property
from time import sleep
from typing import Any

from namesrv_core.errors import BadSettings, request_error
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, ExtFields, request
from namesrv_core.transport.calls import CallError, Observer
from nsadmin.client.access import Access
from nsadmin.client.addresses import Find, NameServers, finder
from nsadmin.client.pool import Pool
from nsadmin.client.results import ReadOnlyAccess, ServerResult

CHANGES = frozenset(
    {
        RequestCode.PUT_KV_CONFIG,
        RequestCode.DELETE_KV_CONFIG,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.UPDATE_AND_CREATE_TOPIC_LIST,
        RequestCode.UPDATE_BROKER_CONFIG,
        RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE,
        RequestCode.CLEAN_UNUSED_TOPIC,
        RequestCode.DELETE_TOPIC_IN_BROKER,
        RequestCode.DELETE_TOPIC_IN_NAMESRV,
        RequestCode.REGISTER_TOPIC_IN_NAMESRV,
        RequestCode.UPDATE_NAMESRV_CONFIG,
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        RequestCode.INVOKE_BROKER_TO_RESET_OFFSET,
        RequestCode.CONSUME_MESSAGE_DIRECTLY,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.POP_ROLLBACK,
        RequestCode.TRIGGER_LITE_DISPATCH,
        RequestCode.UPDATE_AND_CREATE_ACL_CONFIG,
        RequestCode.DELETE_ACL_CONFIG,
        RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG,
        RequestCode.CONTROLLER_ELECT_MASTER,
        RequestCode.UPDATE_CONTROLLER_CONFIG,
        RequestCode.CLEAN_BROKER_DATA,
        RequestCode.AUTH_CREATE_USER,
        RequestCode.AUTH_UPDATE_USER,
        RequestCode.AUTH_DELETE_USER,
        RequestCode.AUTH_CREATE_ACL,
        RequestCode.AUTH_UPDATE_ACL,
        RequestCode.AUTH_DELETE_ACL,
        RequestCode.DELETE_EXPIRED_COMMITLOG,
        RequestCode.SET_MESSAGE_REQUEST_MODE,
        RequestCode.UPDATE_AND_CREATE_STATIC_TOPIC,
        RequestCode.ADD_BROKER,
        RequestCode.REMOVE_BROKER,
        RequestCode.RESET_MASTER_FLUSH_OFFSET,
        RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG,
        RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG,
        RequestCode.SET_COMMITLOG_READ_MODE,
        RequestCode.SWITCH_TIMER_ENGINE,
    }
)
"""Requests that change something: never retried, refused by read-only clients, recorded in the audit."""

_PASSING = ("unconnected", "timeout", "closed")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 1.0


class Caller:
    """The connections of one AdminClient.

    Args:
        name_server_source: The name servers, or a function that finds them before the first request to one.
        access: The connection options.
        observer: Called with an Exchange after each request. Default: none.
        read_only: Raise ReadOnlyAccess instead of sending a request of CHANGE_CODES.
        pool: Connections to share. Default: connections of its own.

    Raises:
        BadSettings: A TLS file cannot be used, or the timeout is not positive.
    """

    def __init__(
        self,
        name_servers: NameServers | Find,
        access: Access,
        observer: Observer | None = None,
        *,
        read_only: bool = False,
        pool: Pool | None = None,
    ) -> None:
        if not access.timeout > 0:
            raise BadSettings(f"timeout {access.timeout} cannot be: give seconds, more than 0")
        self._find = finder(name_servers)
        self.access = access
        self.read_only = read_only
        self._observer = observer
        self._own_pool = Pool()
        self._calls = (self._own_pool if pool is None else pool).calls(access)
        self._way_to = _ways(access)

    @cached_property
    def name_servers(self) -> NameServers:
        """The name servers in request order.

        The first access calls the finder, and raises what the finder raises.
        """
        return self._find()

    def close(self) -> None:
        """Close the caller's own connections. Connections of a shared pool stay open."""
        self._own_pool.close()

    def ask(
        self,
        calls: Iterable[tuple[str, Command]],
        timeout: float | None = None,
        *,
        codes: Container[int] = (0,),
    ) -> list[ServerResult[Command]]:
        """Send requests to servers at once; sign, map addresses and retry reads as `access` says.

        Args:
            calls: Pairs of (server address, request).
            timeout_seconds: The time limit per request. Default: that of `access`.
            accepted_codes: The response codes that count as success.

        Returns:
            One ServerResult per request, in the same order: the answer, or the RequestError or CallError.

        Raises:
            ReadOnlyAccess: The client is read-only, and a request changes something. Nothing was sent.
        """
        calls = list(calls)
        if self.read_only:
            _refuse_changes(calls)
        ways = [(self.way(addr), self._signed(asked)) for addr, asked in calls]
        observer = self._observer and _known_as(self._observer, calls, ways)
        answers = self._persist(ways, self.access.timeout if timeout is None else timeout, observer)
        return [
            _judged(addr, asked, answer, codes) for (addr, asked), answer in zip(calls, answers, strict=True)
        ]

    def _signed(self, command: Command) -> Command:
        """Return the signed request. Adding a field afterwards would invalidate the signature."""
        credentials = self.access.credentials
        if credentials is None:
            return command
        from namesrv_core.protocol.signing import sign

        return sign(command, *credentials)

    def _persist(
        self, calls: list[tuple[str, Command]], timeout: float, observer: Observer | None
    ) -> list[Command | CallError]:
        """Send requests, and retry unanswered reads after growing pauses."""
        answers = self._calls.ask(calls, timeout, observer)
        for attempt in range(self.access.retries):
            again = [at for at, answer in enumerate(answers) if _may_be_retried(calls[at][1], answer)]
            if not again:
                break
            sleep(min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE))
            more = self._calls.ask([calls[at] for at in again], timeout, observer)
            for at, answer in zip(again, more, strict=True):
                answers[at] = answer
        return answers

    def ask_each(
        self, addrs: Iterable[str], code: int, ext: ExtFields | None = None, body: bytes = b""
    ) -> list[ServerResult[Command]]:
        """Send the same request to each address; return one ServerResult per address, in their order."""
        return self.ask([(addr, request(code, ext, body)) for addr in addrs])

    def ask_name_servers(
        self, code: int, ext: ExtFields | None = None, body: bytes = b""
    ) -> list[ServerResult[Command]]:
        """Send the same request to every name server; return one ServerResult per name server."""
        return self.ask_each(self.name_servers.addrs, code, ext, body)

    def way(self, addr: str) -> str:
        """Return the address to connect to. The address map applies to brokers, not to name servers."""
        if self._way_to is None or self._is_name_server(addr):
            return addr
        return self._way_to(addr)

    def place(self, addr: str) -> Any:
        """Return the socket address of the server connected at an address; None if not connected."""
        return self._calls.place(self.way(addr))

    def _is_name_server(self, addr: str) -> bool:
        # Before the finder ran, no request goes to a name server: do not run it for this question.
        return "name_servers" in self.__dict__ and addr in self.name_servers.addrs


def _ways(access: Access) -> Callable[[str], str] | None:
    if not access.address_map:
        return None
    # Imported here because it loads the ipaddress module, which most commands do not need.
    from nsadmin.client.address_map import AddressMap

    return AddressMap(access.address_map)


def _known_as(
    observer: Observer, calls: Iterable[tuple[str, Command]], ways: Iterable[tuple[str, Command]]
) -> Observer:
    """Wrap an observer so that an Exchange names a mapped broker by its original address."""
    mapped = {way: addr for (addr, _), (way, _) in zip(calls, ways, strict=True) if way != addr}
    if not mapped:
        return observer
    return lambda exchange: observer(
        exchange._replace(addr=mapped[exchange.addr], via=exchange.addr)
        if exchange.addr in mapped
        else exchange
    )


def _refuse_changes(calls: Iterable[tuple[str, Command]]) -> None:
    for addr, asked in calls:
        if asked.code in CHANGES:
            raise ReadOnlyAccess(
                f"{RequestCode(asked.code).name} to {addr} was not sent: it changes something"
            )


def _may_be_retried(asked: Command, answer: Command | CallError) -> bool:
    return isinstance(answer, CallError) and answer.kind in _PASSING and asked.code not in CHANGES


def _judged(
    addr: str, asked: Command, answer: Command | CallError, codes: Container[int]
) -> ServerResult[Command]:
    if isinstance(answer, CallError):
        if answer.addr != addr:
            answer = CallError(addr, answer.kind, f"through {answer.addr}: {answer.reason}")
        if answer.was_sent and asked.code in CHANGES:
            answer = CallError(addr, answer.kind, f"{answer.reason}; it may have been done all the same")
        return ServerResult(addr, None, answer)
    if answer.code not in codes:
        error = request_error(answer.code, answer.remark)
        error.addr = addr
        return ServerResult(addr, None, error)
    return ServerResult(addr, answer, None)
