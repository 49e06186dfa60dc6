"""check writable: all topics, on each name server."""

import re

import pytest

from nsadmin import AdminClient
from nsadmin.operations.checks import writable
from nsadmin.operations.checks.check import WHOLE_CLUSTER, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.masters import LOOKED_AT
from tests.support.checks import run_check
from tests.support.configured_topics import configure_topics
from tests.support.fake_servers import FakeBroker, FakeNameServer


def found(*addrs: str, cluster: str | None = None, leaving_out: str | None = None) -> CheckFinding:
    pattern = None if leaving_out is None else re.compile(leaving_out)
    return run_check(writable.CHECK, *addrs, scope=CheckScope(cluster_name=cluster, excluded=pattern))


def values(finding: CheckFinding) -> list[float | None]:
    """reduced, unwritable, topics."""
    return [sample.value for sample in finding.samples]


def test_topics_of_rocketmq_and_of_groups_are_left_out(first_server: FakeNameServer) -> None:
    first_server.routes |= {
        name: {"broker-a": 4} for name in ("TBW102", "C", "%RETRY%g", "%DLQ%g", "rmq_sys_x", "RMQ_SYS_y")
    }
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.OK, "1 of 1 topic is writable " + LOOKED_AT)
    assert values(finding) == [0, 0, 1]


def test_fewer_brokers_are_a_warning_and_none_is_critical(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
    first_server.routes = {f"T{n:02}": {"broker-a": 4, "broker-b": 6} for n in range(20)}
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert (
        finding.summary
        == "20 of 20 topics are writable (20 of them not on all of their brokers) " + LOOKED_AT
    )
    assert finding.details == (
        "broker-a accepts no messages for 20 topics (T00, T01, T02, T03, T04, T05, T06, T07, T08, T09 "
        "and 10 more): no write permission",
    )
    for n in range(12):
        first_server.routes[f"T{n:02}"] = {"broker-a": 4}
    finding = found(first_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert values(finding) == [8, 12, 20]
    assert finding.details[0] == "no broker accepts messages for T00: broker-a: no write permission"
    assert finding.details[10:] == (
        "and for 2 more topics",
        "broker-a accepts no messages for 8 topics (T12, T13, T14, T15, T16, T17, T18, T19): "
        "no write permission",
    )
    assert found(first_server.addr, leaving_out="^T").state is CheckState.OK


def test_an_order_configuration_with_a_broker_that_is_gone_is_a_warning(first_server: FakeNameServer) -> None:
    first_server.kv["ORDER_TOPIC_CONFIG"] = {"T": "broker-a:8;broker-x:8", "Gone": "broker-x:8"}
    assert found(first_server.addr).state is CheckState.OK
    first_server.config["orderMessageEnable"] = "true"
    finding = found(first_server.addr)
    assert (finding.state, finding.affected) == (CheckState.WARNING, ("T",))
    assert finding.details == ("T: broker-x is not registered, but clients send to it",)
    assert finding.remedies == ("`nsadmin orderConfCheck`",)
    assert finding.summary.endswith("; topics with a wrong order configuration: 1")


def test_no_topic_is_writable_on_a_full_disk(first_server: FakeNameServer, broker: FakeBroker) -> None:
    broker.table["commitLogDiskRatio"] = "0.94"
    finding = found(first_server.addr)
    assert (finding.state, values(finding)) == (CheckState.CRITICAL, [0, 1, 1])
    assert "refuses messages: commitLogDiskRatio is 94 %" in finding.details[0]


def test_what_the_broker_itself_has_as_read_only_is_so_on_purpose(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    configure_topics(broker)
    first_server.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 4}}
    finding = found(first_server.addr)
    assert values(finding) == [0, 1, 2]
    assert finding.details == ("no broker accepts messages for U: broker-a: no write permission",)
    assert finding.summary == "0 of 2 topics are writable, 1 is read-only by configuration " + LOOKED_AT


def test_without_a_master_the_next_step_is_its_guide(first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"broker-a": {1: dead_addr}}}
    first_server.routes = {"T": {"broker-a": 4}}
    finding = found(first_server.addr)
    assert finding.details == ("no broker accepts messages for T: broker-a: no master",)
    assert finding.remedies == ("`nsadmin guide when-a-master-dies`",)
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    assert found(first_server.addr).remedies == ()


@pytest.mark.parametrize("broker_id", [0, 1])
def test_a_read_only_topic_stays_so_on_purpose_while_a_master_is_silent_or_gone(
    first_server: FakeNameServer, dead_addr: str, broker_id: int
) -> None:
    first_server.clusters = {"C": {"broker-a": {broker_id: dead_addr}}}
    first_server.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 6}}
    finding = found(first_server.addr)
    assert values(finding) == [0, 1, 2]
    assert finding.summary == "0 of 2 topics are writable, 1 is read-only by configuration " + LOOKED_AT
    assert [line.split(":")[0] for line in finding.details] == ["no broker accepts messages for U"]


def test_a_slave_that_acts_for_its_master_knows_what_is_read_only_on_purpose(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    configure_topics(broker)
    first_server.clusters = {"C": {"broker-a": {1: broker.addr}}}
    first_server.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 4}}
    assert values(found(first_server.addr)) == [0, 1, 2]


def test_a_wiped_and_silent_broker_takes_no_messages(first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    first_server.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 4}}
    assert values(found(first_server.addr)) == [0, 2, 2]


def test_the_name_server_that_knows_least_counts(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    assert found(first_server.addr, second_server.addr).state is CheckState.OK
    assert found(first_server.addr, second_server.addr, dead_addr).state is CheckState.WARNING
    second_server.routes = {}
    finding = found(first_server.addr, second_server.addr)
    assert finding.state is CheckState.CRITICAL
    # The topic is not lost: clients of the other name server can send.
    hidden = f"clients of name server {second_server.addr} {{}}, clients of {first_server.addr} can send"
    no_route = f"T: {hidden.format('find no route')}: `nsadmin route explain T`"
    assert (finding.details, values(finding)) == ((no_route,), [0, 1, 1])
    assert finding.summary == (
        "1 of 1 topic is writable (1 of them not for clients of every name server) " + LOOKED_AT
    )
    second_server.routes = {"T": {"broker-a": 4}}
    closed = hidden.format("can send to no broker (broker-a: no write permission)")
    assert found(first_server.addr, second_server.addr).details[0].startswith(f"T: {closed}")
    for server, perm in ((first_server, 6), (second_server, 4)):
        server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
        server.routes = {"T": {"broker-a": perm, "broker-b": 6}}
    assert found(first_server.addr, second_server.addr).details == (
        "broker-a accepts no messages for 1 topic (T): "
        f"no write permission on name server {second_server.addr}",
    )


def test_a_read_only_topic_stays_so_on_purpose_for_a_name_server_without_it(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker
) -> None:
    configure_topics(broker)
    first_server.routes, second_server.routes = {"T": {"broker-a": 4}}, {}
    finding = found(first_server.addr, second_server.addr)
    assert (finding.state, values(finding)) == (CheckState.OK, [0, 0, 1])


def test_a_master_that_does_not_answer(first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.clusters = {"C": {"broker-a": {0: dead_addr}}}
    assert found(first_server.addr).state is CheckState.CRITICAL


def test_one_cluster(first_server: FakeNameServer, broker: FakeBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}}, "D": {"broker-d": {0: broker.addr}}}
    first_server.routes = {"T": {"broker-a": 6, "broker-d": 4}, "U": {"broker-d": 4}}
    assert values(found(first_server.addr, cluster="C")) == [0, 0, 1]
    assert values(found(first_server.addr, cluster="D")) == [0, 2, 2]
    assert found(first_server.addr, cluster="E").summary == 'no name server lists the cluster "E"'


def test_nobody_tells(dead_addr: str) -> None:
    assert found(dead_addr).state is CheckState.UNKNOWN


def test_the_observation_has_what_brokers_configure_as_read_only_and_who_is_silent(
    first_server: FakeNameServer, broker: FakeBroker, dead_addr: str
) -> None:
    configure_topics(broker)
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: dead_addr}}}
    first_server.routes = {"T": {"broker-a": 4}, "U": {"broker-a": 4, "broker-b": 6}}
    with AdminClient([first_server.addr], timeout=5) as admin:
        observation = writable.observe(admin, WHOLE_CLUSTER)
    assert observation.read_only_topics == {"broker-a": {"T"}}
    assert observation.unwiped_brokers == {first_server.addr: {"broker-b"}}
    assert observation.master_answers.silence_reasons.keys() == {dead_addr}
