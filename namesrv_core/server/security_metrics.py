"""Metrics about security: refused requests and TLS connections, reloaded files, and lost log lines."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import Metric

from namesrv_core.server.inspected_server import InspectedServer
from namesrv_core.server.log import log
from namesrv_core.server.log_writer import LogWriter
from namesrv_core.server.metric_families import build_counter, build_gauge, build_labelled_counter

if TYPE_CHECKING:
    from namesrv_core.server.tls_certificates import TlsCertificates


def export_security_metrics(name_server: InspectedServer) -> Iterator[Metric]:
    """Export all security metrics. Those of TLS are left out if TLS is disabled."""
    access_control = name_server.access_control
    counts = {
        (reason.value,): refusal_count
        for reason, refusal_count in name_server.state.refusals.counts_by_reason.items()
    }
    yield build_labelled_counter(
        "refused_requests", "Requests refused by the access policy, by reason.", ("reason",), counts
    )
    counts_by_result = {
        ("read",): access_control.reload_count,
        ("failed",): access_control.failed_reload_count,
    }
    yield build_labelled_counter(
        "credentials_reloads", "Reloads of the credentials file, by result.", ("result",), counts_by_result
    )
    if name_server.tls_certificates.tls_policy is not None:
        yield from _export_tls_metrics(
            name_server.tls_certificates, name_server.tls_certificates.tls_policy.handshake_count
        )
    lost = sum(map(_lost_line_count, log.handlers))
    yield build_counter("log_lost_lines", "Log lines lost because the reader of the log was too slow.", lost)


def _export_tls_metrics(tls_certificates: "TlsCertificates", handshake_count: int) -> Iterator[Metric]:
    yield build_counter("tls_handshakes", "TLS handshakes started.", handshake_count)
    yield build_counter(
        "tls_refused", "Connections closed because TLS failed.", tls_certificates.refused_count
    )
    counts = {("read",): tls_certificates.reload_count, ("failed",): tls_certificates.failed_reload_count}
    yield build_labelled_counter(
        "tls_reloads", "Reloads of the TLS certificate and key, by result.", ("result",), counts
    )
    if tls_certificates.expires_at is not None:
        yield build_gauge(
            "tls_certificate_expiry_timestamp_seconds",
            "Expiry time of the TLS certificate, in seconds since 1970.",
            tls_certificates.expires_at,
        )


def _lost_line_count(handler: logging.Handler) -> int:
    return handler.lost_lines if isinstance(handler, LogWriter) else 0
