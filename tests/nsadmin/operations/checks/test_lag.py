"""check lag: how far a group is behind."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin import AdminClient
from nsadmin.operations.checks import lag
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from tests.support.checks import read_values, run_check
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port, refuse_with

NOW = 61_000


@pytest.fixture
def group(first_server: FakeNameServer) -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        running.clients = {"G": ["c1", "c2"]}
        running.offsets["G", "T", 1] = 50
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        yield running


def found(addr: str, name: str = "G", topic: str | None = None, warning: str = "50") -> CheckFinding:
    return run_check(
        lag.CHECK, addr, scope=CheckScope(group=name, topic=topic), limits=(warning, "1000"), now_ms=NOW
    )


def test_how_far_it_is(first_server: FakeNameServer, group: ConsumerBroker) -> None:
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.OK, "G has a lag of 10 messages on 2 queues")
    assert read_values(finding) == {"lag": 10, "largest": 10, "delay": 60.0, "clients": 2}
    assert finding.details == ("T broker-a 0: 10 messages behind",)
    assert found(first_server.addr, warning="9").state is CheckState.WARNING
    group.offsets["G", "T", 0] = 100
    assert read_values(found(first_server.addr)) == {"lag": 0, "largest": 0, "delay": 0.0, "clients": 2}


def test_the_queues_furthest_behind_are_named(first_server: FakeNameServer, group: ConsumerBroker) -> None:
    group.ends = {("T", number): (0, 100) for number in range(8)}
    group.offsets = {("G", "T", number): 100 - number for number in range(8)}
    finding = found(first_server.addr)
    assert read_values(finding)["lag"] == 28
    assert finding.details[0] == "T broker-a 7: 7 messages behind"
    assert finding.details[5:] == ("and 2 more queues",)


def test_nobody_is_there_and_messages_wait(first_server: FakeNameServer, group: ConsumerBroker) -> None:
    group.clients = {}
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details[0] == "no client of the group is connected"
    group.offsets["G", "T", 0] = 100
    assert found(first_server.addr).state is CheckState.OK


@pytest.mark.parametrize(
    ("clients", "state", "begin"),
    [
        (["c1", "c2"], CheckState.OK, "G has a lag of 0 messages"),
        (["c1"], CheckState.CRITICAL, "1 connected client, fewer than 2; G has a lag of 0 messages"),
        ([], CheckState.CRITICAL, "0 connected clients, fewer than 2; G has a lag of 0 messages"),
    ],
)
def test_a_group_needs_its_clients_even_if_nothing_waits(
    first_server: FakeNameServer, group: ConsumerBroker, clients: list[str], state: CheckState, begin: str
) -> None:
    group.clients = {"G": clients}
    group.offsets["G", "T", 0] = 100
    scope = CheckScope(group="G", min_clients=2)
    finding = run_check(lag.CHECK, first_server.addr, scope=scope, now_ms=NOW)
    assert (finding.state, finding.summary[: len(begin)]) == (state, begin)


def test_an_unknown_number_of_clients_is_not_ok(first_server: FakeNameServer, group: ConsumerBroker) -> None:
    group.handlers[RequestCode.GET_CONSUMER_CONNECTION_LIST] = refuse_with(1, "busy")
    scope = CheckScope(group="G", min_clients=1)
    finding = run_check(lag.CHECK, first_server.addr, scope=scope, now_ms=NOW)
    assert (finding.state, finding.summary[:32]) == (CheckState.UNKNOWN, "the number of clients is unknown")


def test_what_a_broker_does_not_tell_makes_it_a_lower_bound(
    first_server: FakeNameServer, group: ConsumerBroker, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: group.addr}, "broker-b": {0: dead_addr}}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.UNKNOWN
    assert finding.summary == "G has a lag of at least 10 messages on 2 queues"
    assert finding.details[-1] == f"{dead_addr}: connection refused, no server listens on this port"
    assert found(first_server.addr, warning="9").state is CheckState.WARNING
    first_server.clusters = {"C": {"broker-b": {0: dead_addr}}}
    assert found(first_server.addr).state is CheckState.UNKNOWN


def test_a_group_that_nobody_knows(
    first_server: FakeNameServer, group: ConsumerBroker, dead_addr: str
) -> None:
    finding = found(first_server.addr, "X")
    assert (finding.state, finding.about) == (CheckState.UNKNOWN, "X")
    assert finding.summary == 'no broker has the consumer group "X"'
    assert found(dead_addr).state is CheckState.UNKNOWN


def test_of_a_group_that_was_deleted_nobody_can_be_connected(
    first_server: FakeNameServer, group: ConsumerBroker
) -> None:
    group.clients, group.configs = {}, {}
    group.handlers[203] = refuse_with(26, "Group G not exist!")
    finding = found(first_server.addr)
    assert (finding.state, read_values(finding)["clients"]) == (CheckState.WARNING, 0)


def test_a_name_server_that_tells_nothing_is_a_warning(
    first_server: FakeNameServer, group: ConsumerBroker
) -> None:
    away = f"127.0.0.1:{closed_port()}"
    with AdminClient([first_server.addr, away], timeout=5, ask_all=True) as admin:
        finding = lag.judge(lag.CHECK.make_scale(), lag.observe(admin, CheckScope(group="G")))
    assert finding.state is CheckState.WARNING
    assert any(line.startswith(f"name server {away}: ") for line in finding.details)


def test_queues_whose_lag_is_unknown_make_it_a_lower_bound(
    first_server: FakeNameServer, group: ConsumerBroker
) -> None:
    group.ends["T", 2] = group.ends["T", 3] = (0, 7)
    group.offsets["G", "T", 2] = 647_260_490
    finding = found(first_server.addr)
    assert finding.state is CheckState.UNKNOWN
    assert finding.summary == "G has a lag of at least 10 messages on 4 queues"
    assert finding.details == (
        "T broker-a 0: 10 messages behind",
        "not counted: the consumer offset is beyond the end of the queue on 1 of 4 queues; no "
        "consumer offset on 1 of 4 queues",
        "T broker-a 2: consumer offset 647260490, end 7",
    )
    assert found(first_server.addr, warning="9").state is CheckState.WARNING


@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        (None, "brokers have no offset of the group, which consumed nothing there"),
        (
            "T",
            "brokers have no offset of the group for T: it consumed nothing there, or the name is wrong",
        ),
    ],
)
def test_a_group_that_never_committed_is_not_ok(
    first_server: FakeNameServer, group: ConsumerBroker, topic: str | None, reason: str
) -> None:
    group.offsets = {}
    finding = found(first_server.addr, topic=topic)
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        f"the lag of G is unknown: {reason}",
    )
    assert read_values(finding) == {"lag": None, "largest": None, "delay": None, "clients": 2}


def test_the_largest_lag_of_all_groups_is_unknown_if_none_is_known(
    first_server: FakeNameServer, group: ConsumerBroker
) -> None:
    group.offsets = {}
    finding = run_check(lag.CHECK, first_server.addr)
    assert (finding.state, read_values(finding)["lag"]) == (CheckState.UNKNOWN, None)


def test_an_empty_queue_needs_no_offset(first_server: FakeNameServer, group: ConsumerBroker) -> None:
    group.ends["T", 2] = (0, 0)
    assert found(first_server.addr).state is CheckState.OK


def test_a_broadcasting_group_has_no_lag(first_server: FakeNameServer, group: ConsumerBroker) -> None:
    group.message_model = "BROADCASTING"
    finding = found(first_server.addr)
    assert (finding.state, read_values(finding)) == (CheckState.OK, {"clients": 2})
    assert finding.summary == "G broadcasts, so it has no lag: each client keeps its own offsets"
    finding = run_check(lag.CHECK, first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.OK, "the only group is healthy")


def test_a_popping_group_with_an_offset_beyond_the_end_says_so(
    first_server: FakeNameServer, group: ConsumerBroker
) -> None:
    group.offsets["G", "T", 0] = group.offsets["G", "T", 1] = 1_000
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        "the lag of G is unknown: the consumer offset is beyond the end of the queue",
    )
    modes = {"messageRequestModeMap": {"T": {"G": {"mode": "POP", "popShareQueueNum": 0}}}}
    group.handlers[402] = lambda asked: answer_json(asked, modes)
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        "the lag of G is unknown: POP: lag is not known from offsets",
    )


def test_all_groups_at_once(first_server: FakeNameServer, group: ConsumerBroker, dead_addr: str) -> None:
    finding = run_check(lag.CHECK, first_server.addr, limits=("50", "1000"))
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "the only group is healthy; the largest lag is 10 messages, of G",
    )
    assert read_values(finding) == {"lag": 10, "groups": 1, "groupLag": 10}
    group.clients = {}
    finding = run_check(lag.CHECK, first_server.addr, limits=("5", "1000"))
    assert (finding.state, finding.details) == (
        CheckState.WARNING,
        ("G has a lag of 10 messages; no client of the group is connected",),
    )
    first_server.clusters = {"C": {"broker-a": {0: group.addr}, "broker-b": {0: dead_addr}}}
    group.offsets["G", "T", 0] = 100
    finding = run_check(lag.CHECK, first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        "no known problem of 1 group; the largest known lag is 0 messages, of G; 1 of 2 brokers returned no "
        "list of groups",
    )
    group.handlers[RequestCode.GET_CONSUME_STATS] = refuse_with(1, "busy")
    first_server.clusters = {"C": {"broker-a": {0: group.addr}}}
    finding = run_check(lag.CHECK, first_server.addr)
    assert (finding.state, finding.summary[:56]) == (
        CheckState.UNKNOWN,
        "1 of 1 group is unknown: G; not every broker answered: S",
    )


def test_a_group_that_nobody_uses_is_no_problem_of_all_groups(
    first_server: FakeNameServer, group: ConsumerBroker
) -> None:
    group.offsets, group.clients, group.ends = {}, {}, {}
    finding = run_check(lag.CHECK, first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "no groups; not counted: 1 group without offsets and clients",
    )
