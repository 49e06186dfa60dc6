"""TlsCertificates, which loads the server's certificate and key and reloads changed files without a restart.

A certificate is used only together with its key, and the pair in use stays until a valid one replaces it.
"""

import asyncio
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from namesrv_core.errors import BadSettings
from namesrv_core.printable_text import escape_unsafe
from namesrv_core.server.log import LogThrottle, log
from namesrv_core.state.tls_settings import TlsSettings
from namesrv_core.transport.protocol_detection import TlsPolicy

if TYPE_CHECKING:
    import ssl

    from namesrv_core.transport.cipher_suites import CipherOffer
    from namesrv_core.transport.tls_server import TlsServerFiles

CHECK_SECONDS = 1.0
"""The interval between two checks of the files."""


_WRITING_PROBLEM = "the TLS files are being written"


class _CertificateReading(NamedTuple):
    """The content of the files. With neither `ssl_context` nor `problem_text` they are being written."""

    content_digest: bytes | None
    ssl_context: "ssl.SSLContext | None"
    certificate_text: str = ""
    has_expired: bool = False
    problem_text: str = ""
    expires_at: float | None = None


class TlsCertificates:
    """The TLS certificates of a server. `tls_policy` is for the listener, None if TLS is disabled.

    The constructor raises BadSettings if TLS is required but not possible. `expires_at` is when the current
    certificate expires (seconds since 1970), None for a self-signed one. Counts never decrease.
    """

    def __init__(self, tls: TlsSettings) -> None:
        self._files: TlsServerFiles | None = None
        self._seen_digest: bytes | None = None
        self._tried_digest: bytes | None = None
        self._used_digest: bytes | None = None
        self._logged_problem = ""
        self._check_task: asyncio.Task[None] | None = None
        self._throttle = LogThrottle()
        self.expires_at: float | None = None
        self.reload_count = self.failed_reload_count = self.refused_count = 0
        self.tls_policy: TlsPolicy | None = None
        if tls.mode == "disabled":
            return
        _check_cipher_offer(tls)
        # Built on demand, so that OpenSSL is not loaded before the first TLS client connects.
        self.tls_policy = TlsPolicy(
            None, tls.mode == "enforcing", partial(_build_self_signed_context, tls), self._count_refusal
        )
        if tls.cert_path is not None and tls.key_path is not None:
            self._begin_with_files(tls.cert_path, tls.key_path, tls)
        elif self.tls_policy.is_required:
            self.tls_policy.current_context()

    def _begin_with_files(self, cert_path: str, key_path: str, tls: TlsSettings) -> None:
        from namesrv_core.transport.tls_server import TlsServerFiles

        assert self.tls_policy is not None
        path = Path(tls.trust_path) if tls.trust_path else None
        self._files = TlsServerFiles(
            Path(cert_path), Path(key_path), tls.key_password, tls.client_auth, path, _build_cipher_offer(tls)
        )
        self.tls_policy = TlsPolicy(None, self.tls_policy.is_required, None, self._count_refusal)
        first = _read_certificate_files(self._files)
        if first.ssl_context is None and self.tls_policy.is_required:
            raise BadSettings(first.problem_text or _WRITING_PROBLEM)
        self._apply_reading(first)

    def start_file_check(self) -> None:
        """Start a check for changed files; called every `CHECK_SECONDS`. Reads the disk in a thread."""
        if self._files is not None and (self._check_task is None or self._check_task.done()):
            self._check_task = asyncio.get_running_loop().create_task(self._check_files(self._files))

    async def _check_files(self, files: "TlsServerFiles") -> None:
        reading = await asyncio.to_thread(_read_certificate_files, files)
        if reading.content_digest is not None and reading.content_digest == self._tried_digest:
            self._seen_digest = reading.content_digest
            if reading.content_digest == self._used_digest:
                self._logged_problem = ""
        elif reading.content_digest == self._seen_digest and reading.content_digest is not None:
            self._apply_reading(reading)
        else:
            # The files may be incomplete. They are used once two successive checks find the same content.
            self._seen_digest = reading.content_digest
            if reading.problem_text and reading.content_digest is None:
                self._log_problem(reading.problem_text)

    def reload_files(self) -> None:
        """Apply the current content of the files at once, and log the result in any case."""
        if self._files is None:
            return
        reading = _read_certificate_files(self._files)
        if reading.content_digest is not None and reading.content_digest == self._used_digest:
            log.info("TLS: the certificate has not changed")
            return
        self._logged_problem = ""
        self._apply_reading(reading)

    def _apply_reading(self, reading: _CertificateReading) -> None:
        assert self.tls_policy is not None
        self._tried_digest = self._seen_digest = reading.content_digest
        if reading.ssl_context is None:
            self.failed_reload_count += self._used_digest is not None
            self._log_problem(reading.problem_text or _WRITING_PROBLEM)
            return
        self._logged_problem = ""
        self.reload_count += self._used_digest is not None
        self._used_digest = reading.content_digest
        self.expires_at = reading.expires_at
        self.tls_policy.ssl_context = reading.ssl_context
        log.info("TLS: new connections use %s", reading.certificate_text)
        if reading.has_expired:
            log.warning("TLS: this certificate has expired, so clients that verify it cannot connect")

    def _log_problem(self, problem_text: str) -> None:
        """Log a problem once, not at every check."""
        assert self.tls_policy is not None
        if problem_text == self._logged_problem:
            return
        self._logged_problem = problem_text
        consequence = (
            "TLS is not available until you fix this"
            if self.tls_policy.ssl_context is None
            else "the previous certificate stays in use"
        )
        log.error("TLS: %s; %s", problem_text, consequence)

    def stop(self) -> None:
        if self._check_task is not None:
            self._check_task.cancel()

    def _count_refusal(self, peer_addr: str, reason: str) -> None:
        self.refused_count += 1
        self._throttle.log_warning(
            reason.partition("(")[0].partition(" of ")[0], f"closing {peer_addr}: the client {reason}"
        )


def build_outgoing_context(tls: TlsSettings) -> "ssl.SSLContext | None":
    """Build the context for requests to brokers; None for plain text. Raises BadSettings.

    Host names are not checked, as in Java's name server.
    """
    outgoing_tls = tls.outgoing
    if outgoing_tls is None:
        return None
    from namesrv_core.transport import cipher_suites
    from namesrv_core.transport.tls_client import TlsClient

    path, cert_path, key_path = (
        Path(text) if text else None
        for text in (outgoing_tls.trust_path, outgoing_tls.cert_path, outgoing_tls.key_path)
    )
    context = TlsClient(
        path, cert_path, key_path, outgoing_tls.key_password, is_verifying=outgoing_tls.is_verifying
    ).ssl_context
    context.check_hostname = False
    cipher_suites.restrict_context(context, _build_cipher_offer(tls))
    return context


def _build_cipher_offer(tls: TlsSettings) -> "CipherOffer":
    from namesrv_core.transport.cipher_suites import CipherOffer

    return CipherOffer(tls.protocols, tls.ciphers)


def _check_cipher_offer(tls: TlsSettings) -> None:
    """Report invalid versions and ciphers at the start, because no certificate change can fix them."""
    if tls.protocols or tls.ciphers:
        import ssl

        from namesrv_core.transport.cipher_suites import restrict_context

        restrict_context(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), _build_cipher_offer(tls))


def _build_self_signed_context(tls: TlsSettings) -> "ssl.SSLContext":
    from namesrv_core.transport.tls_server import build_self_signed_context

    context = build_self_signed_context(_build_cipher_offer(tls))
    log.info(
        "TLS: using a self-signed certificate (test mode): set tls.server.certPath and tls.server.keyPath"
    )
    return context


def _read_certificate_files(files: "TlsServerFiles") -> _CertificateReading:
    """Read the files. If one changes during the read, the result has neither context nor problem."""
    from namesrv_core.transport import tls_client, tls_server

    try:
        digest = files.compute_digest()
    except BadSettings as error:
        return _CertificateReading(None, None, problem_text=str(error))
    try:
        context = tls_server.build_server_context(files)
        if files.compute_digest() != digest:
            return _CertificateReading(None, None)
        certificate = tls_client.read_certificates(files.cert_file)[0]
    except BadSettings as error:
        return _CertificateReading(digest, None, problem_text=str(error))
    expiry = datetime.fromtimestamp(tls_client.expiry_seconds(certificate), UTC)
    text = (
        f'the certificate of "{escape_unsafe(tls_client.name_of_certificate(certificate))}" in '
        f"{files.cert_file}, valid until {expiry:%Y-%m-%dT%H:%M:%SZ}"
    )
    return _CertificateReading(
        digest, context, text, expiry < datetime.now(UTC), expires_at=expiry.timestamp()
    )
