"""AsyncAdminClient, the entry point of the library for asyncio: `await admin.topics.list_names()`."""

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Self

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.multiplexed_client import ExchangeObserver
from nsadmin.aio.call_threads import CallThreads
from nsadmin.aio.nouns import AsyncNouns
from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access, Credentials, Tls
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.library.admin_client import AdminClient


class AsyncAdminClient(AsyncNouns):
    """A client of name servers and brokers for asyncio. Use it with `async with`.

    Nouns, methods, arguments, results and errors are those of AdminClient. Each method is a coroutine, or an
    asynchronous iterator where AdminClient has an iterator. Up to 16 calls run at once, each in a thread of
    the client; further calls wait. If a task is cancelled, its call ends at once: the connections with a
    pending request are closed, and nothing more is sent. A change that was sent may have been done. Functions
    that are passed to a method, such as `on_event`, run in a thread of the client.

    Args:
        namesrv_addr: "a:9876;b:9876", an iterable of such lists, a NameServerList, or a function that returns
            one (called in a thread, before the first request to one). Default: NAMESRV_ADDR, else
            127.0.0.1:9876.
        timeout: Seconds per request. Replaces `access.timeout`.
        access: Timeout, retries, concurrency, credentials, TLS and address map.
        ask_all: Send each read to every name server; fills `unreachable` and `disagreements`.
        observer: Called with an Exchange after each request, by one thread of the client at a time.
        read_only: Refuse requests that change something (ReadOnlyAccess).
        pool: Connections to share with other clients. Default: its own connections.

    Raises:
        BadSettings: A TLS file cannot be used, or the timeout is not positive.
        BadAddress: `namesrv_addr` is not a list of addresses.
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
        admin_client = AdminClient(
            namesrv_addr,
            timeout=timeout,
            access=access,
            ask_all=ask_all,
            observer=observer,
            read_only=read_only,
            pool=pool,
        )
        super().__init__(admin_client, CallThreads(admin_client._caller))

    @classmethod
    def from_context(
        cls,
        name: str | None = None,
        *,
        namesrv_addr: str | None = None,
        bundle: str | PathLike[str] | None = None,
        timeout: float | None = None,
        credentials: Credentials | str | None = None,
        tls: Tls | bool | None = None,
        kube: str | None = None,
        ssh: str | None = None,
        ask_all: bool = False,
        observer: ExchangeObserver | None = None,
        read_only: bool = False,
        pool: Pool | None = None,
    ) -> Self:
        """Make a client with the settings of a context and of the environment, like a command.

        Precedence of each setting: argument, the context `name`, environment, the current context, default.
        It reads files, so call it before the event loop runs, or accept a short pause.

        Args:
            name: A context of `nsadmin context set`. Default: NSADMIN_CONTEXT, else the current context; none
                if there is neither.
            namesrv_addr: "a:9876;b:9876", instead of the context's name servers.
            bundle: A file of `nsadmin bundle create`, which the client reads in place of servers. Default:
                that of the context, or of NSADMIN_BUNDLE. The client is then read-only.
            timeout: Seconds per request.
            credentials: Credentials, or their source as for `--credentials`: "env", "file:PATH",
                "keyring:NAME" or "none".
            tls: Tls, True for TLS with the settings of the context or environment, or False for plain text.
            kube: "NAMESPACE" or "CONTEXT/NAMESPACE" of Kubernetes, to reach the servers with kubectl.
            ssh: "USER@HOST" or "USER@HOST:PORT", to reach the servers through this SSH host.
            ask_all: Send each read to every name server; fills `unreachable` and `disagreements`.
            observer: Called with an Exchange after each request, by one thread of the client at a time.
            read_only: Refuse requests that change something. A read-only context implies it.
            pool: Connections to share with other clients. Default: its own connections.

        Returns:
            The client.

        Raises:
            BadSettings: The context does not exist, a setting is invalid, or the file is not a bundle.
            BadAddress: A name server is not an address.
        """
        admin_client = AdminClient.from_context(
            name,
            namesrv_addr=namesrv_addr,
            bundle=bundle,
            timeout=timeout,
            credentials=credentials,
            tls=tls,
            kube=kube,
            ssh=ssh,
            ask_all=ask_all,
            observer=observer,
            read_only=read_only,
            pool=pool,
        )
        async_client = cls.__new__(cls)
        AsyncNouns.__init__(async_client, admin_client, CallThreads(admin_client._caller))
        return async_client

    async def get_addresses(self) -> NameServerList:
        """Return the configured name servers in request order, and the source of that list.

        Returns:
            The list. The first call runs the function that was given as `namesrv_addr`.
        """
        return await self._call_threads.run_call(lambda: self._admin_client.addresses)

    @property
    def unreachable(self) -> Mapping[str, RocketMQError]:
        """Name servers that failed to answer a read so far: address to error."""
        return self._admin_client.unreachable

    @property
    def disagreements(self) -> list[str]:
        """One line per difference between name servers. Empty unless `ask_all` is set."""
        return self._admin_client.disagreements

    async def aclose(self) -> None:
        """Close the client's own connections, and wait for its threads. A `pool` stays open.

        Pending calls of other tasks, and later calls, raise ClientClosed.
        """
        self._admin_client.close()
        await self._call_threads.wait_until_idle()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception_info: object) -> None:
        await self.aclose()
