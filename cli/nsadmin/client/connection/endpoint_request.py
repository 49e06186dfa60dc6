"""The request to an HTTP endpoint: a text of limited size, within one deadline for the whole request.

Rule: the request runs in a thread, because timeouts of httpx apply to each read, and a name lookup has none.
"""

import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from namesrv_core.transport.address import join_addr
from namesrv_core.transport.multiplexed_client import CallError

if TYPE_CHECKING:
    import httpx

    from namesrv_core.transport.host_resolver import AddrLookup

MAX_ANSWER_BYTES = 64 * 1024
_MAX_REDIRECTS = 5
_ERRNO_PREFIX = re.compile(r"^\[Errno -?\d+\] ")


def fetch_endpoint_text(
    url: str, http_headers: Mapping[str, str], timeout_seconds: float, find_addrs: "AddrLookup | None" = None
) -> str:
    """Fetch the text at a URL, and follow redirects on the same host."""
    # Imported here because it takes 100 ms, and most operators use a list of addresses.
    import httpx  # noqa: F401 - the thread must not spend the time limit on it

    if find_addrs is not None:
        # The time of the request begins when the tunnel is open.
        find_addrs(_server_of_url(url))
    endpoint_thread = _EndpointThread(url, http_headers, timeout_seconds, find_addrs)
    endpoint_thread.start()
    endpoint_thread.join(timeout_seconds)
    if endpoint_thread.is_alive():
        endpoint_thread.abandon()
        raise _timeout_error(url, timeout_seconds)
    if endpoint_thread.error is not None:
        raise endpoint_thread.error
    return endpoint_thread.answer_text


class _EndpointThread(Thread):
    """Sends the request. After the thread ended, `error` or `answer_text` is its result."""

    def __init__(
        self,
        url: str,
        http_headers: Mapping[str, str],
        timeout_seconds: float,
        find_addrs: "AddrLookup | None",
    ) -> None:
        super().__init__(name="endpoint", daemon=True)
        self.answer_text = ""
        self.error: Exception | None = None
        self._url = url
        self._http_headers = {"Accept-Encoding": "identity", **http_headers}
        self._timeout_seconds, self._find_addrs = timeout_seconds, find_addrs
        self._is_abandoned = False
        self._sockets: list[socket.socket] = []

    def run(self) -> None:
        try:
            self.answer_text = self._fetch_text()
        except Exception as error:
            self.error = error
        finally:
            for connected_socket in self._sockets:
                connected_socket.close()

    def abandon(self) -> None:
        """End the connection, so that the thread ends instead of waiting for the endpoint."""
        self._is_abandoned = True
        self._shut_down_sockets()

    def _shut_down_sockets(self) -> None:
        for connected_socket in self._sockets:
            with suppress(OSError):
                connected_socket.shutdown(socket.SHUT_RDWR)

    def _watch_connection(self, event_name: str, event_info: Mapping[str, Any]) -> None:
        """The `trace` extension of httpx: keep a duplicate of the socket, which TLS does not detach."""
        if event_name == "connection.connect_tcp.complete":
            self._sockets.append(event_info["return_value"].get_extra_info("socket").dup())
            if self._is_abandoned:
                self._shut_down_sockets()

    def _fetch_text(self) -> str:
        import httpx

        try:
            # Ignore the environment's proxies: they lead out of the network, and Java's clients ignore them.
            with httpx.Client(
                timeout=self._timeout_seconds,
                trust_env=False,
                transport=self._find_addrs and _build_transport(self._find_addrs),
            ) as http_client:
                return self._follow_redirects(http_client)
        except httpx.TimeoutException:
            raise _timeout_error(self._url, self._timeout_seconds) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = _ERRNO_PREFIX.sub("", str(error)) or type(error).__name__
            raise CallError(self._url, "unconnected", reason[0].lower() + reason[1:]) from None

    def _follow_redirects(self, http_client: "httpx.Client") -> str:
        request = http_client.build_request(
            "GET", self._url, headers=self._http_headers, extensions={"trace": self._watch_connection}
        )
        first_url = request.url
        for _ in range(1 + _MAX_REDIRECTS):
            response = http_client.send(request, stream=True)
            try:
                if response.next_request is None:
                    return self._read_text(response)
            finally:
                response.close()
            request = response.next_request
            if request.url.host != first_url.host or request.url.scheme not in (first_url.scheme, "https"):
                raise self._unreadable_error(f"the endpoint redirects to another host, {request.url}")
        raise self._unreadable_error(f"more than {_MAX_REDIRECTS} redirects")

    def _read_text(self, response: "httpx.Response") -> str:
        if response.status_code != 200:
            raise self._unreadable_error(f"HTTP status {response.status_code} instead of 200")
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding.lower() != "identity":
            # 1.5 MB of gzip can become 4.5 GB.
            raise self._unreadable_error(f"the answer has the encoding {encoding}, which was not requested")
        answer_bytes = bytearray()
        for answer_piece in response.iter_raw():
            answer_bytes += answer_piece
            if len(answer_bytes) > MAX_ANSWER_BYTES:
                raise self._unreadable_error(f"the answer has more than {MAX_ANSWER_BYTES} bytes")
        return answer_bytes.decode("utf-8", "replace")

    def _unreadable_error(self, reason: str) -> CallError:
        return CallError(self._url, "unreadable", reason)


def _server_of_url(url: str) -> str:
    url_parts = urlsplit(url)
    default_port = 443 if url_parts.scheme == "https" else 80
    return join_addr(url_parts.hostname or "", url_parts.port or default_port)


def _build_transport(find_addrs: "AddrLookup") -> "httpx.HTTPTransport":
    """A transport whose connections lead through a tunnel. TLS still verifies the server's own name."""
    import httpcore
    import httpx

    class TunnelBackend(httpcore.SyncBackend):
        def connect_tcp(
            self, host: str, port: int, *settings: Any, **other_settings: Any
        ) -> httpcore.NetworkStream:
            family, socket_addr = find_addrs(join_addr(host, port))[0]
            if family == socket.AF_UNIX:
                return self.connect_unix_socket(
                    socket_addr, other_settings.get("timeout"), other_settings.get("socket_options")
                )
            return super().connect_tcp(*socket_addr, *settings, **other_settings)

    transport = httpx.HTTPTransport(trust_env=False)
    # httpx passes no backend to httpcore, which has a public parameter for it.
    transport._pool = httpcore.ConnectionPool(
        ssl_context=httpx.create_ssl_context(trust_env=False), network_backend=TunnelBackend()
    )
    return transport


def _timeout_error(url: str, timeout_seconds: float) -> CallError:
    return CallError(url, "timeout", f"no answer within {timeout_seconds:g} s")
