"""`admin.certificates`: the certificates of TLS servers, trusted or not, and those in PEM files."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.transport import tls_client, tls_probe
from namesrv_core.transport.multiplexed_client import CallError
from namesrv_core.transport.tls_client import TlsClient
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.connection.caller import Caller
from nsadmin.client.results import ServerResult


class CertificateSummary(NamedTuple):
    """The main data of a certificate.

    Attributes:
        subject_name: The name of its subject.
        ends_at_seconds: The end of its validity in seconds since 1970 (UTC).
        is_self_signed: Whether subject and issuer are equal.
    """

    subject_name: str
    ends_at_seconds: int
    is_self_signed: bool = False


_CertificateChoice = Callable[[list[dict[str, Any]]], CertificateSummary]
"""Chooses one of the certificates that a server presents."""


class NoTls(RocketMQError):
    """The server does not support TLS, so it presents no certificate."""


class ServerCertificates:
    """`admin.certificates`: the certificates of servers.

    Makes a TLS handshake with each server, also if requests use plain text, and accepts any certificate.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_first_expiring(self, server_addrs: Iterable[str]) -> list[ServerResult[CertificateSummary]]:
        """Return the certificate of each server's chain that expires first.

        Args:
            server_addrs: The server addresses.

        Returns:
            One ServerResult per address, in order. The error is NoTls without TLS, CallError without an
            answer.
        """
        return self._handshake_each(
            server_addrs, lambda c: min(map(_summarize_certificate, c), key=lambda s: s.ends_at_seconds)
        )

    def get_own(self, server_addrs: Iterable[str]) -> list[ServerResult[CertificateSummary]]:
        """Return the own certificate of each server; results and errors are like `get_first_expiring`.

        Args:
            server_addrs: The server addresses.

        Returns:
            One ServerResult per address, in order.
        """
        return self._handshake_each(server_addrs, lambda c: _summarize_certificate(c[0]))

    def _handshake_each(
        self, server_addrs: Iterable[str], choose_certificate: _CertificateChoice
    ) -> list[ServerResult[CertificateSummary]]:
        # Without verification, to see untrusted certificates too.
        tls_client = TlsClient(None, *(self._caller.access.tls or Tls())[1:5], is_verifying=False)
        return self._caller.map_in_threads(
            lambda addr: self._handshake(addr, tls_client, choose_certificate), server_addrs
        )

    def _handshake(
        self, server_addr: str, tls_client: TlsClient, choose_certificate: _CertificateChoice
    ) -> ServerResult[CertificateSummary]:
        self._caller.require_open()
        try:
            chain_certificates = self._caller.run_probe(
                "certificates",
                server_addr,
                lambda: tls_probe.fetch_certificates(
                    self._caller.connect_addr(server_addr),
                    tls_client,
                    self._caller.access.timeout,
                    self._caller.find_addrs,
                ),
            )
        except CallError as error:
            return ServerResult(server_addr, None, CallError(server_addr, error.kind, error.reason))
        if not chain_certificates:
            return ServerResult(server_addr, None, NoTls("does not accept TLS"))
        return ServerResult(server_addr, choose_certificate(chain_certificates), None)


def read_certificate_file(pem_path: Path) -> list[CertificateSummary]:
    """Read the certificates in a PEM file, in their order."""
    return [_summarize_certificate(record) for record in tls_client.read_certificates(pem_path)]


def _summarize_certificate(record: Mapping[str, Any]) -> CertificateSummary:
    is_self_signed = record.get("subject") == record.get("issuer")
    return CertificateSummary(
        tls_client.name_of_certificate(record), tls_client.expiry_seconds(record), is_self_signed
    )
