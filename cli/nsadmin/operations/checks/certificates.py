"""Checks how long the certificates of TLS servers and of this client's own files are still valid."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access.certificates import CertificateSummary, NoTls, read_certificate_file
from nsadmin.console.phrases import abbreviate_names, count_noun, format_utc_second
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, list_failures


class CertificateObservation(NamedTuple):
    """The certificates of servers, and of this client's files by their purpose, at `now_seconds`.

    `listing_problem` says why the list of brokers is unknown.
    """

    now_seconds: float
    results: Sequence[ServerResult[CertificateSummary]]
    listing_problem: str | None = None


def observe(admin: AdminClient, scope: CheckScope) -> CertificateObservation:
    """Read the certificates of name servers, of all brokers that they list, and of this client's files."""
    listing = listed_brokers.observe_listing(admin)
    results = admin.certificates.get_first_expiring([*admin.addresses.addrs, *listing.broker_names])
    has_certificate = any(certificate is not None for _, certificate, _ in results)
    scope.skip_if(
        scope.tls is None and not has_certificate,
        "no server showed a certificate" if listing.groups_by_server else listed_brokers.NO_ANSWER,
    )
    if scope.tls is not None and scope.tls.ca_file is not None:
        # An expired CA beside a valid one is harmless.
        results.append(_read_file("CA file", scope.tls.ca_file, max))
    if scope.tls is not None and scope.tls.cert_file is not None:
        results.append(_read_file("own certificate", scope.tls.cert_file, min))
    listing_problem = None if listing.groups_by_server else "no name server returned a list of brokers"
    return CertificateObservation(admin.clock_ms / 1000, results, listing_problem)


def _read_file(
    purpose: str, file_path: Path, choose: Callable[..., CertificateSummary]
) -> ServerResult[CertificateSummary]:
    holder = f"{purpose} {file_path}"
    try:
        certificates = read_certificate_file(file_path)
    except RocketMQError as error:
        return ServerResult(holder, None, error)
    return ServerResult(holder, choose(certificates, key=lambda c: c.ends_at_seconds), None)


def judge(scale: CheckScale, seen: CertificateObservation) -> CheckFinding:
    """Ignore servers without TLS. A server that does not answer may have an expired certificate."""
    by_holder = {holder: certificate for holder, certificate, _ in seen.results if certificate is not None}
    plain_addrs = [addr for addr, _, error in seen.results if isinstance(error, NoTls)]
    failure_lines = [
        *list_failures(result for result in seen.results if not isinstance(result.error, NoTls)),
        *([seen.listing_problem] if seen.listing_problem else []),
    ]
    no_tls_lines = (
        [f"{count_noun(len(plain_addrs), 'server')} without TLS: {abbreviate_names(plain_addrs, 5)}"]
        if plain_addrs
        else []
    )
    if not by_holder:
        is_silent = seen.listing_problem is not None and not plain_addrs
        text = listed_brokers.NO_ANSWER if is_silent else "no server showed a certificate"
        return scale.make_unknown_finding(text, [*no_tls_lines, *failure_lines])
    sorted_certificates = sorted(by_holder.items(), key=lambda item: item[1].ends_at_seconds)
    days = {holder: _days_left(certificate, seen.now_seconds) for holder, certificate in by_holder.items()}
    first_holder = sorted_certificates[0][0]
    first_days = days[first_holder]
    ending_text = (
        f"expired {-first_days:.1f} days ago" if first_days < 0 else f"expires in {first_days:.1f} days"
    )
    return scale.make_finding(
        f"{count_noun(len(by_holder), 'certificate')}; the first one {ending_text}: {first_holder}",
        {"first": first_days, "days": days},
        [
            *(
                f'{holder}: "{certificate.subject_name}" until '
                f"{format_utc_second(certificate.ends_at_seconds * 1000)}"
                for holder, certificate in sorted_certificates
            ),
            *no_tls_lines,
        ],
        doubts=failure_lines,
        affected=[first_holder],
    )


def _days_left(certificate: CertificateSummary, now_seconds: float) -> float:
    return round((certificate.ends_at_seconds - now_seconds) / 86_400, 2)


CHECK = Check(
    "certificates",
    (
        CheckMeasure("first", "days until the first certificate expires", warning="30:", critical="7:"),
        CheckMeasure("days", "days until a certificate expires", label_name="holder"),
    ),
    observe,
    judge,
    warning_when="a certificate expires within a month",
    critical_when="within a week",
    remedy="nsadmin securityAudit",
    warning_help="Days until a certificate expires. Default: 30:.",
    critical_help="Days until a certificate expires. Default: 7:.",
    help="""Check how many days the certificates of TLS servers, and of this client, remain valid.

    nsadmin begins a TLS handshake with every name server and broker, even without --tls and even if it does
    not trust the certificate. In a chain, the certificate that expires first counts. nsadmin also checks the
    files of --tlsCert and --tlsCa, or of the context. The state is unknown if no server uses TLS.

    Examples:
        # Check every server that uses TLS
        nsadmin check certificates
        # Warn two months before a certificate expires
        nsadmin check certificates --warning 60: --critical 14:
    """,
)
