"""BlockingClient: the connections of a client, and the observations of its reads about name servers."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Self

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.multiplexed_client import ExchangeObserver
from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList, make_finder
from nsadmin.client.connection.caller import BrokerAddrFinder, Caller
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.connection.name_server_reader import NameServerReader


class BlockingClient:
    """Opens connections on the first request, and closes them. `AdminClient` adds the nouns.

    The arguments are those of `AdminClient`.
    """

    def __init__(
        self,
        namesrv_addr: str | Iterable[str] | NameServerList | NameServerFinder | None = None,
        *,
        timeout: float | None = None,
        access: Access = DEFAULT_ACCESS,
        ask_all: bool = False,
        observer: ExchangeObserver | None = None,
        read_only: bool = False,
        pool: Pool | None = None,
    ) -> None:
        if timeout is not None:
            access = access._replace(timeout=timeout)
        tunnel_target = access.tunnel
        if namesrv_addr is None and tunnel_target is not None:
            # Imported late: most clients connect directly.
            from nsadmin.client.connection.tunnels.tunnel_leases import list_name_servers

            namesrv_addr = partial(list_name_servers, tunnel_target)
        self._caller = self._caller_class(
            make_finder(namesrv_addr),
            access,
            observer,
            read_only=read_only,
            pool=pool,
            find_broker_addrs=self._find_broker_addrs,
        )
        self._reader = NameServerReader(self._caller, ask_all)

    _caller_class: type[Caller] = Caller
    # Not a method: a caller that refers to its client would keep an unclosed client alive.
    _find_broker_addrs: BrokerAddrFinder = staticmethod(lambda caller, broker_names: {})

    @property
    def is_read_only(self) -> bool:
        """Whether the client refuses requests that change something."""
        return self._caller.read_only

    @property
    def is_static(self) -> bool:
        """Whether the client reads a bundle, so that the same request always gets the same answer."""
        answers = self._caller.access.answers
        return answers is not None and answers.is_static

    @property
    def clock_ms(self) -> int:
        """The moment that ages are computed for, in ms since 1970 (UTC).

        It is now. For a client that reads a bundle, it is the moment when the bundle was made.
        """
        return self._caller.clock_ms

    @property
    def addresses(self) -> NameServerList:
        """The configured name servers in request order, and the source of that list."""
        return self._caller.name_servers

    @property
    def unreachable(self) -> Mapping[str, RocketMQError]:
        """Name servers that failed to answer a read so far: address to error."""
        # A copy, because another thread may add to the original.
        return dict(self._reader.unreachable)

    @property
    def disagreements(self) -> list[str]:
        """One line per difference between name servers. Empty unless `ask_all` is set."""
        return self._reader.disagreements

    def forget_failures(self) -> None:
        """Empty `unreachable` and `disagreements`, after a procedure that waited for every name server."""
        self._reader.unreachable.clear()
        self._reader.disagreements.clear()

    def close(self) -> None:
        """Close the client's own connections. A `pool` stays open.

        Pending calls of other threads, and later calls, raise ClientClosed. A call that looks for name
        servers, or at certificates, raises it when that step ends.
        """
        self._caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception_info: object) -> None:
        self.close()
