"""check heartbeat: where ages are told, and where they are not."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.operations.checks import heartbeat
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.checks import run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer


def found(*addrs: str) -> CheckFinding:
    return run_check(heartbeat.CHECK, *addrs)


def telling(server: FakeNameServer, ages: dict[str, tuple[int, int]]) -> None:
    """From now on it tells ages, as ours does where it is asked to."""

    def answer(asked: RemotingCommand) -> RemotingCommand:
        assert asked.ext == {"withHeartbeats": "true"}
        answer = server._cluster_info(asked)
        answer.ext = {"heartbeats": json.dumps(ages)}
        return answer

    server.handlers[RequestCode.GET_BROKER_CLUSTER_INFO] = answer


@pytest.mark.parametrize(
    ("silent", "state"),
    [
        (30_000, CheckState.OK),
        (60_000, CheckState.OK),
        (61_000, CheckState.WARNING),
        (91_000, CheckState.CRITICAL),
    ],
)
def test_silence_is_a_part_of_the_time_that_there_is(
    first_server: FakeNameServer, broker: FakeBroker, silent: int, state: CheckState
) -> None:
    telling(first_server, {broker.addr: (silent, 120_000), "h:9": (999_999, 120_000)})
    finding = found(first_server.addr)
    assert finding.state is state
    who = f"broker-a 0 at {broker.addr}"
    assert (
        finding.summary == f"1 broker; the longest time without a heartbeat is {silent / 1000:.1f} s ({who})"
    )
    assert finding.details == (
        (
            f"name server {first_server.addr} received the last heartbeat of {who} {silent / 1000:.1f} s "
            "ago, and removes the broker after 120 s"
        ),
    )
    longest, silence, unheard = finding.samples
    assert longest.value == round(silent / 1200, 1)
    assert (silence.item_name, silence.value, unheard.value) == (first_server.addr, silent / 1000, 0)


def test_a_short_time_is_soon_over(first_server: FakeNameServer, broker: FakeBroker) -> None:
    telling(first_server, {broker.addr: (8_000, 10_000)})
    assert found(first_server.addr).state is CheckState.CRITICAL


def test_where_ages_are_not_told_only_who_answers_is_known(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "the ages of heartbeats are unknown; 1 of 1 listed brokers answer",
    )
    assert [sample.measure.name for sample in finding.samples] == ["unheard"]
    first_server.clusters = {"C": {"broker-a": {0: broker.addr, 1: dead_addr}}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details[0] == (
        f"broker-a 1 at {dead_addr} does not answer: connection refused, no server listens on this port"
    )
    # Where ages are told they are what counts: whether it answers us is another question.
    telling(first_server, {broker.addr: (1, 120_000), dead_addr: (1, 120_000)})
    assert found(first_server.addr).state is CheckState.OK


def test_one_that_only_another_name_server_hears_is_a_warning(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker
) -> None:
    telling(first_server, {broker.addr: (1, 120_000)})
    assert found(first_server.addr, second_server.addr).state is CheckState.OK
    second_server.clusters = {}
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.WARNING
    assert (
        f"name server {second_server.addr} receives no heartbeats from broker-a 0 at {broker.addr}"
        in finding.details
    )


def test_nobody_is_there(first_server: FakeNameServer, dead_addr: str) -> None:
    assert found(dead_addr).state is CheckState.UNKNOWN
    assert found(dead_addr, first_server.addr).state is CheckState.WARNING
    first_server.clusters = {}
    assert found(first_server.addr).state is CheckState.UNKNOWN
