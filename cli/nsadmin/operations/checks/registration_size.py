"""Checks how close each broker's registration is to the largest frame that a name server reads."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.client import AdminClient, ServerResult
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope, Figures
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, list_failures
from nsadmin.operations.registration_size import RegistrationSize, measure_registration

_MAX_SHOWN = 10


class RegistrationSizeObservation(NamedTuple):
    """The registration size of each broker, display names by address, and a line per failed name server."""

    broker_names: Mapping[str, str]
    size_results: Sequence[ServerResult[RegistrationSize]]
    failure_lines: Sequence[str] = ()


def observe(admin: AdminClient, scope: CheckScope) -> RegistrationSizeObservation:
    """Read the topics of all listed brokers, or only of one address, which need not be listed."""
    if scope.broker_addr is not None:
        names, failure_lines = {scope.broker_addr: scope.broker_addr}, list[str]()
    else:
        listing = listed_brokers.observe_listing(admin, scope.cluster_name)
        names, failure_lines = listing.broker_names, listing.failure_lines
    registrations = admin.registrations.get_each(names)
    return RegistrationSizeObservation(
        names, [result.then(measure_registration) for result in registrations], failure_lines
    )


def judge(scale: CheckScale, seen: RegistrationSizeObservation) -> CheckFinding:
    """Judge by the largest registration. If a broker does not answer, the state is at least UNKNOWN."""
    failure_lines = [*list_failures(seen.size_results, seen.broker_names), *seen.failure_lines]
    sizes = [(addr, size) for addr, size, _ in seen.size_results if size is not None]
    if not sizes:
        text = "no broker returned its topics" if seen.broker_names else "no broker is known"
        return scale.make_unknown_finding(text, failure_lines)
    sizes.sort(key=lambda item: -item[1].frame_bytes)
    largest_addr, largest = sizes[0]
    share = round(largest.frame_share * 100, 2)
    figures: Figures = {"largest": share, "size": {addr: size.frame_bytes for addr, size in sizes}}
    summary = (
        f"the largest of {len(sizes)} registrations has {largest.frame_bytes} of "
        f"{MAX_FRAME_BYTES} bytes: {seen.broker_names[largest_addr]}"
    )
    details = [_format_size(seen.broker_names[addr], size) for addr, size in sizes[:_MAX_SHOWN]]
    return scale.make_finding(
        summary, figures, details, doubts=failure_lines, affected=[seen.broker_names[largest_addr]]
    )


def _format_size(broker_name: str, size: RegistrationSize) -> str:
    room_text = "" if size.room_for_topics is None else f", space for {size.room_for_topics} more"
    return f"{broker_name}: {size.frame_bytes} bytes, {count_noun(len(size.topic_sizes), 'topic')}{room_text}"


CHECK = Check(
    "registrationSize",
    (
        CheckMeasure(
            "largest",
            "largest registration, as a share of the name server's limit",
            "%",
            warning="50",
            critical="80",
        ),
        CheckMeasure("size", "size of a broker's registration", "B", label_name="broker"),
    ),
    observe,
    judge,
    warning_when="a registration is larger than half of the size that a name server accepts, 16 MiB",
    critical_when="larger than 80 percent of that size",
    remedy="nsadmin registrationSize",
)
