"""Metrics of what is refused and renewed: by whoever may not, by TLS; and lines of the log that were lost."""

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from prometheus_client.core import Metric

from namesrv_core.server.families import counter, gauge, labelled_counter
from namesrv_core.server.log import log
from namesrv_core.server.log_writer import LogWriter

if TYPE_CHECKING:
    from namesrv_core.server.certificates import Certificates
    from namesrv_core.server.name_server import NameServer


def exported(server: "NameServer") -> Iterator[Metric]:
    """All of them; those of TLS where there is TLS."""
    guarding = server.guarding
    refused = {(reason.value,): count for reason, count in server.state.refusals.counts.items()}
    yield labelled_counter("refused_requests", "Requests that were not allowed.", ("reason",), refused)
    reloads = {("read",): guarding.reloads, ("failed",): guarding.failed_reloads}
    yield labelled_counter("credentials_reloads", "New credentials files.", ("result",), reloads)
    if server.certificates.terms is not None:
        yield from _tls(server.certificates, server.certificates.terms.begun)
    lost = sum(map(_lost, log.handlers))
    yield counter("log_lost_lines", "Lines of the log that nobody read in time.", lost)


def _tls(certificates: "Certificates", begun: int) -> Iterator[Metric]:
    yield counter("tls_handshakes", "TLS handshakes that began.", begun)
    yield counter("tls_refused", "Connections closed because of TLS.", certificates.refused)
    reloads = {("read",): certificates.reloads, ("failed",): certificates.failed_reloads}
    yield labelled_counter("tls_reloads", "New certificates and keys.", ("result",), reloads)
    if certificates.ends_at is not None:
        yield gauge("tls_certificate_expiry_timestamp_seconds", "When it expires.", certificates.ends_at)


def _lost(handler: logging.Handler) -> int:
    return handler.lost if isinstance(handler, LogWriter) else 0
