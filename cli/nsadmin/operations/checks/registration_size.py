"""Checks how close each broker's registration is to the largest frame that a name server reads."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.results import error_text
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.thresholds import CheckScale
from nsadmin.operations.registration_size import RegistrationSize, measure_registration

_MAX_SHOWN = 10


class RegistrationSizeObservation(NamedTuple):
    """The registration size of each broker, display names by address, and a line per failed name server."""

    broker_names: Mapping[str, str]
    size_results: Sequence[ServerResult[RegistrationSize]]
    failure_lines: Sequence[str] = ()


def observe_registration_sizes(
    admin: AdminClient, cluster_name: str | None = None, broker_addr: str | None = None
) -> RegistrationSizeObservation:
    """Read the topics of all listed brokers, or only of `broker_addr`, which need not be listed."""
    broker_names, failure_lines = {broker_addr or "": broker_addr or ""}, list[str]()
    if broker_addr is None:
        broker_listing = listed_brokers.observe_listing(admin, cluster_name)
        broker_names, failure_lines = broker_listing.broker_names, broker_listing.failure_lines
    return RegistrationSizeObservation(
        broker_names,
        [
            registration_result.then(measure_registration)
            for registration_result in admin.registrations.get_each(broker_names)
        ],
        failure_lines,
    )


def judge_registration_sizes(scale: CheckScale, observation: RegistrationSizeObservation) -> CheckFinding:
    """Judge by the largest registration. If a broker does not answer, the state is at least UNKNOWN."""
    size_by_addr = {
        broker_addr: broker_size
        for broker_addr, broker_size, _ in observation.size_results
        if broker_size is not None
    }
    failure_lines = [
        f"{observation.broker_names[broker_addr]}: {error_text(error)}"
        for broker_addr, _, error in observation.size_results
        if error is not None
    ]
    failure_lines += observation.failure_lines
    if not size_by_addr:
        return scale.make_unknown_finding("no broker returned its topics", failure_lines)
    sorted_sizes = sorted(size_by_addr.items(), key=lambda addr_and_size: -addr_and_size[1].frame_bytes)
    largest_addr, broker_size = sorted_sizes[0]
    samples = [
        scale.make_sample("largest", round(broker_size.frame_share * 100, 2)),
        *(
            scale.make_sample("size", listed_size.frame_bytes, broker_addr)
            for broker_addr, listed_size in sorted_sizes
        ),
    ]
    summary = (
        f"the largest of {len(size_by_addr)} registrations has {broker_size.frame_bytes} of "
        f"{MAX_FRAME_BYTES} bytes: {observation.broker_names[largest_addr]}"
    )
    detail_lines = [
        *(
            _format_size(observation.broker_names[broker_addr], listed_size)
            for broker_addr, listed_size in sorted_sizes[:_MAX_SHOWN]
        ),
        *failure_lines,
    ]
    return scale.make_finding(
        summary, samples, detail_lines, minimum_state=CheckState.UNKNOWN if failure_lines else CheckState.OK
    )


def _format_size(broker_name: str, broker_size: RegistrationSize) -> str:
    room_text = (
        "" if broker_size.room_for_topics is None else f", space for {broker_size.room_for_topics} more"
    )
    return f"{broker_name}: {broker_size.frame_bytes} bytes, {len(broker_size.topic_sizes)} topics{room_text}"
