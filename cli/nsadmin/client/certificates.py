"""Certificates: what TLS servers show, whether it is trusted or not, and what files of PEM have."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.transport import handshake, tls
from namesrv_core.transport.calls import CallError
from namesrv_core.transport.tls import TlsClient
from nsadmin.client.access import Tls
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult


class Certificate(NamedTuple):
    """Whose it is, until when it is valid, in seconds since 1970, and whether its own key signed it."""

    name: str
    ends_at: int
    is_self_signed: bool = False


_Choose = Callable[[list[dict[str, Any]]], Certificate]
"""Which of the certificates that a server has shown is wanted."""


class NoTls(RocketMQError):
    """The server speaks no TLS: it has no certificate to show."""


class Certificates:
    """`admin.certificates`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def shown(self, addrs: Iterable[str]) -> list[ServerResult[Certificate]]:
        """Of the certificates that each of these servers shows, the one that ends first.

        A handshake is made with each, whether requests go over TLS or not. NoTls, CallError.
        """
        return self._each(addrs, lambda found: min(map(_certificate, found), key=lambda one: one.ends_at))

    def own(self, addrs: Iterable[str]) -> list[ServerResult[Certificate]]:
        """The server's own certificate, of each of these servers; likewise."""
        return self._each(addrs, lambda found: _certificate(found[0]))

    def _each(self, addrs: Iterable[str], choose: _Choose) -> list[ServerResult[Certificate]]:
        # All they do is wait.
        from concurrent.futures import ThreadPoolExecutor

        addrs = list(addrs)
        access = self._caller.access
        client = _client(access.tls or Tls())
        with ThreadPoolExecutor(max(1, min(len(addrs), access.concurrency))) as pool:
            return list(pool.map(lambda addr: self._result(addr, client, choose), addrs))

    def _result(self, addr: str, client: TlsClient, choose: _Choose) -> ServerResult[Certificate]:
        try:
            found = handshake.shown(self._caller.way(addr), client, self._caller.access.timeout)
        except CallError as error:
            return ServerResult(addr, None, CallError(addr, error.kind, error.reason))
        if not found:
            return ServerResult(addr, None, NoTls("speaks no TLS"))
        return ServerResult(addr, choose(found), None)


def _client(own: Tls) -> TlsClient:
    """Whoever it is, is to be seen: also one whom nobody trusts."""
    return TlsClient(None, own.cert_file, own.key_file, own.key_password, own.server_name, verify=False)


def in_file(path: Path) -> list[Certificate]:
    """The certificates in a PEM file. BadSettings where there are none."""
    return [_certificate(one) for one in tls.in_file(path)]


def _certificate(shown: Mapping[str, Any]) -> Certificate:
    is_self_signed = shown.get("subject") == shown.get("issuer")
    return Certificate(tls.name_of(shown), tls.ends_at(shown), is_self_signed)
