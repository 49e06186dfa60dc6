"""check registrationSize: the largest one counts."""

from nsadmin import AdminClient
from nsadmin.client import NotFound, ServerResult
from nsadmin.operations.checks.check import WHOLE_CLUSTER, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.registration_size import CHECK, RegistrationSizeObservation
from nsadmin.operations.registration_size import RegistrationSize
from tests.support.servers import FakeNameServer

MIB = 1 << 20
NAMES = {"h:1": "broker-a 0 at h:1", "h:2": "broker-b 0 at h:2"}


def told(addr: str, bytes_: int) -> ServerResult[RegistrationSize]:
    return ServerResult(addr, RegistrationSize(500, (bytes_ - 508,), bytes_, (), 7), None)


def judged(*sizes: ServerResult[RegistrationSize]) -> CheckFinding:
    return CHECK.judge(CHECK.make_scale(), RegistrationSizeObservation(NAMES, sizes))


def test_the_largest_is_measured_against_what_is_read() -> None:
    finding = judged(told("h:1", 2 * MIB), told("h:2", 8 * MIB))
    assert finding.state is CheckState.OK
    assert finding.summary == (
        "the largest of 2 registrations has 8388608 of 16777216 bytes: broker-b 0 at h:2"
    )
    assert finding.details[0] == "broker-b 0 at h:2: 8388608 bytes, 0 topics, space for 7 more"
    assert [(sample.value, sample.item_name) for sample in finding.samples] == [
        (50, None),
        (8 * MIB, "h:2"),
        (2 * MIB, "h:1"),
    ]
    assert judged(told("h:1", 9 * MIB)).state is CheckState.WARNING
    assert judged(told("h:1", 14 * MIB)).state is CheckState.CRITICAL


def test_who_does_not_tell_leaves_it_unknown_unless_it_is_bad_enough() -> None:
    silent = ServerResult[RegistrationSize]("h:2", None, NotFound("no answer"))
    finding = judged(told("h:1", MIB), silent)
    assert (finding.state, finding.details[-1]) == (CheckState.UNKNOWN, "broker-b 0 at h:2: no answer")
    assert judged(told("h:1", 14 * MIB), silent).state is CheckState.CRITICAL
    assert judged(silent).summary == "no broker returned its topics"


def test_brokers_are_those_that_any_name_server_lists(first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    with AdminClient([dead_addr, first_server.addr], timeout=5) as admin:
        observations = CHECK.observe(admin, WHOLE_CLUSTER)
        broker_observation = CHECK.observe(admin, CheckScope(broker_addr=dead_addr))
    assert [result.addr for result in observations.size_results] == [dead_addr]
    assert observations.failure_lines == [
        f"name server {dead_addr}: connection refused, no server listens on this port"
    ]
    assert (broker_observation.broker_names, broker_observation.failure_lines) == ({dead_addr: dead_addr}, [])
