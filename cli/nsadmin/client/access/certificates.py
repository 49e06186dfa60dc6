"""Certificates: what TLS servers show, whether it is trusted or not, and what files of PEM have."""

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
    """Whose it is, until when it is valid, in seconds since 1970, and whether its own key signed it."""

    subject_name: str
    ends_at_seconds: int
    is_self_signed: bool = False


_CertificateChoice = Callable[[list[dict[str, Any]]], CertificateSummary]
"""Which of the certificates that a server has shown is wanted."""


class NoTls(RocketMQError):
    """The server speaks no TLS: it has no certificate to show."""


class ServerCertificates:
    """`admin.certificates`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_first_expiring(self, server_addrs: Iterable[str]) -> list[ServerResult[CertificateSummary]]:
        """Of the certificates that each of these servers shows, the one that ends first.

        A handshake is made with each, whether requests go over TLS or not. NoTls, CallError.
        """
        return self._handshake_each(
            server_addrs,
            lambda chain_certificates: min(
                map(_summarize_certificate, chain_certificates),
                key=lambda certificate_summary: certificate_summary.ends_at_seconds,
            ),
        )

    def get_own(self, server_addrs: Iterable[str]) -> list[ServerResult[CertificateSummary]]:
        """The server's own certificate, of each of these servers; likewise."""
        return self._handshake_each(
            server_addrs, lambda chain_certificates: _summarize_certificate(chain_certificates[0])
        )

    def _handshake_each(
        self, server_addrs: Iterable[str], choose_certificate: _CertificateChoice
    ) -> list[ServerResult[CertificateSummary]]:
        # All they do is wait.
        from concurrent.futures import ThreadPoolExecutor

        server_addrs = list(server_addrs)
        access = self._caller.access
        tls_client = _make_unverified_client(access.tls or Tls())
        with ThreadPoolExecutor(max(1, min(len(server_addrs), access.concurrency))) as thread_pool:
            return list(
                thread_pool.map(
                    lambda server_addr: self._handshake(server_addr, tls_client, choose_certificate),
                    server_addrs,
                )
            )

    def _handshake(
        self, server_addr: str, tls_client: TlsClient, choose_certificate: _CertificateChoice
    ) -> ServerResult[CertificateSummary]:
        try:
            chain_certificates = tls_probe.fetch_certificates(
                self._caller.connect_addr(server_addr), tls_client, self._caller.access.timeout
            )
        except CallError as error:
            return ServerResult(server_addr, None, CallError(server_addr, error.kind, error.reason))
        if not chain_certificates:
            return ServerResult(server_addr, None, NoTls("speaks no TLS"))
        return ServerResult(server_addr, choose_certificate(chain_certificates), None)


def _make_unverified_client(own_tls: Tls) -> TlsClient:
    """Whoever it is, is to be seen: also one whom nobody trusts."""
    return TlsClient(
        None,
        own_tls.cert_file,
        own_tls.key_file,
        own_tls.key_password,
        own_tls.server_name,
        is_verifying=False,
    )


def read_certificate_file(pem_path: Path) -> list[CertificateSummary]:
    """The certificates in a PEM file. BadSettings where there are none."""
    return [
        _summarize_certificate(certificate_record)
        for certificate_record in tls_client.read_certificates(pem_path)
    ]


def _summarize_certificate(certificate_record: Mapping[str, Any]) -> CertificateSummary:
    is_self_signed = certificate_record.get("subject") == certificate_record.get("issuer")
    return CertificateSummary(
        tls_client.name_of_certificate(certificate_record),
        tls_client.expiry_seconds(certificate_record),
        is_self_signed,
    )
