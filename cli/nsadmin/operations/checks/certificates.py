"""Checks how long the certificates of TLS servers and of this client's own files are still valid."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access.certificates import CertificateSummary, NoTls, read_certificate_file
from nsadmin.client.connection.access_options import Tls
from nsadmin.client.results import error_text
from nsadmin.console.phrases import abbreviate_names, format_utc_second
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale

_DAY_SECONDS = 86_400


class CertificateObservation(NamedTuple):
    """The certificates of servers, and of this client's files by purpose, at `now_seconds`.

    `listing_problem` says why the list of brokers is unknown.
    """

    now_seconds: float
    server_certificates: Sequence[ServerResult[CertificateSummary]]
    file_certificates: Mapping[str, CertificateSummary | RocketMQError]
    listing_problem: str | None = None


def observe_certificates(
    admin: AdminClient, now_seconds: float, own_tls: Tls | None
) -> CertificateObservation:
    """Read the certificates of name servers, of all brokers that they list, and of this client's files."""
    broker_listing = listed_brokers.observe_listing(admin)
    server_certificates = admin.certificates.get_first_expiring(
        [*admin.addresses.addrs, *broker_listing.broker_names]
    )
    listing_problem = None if broker_listing.groups_by_server else "no name server returned a list of brokers"
    return CertificateObservation(now_seconds, server_certificates, _read_own_files(own_tls), listing_problem)


def _read_own_files(own_tls: Tls | None) -> dict[str, CertificateSummary | RocketMQError]:
    """Take the longest valid certificate of a CA file: an expired CA beside a valid one is harmless."""
    file_certificates = {}
    if own_tls is not None and own_tls.ca_file is not None:
        file_certificates[f"CA file {own_tls.ca_file}"] = _read_file(own_tls.ca_file, max)
    if own_tls is not None and own_tls.cert_file is not None:
        file_certificates[f"own certificate {own_tls.cert_file}"] = _read_file(own_tls.cert_file, min)
    return file_certificates


def _read_file(
    file_path: Path, choose_certificate: Callable[..., CertificateSummary]
) -> CertificateSummary | RocketMQError:
    try:
        return choose_certificate(
            read_certificate_file(file_path), key=lambda certificate: certificate.ends_at_seconds
        )
    except RocketMQError as error:
        return error


def judge_certificates(scale: CheckScale, observation: CertificateObservation) -> CheckFinding:
    """Ignore servers without TLS. A server that does not answer may have an expired certificate."""
    certificates_by_holder = {
        server_addr: certificate
        for server_addr, certificate, _ in observation.server_certificates
        if certificate is not None
    }
    certificates_by_holder |= {
        holder_name: certificate
        for holder_name, certificate in observation.file_certificates.items()
        if isinstance(certificate, CertificateSummary)
    }
    plain_text_addrs = [
        server_addr for server_addr, _, error in observation.server_certificates if isinstance(error, NoTls)
    ]
    failure_lines = [
        f"{server_addr}: {error_text(error)}"
        for server_addr, _, error in observation.server_certificates
        if error is not None and not isinstance(error, NoTls)
    ]
    failure_lines += [
        f"{holder_name}: {error_text(certificate)}"
        for holder_name, certificate in observation.file_certificates.items()
        if isinstance(certificate, RocketMQError)
    ]
    failure_lines += [observation.listing_problem] if observation.listing_problem else []
    no_tls_lines = (
        [f"{len(plain_text_addrs)} servers do not accept TLS: {abbreviate_names(plain_text_addrs, 5)}"]
        if plain_text_addrs
        else []
    )
    if not certificates_by_holder:
        return scale.make_unknown_finding("no server showed a certificate", [*no_tls_lines, *failure_lines])
    first_holder = min(
        certificates_by_holder, key=lambda holder_name: certificates_by_holder[holder_name].ends_at_seconds
    )
    samples = [
        scale.make_sample("first", _days_left(certificates_by_holder[first_holder], observation.now_seconds)),
        *(
            scale.make_sample("days", _days_left(certificate, observation.now_seconds), holder_name)
            for holder_name, certificate in certificates_by_holder.items()
        ),
    ]
    minimum_state = CheckState.UNKNOWN if failure_lines else CheckState.OK
    sorted_certificates = sorted(
        certificates_by_holder.items(),
        key=lambda holder_and_certificate: holder_and_certificate[1].ends_at_seconds,
    )
    detail_lines = [
        *(_format_certificate(holder_name, certificate) for holder_name, certificate in sorted_certificates),
        *no_tls_lines,
        *failure_lines,
    ]
    return scale.make_finding(
        _format_summary(len(certificates_by_holder), first_holder, samples[0].value or 0.0),
        samples,
        detail_lines,
        minimum_state=minimum_state,
    )


def _days_left(certificate: CertificateSummary, now_seconds: float) -> float:
    return round((certificate.ends_at_seconds - now_seconds) / _DAY_SECONDS, 2)


def _format_certificate(holder_name: str, certificate: CertificateSummary) -> str:
    return (
        f'{holder_name}: "{certificate.subject_name}" until '
        f"{format_utc_second(certificate.ends_at_seconds * 1000)}"
    )


def _format_summary(certificate_count: int, first_holder: str, days_left: float) -> str:
    ending_text = (
        f"expired {-days_left:.1f} days ago" if days_left < 0 else f"expires in {days_left:.1f} days"
    )
    return f"{certificate_count} certificates; the first one {ending_text}: {first_holder}"
