"""Which brokers -b and -c mean."""

import pytest

from nsadmin.client import NotFound, ServerResult
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.command_line.broker_targets import (
    describe_targets,
    distinct_addrs,
    find_broker_addr,
    match_results,
    select_masters,
    select_members,
)
from nsadmin.commands.columns.brokers import BROKER_COLUMNS
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import read_row
from nsadmin.console.session import Session, SharedOptions
from tests.support.fake_servers import FakeNameServer

GROUPS = {"C": {"a": {0: "h:1", 1: "h:2"}, "b": {1: "h:3"}}}


def test_a_cluster_s_masters_or_all_of_it() -> None:
    with FakeNameServer(GROUPS) as server:
        session = Session(SharedOptions((server.addr,)))
        assert select_masters(session, None, "C") == [BrokerTarget("a", 0, "h:1"), BrokerTarget("b", 0, None)]
        assert distinct_addrs(select_members(session, None, "C")) == ["h:1", "h:2", "h:3"]
        session.close()


def test_an_address_needs_no_name_server() -> None:
    session = Session(SharedOptions(("127.0.0.1:1",)))
    assert select_masters(session, "10.0.0.1", None) == select_members(session, "10.0.0.1:10911", None)
    assert distinct_addrs(select_masters(session, "localhost", None)) == ["localhost:10911"]
    session.close()


def test_a_name_stands_for_the_master_s_address() -> None:
    with FakeNameServer(GROUPS) as server:
        session = Session(SharedOptions((server.addr,)))
        assert select_masters(session, "a", None) == [BrokerTarget("a", 0, "h:1")]
        assert find_broker_addr(session, "a/1") == "h:2"
        assert find_broker_addr(session, "some-host.example") == "some-host.example:10911"
        with pytest.raises(NotFound, match="b has no master: only its slave b:1 is registered: start"):
            find_broker_addr(session, "b")
        session.close()


def test_a_list_and_a_pattern_are_several_masters() -> None:
    with FakeNameServer(GROUPS) as server:
        session = Session(SharedOptions((server.addr,)))
        assert select_masters(session, "*", None) == [BrokerTarget("a", 0, "h:1"), BrokerTarget("b", 0, None)]
        assert distinct_addrs(select_members(session, "a,a/1,[::1]:10911", None)) == [
            "h:1",
            "h:2",
            "[::1]:10911",
        ]
        with pytest.raises(NotFound, match=r'no broker matches "z\*"'):
            select_masters(session, "z*", None)
        session.close()


@pytest.mark.parametrize(("broker", "cluster"), [(None, None), ("h:1", "C")])
def test_it_has_to_be_one_of_both(broker: str | None, cluster: str | None) -> None:
    with pytest.raises(UsageError, match=r"(missing option )?-b ADDR (or|and) -c CLUSTER"):
        select_masters(Session(SharedOptions()), broker, cluster)


def test_a_target_without_address_has_its_own_result() -> None:
    targets = [BrokerTarget("b", 0, None), BrokerTarget("a", 0, "h:1")]
    missing, present_result = match_results(targets, [ServerResult("h:1", 7, None)])
    assert (missing.result, str(missing.error), present_result.result) == (
        None,
        "this broker has no master now",
        7,
    )
    assert describe_targets(targets) == "b (no master), h:1"
    assert read_row(BROKER_COLUMNS, targets[1]) == {"brokerName": "a", "brokerId": 0, "brokerAddr": "h:1"}
