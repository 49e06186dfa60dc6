"""Replicas: whose turn it is, and when."""

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from nsadmin.client.brokers.replica_failover import ReplicaRequest, ask_replicas, list_replica_addrs
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.caller import Caller
from nsadmin.client.topic_routes import QueueRoute
from tests.support.fake_servers import FakeBroker, closed_port, refuse_with

INFO = RequestCode.GET_BROKER_RUNTIME_INFO


def inquiry(name: str, *addrs: str) -> ReplicaRequest:
    return ReplicaRequest(name, addrs, build_request(INFO))


def test_the_master_comes_first() -> None:
    assert list_replica_addrs(QueueRoute("a", "C", {0: "m:1", 1: "s:1"}, 6, 1, 1, 0)) == ("m:1", "s:1")


def test_a_slave_is_asked_where_its_master_does_not_answer() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    caller = Caller(NameServerList((), "given"), Access(timeout=5))
    with FakeBroker() as slave, FakeBroker() as other:
        results = ask_replicas(caller, [inquiry("a", dead, slave.addr), inquiry("b", other.addr, slave.addr)])
        caller.close()
        assert [(result.addr, result.error) for result in results] == [(slave.addr, None), (other.addr, None)]
        assert (slave.asked_codes(), other.asked_codes()) == ([INFO], [INFO])


def test_a_refusal_is_an_answer() -> None:
    caller = Caller(NameServerList((), "given"), Access(timeout=5))
    with FakeBroker() as master, FakeBroker() as slave:
        master.handlers[INFO] = refuse_with(1, "no")
        [result] = ask_replicas(caller, [inquiry("a", master.addr, slave.addr)])
        [accepted] = ask_replicas(caller, [inquiry("a", master.addr)], (0, 1))
        caller.close()
        assert str(result.error) == "SYSTEM_ERROR (1): no"
        assert accepted.result is not None
        assert slave.asked == []


def test_a_broker_without_an_address_counts_as_unreachable() -> None:
    caller = Caller(NameServerList((), "given"), Access(timeout=5))
    [result] = ask_replicas(caller, [inquiry("a")])
    assert str(result.error) == "a: no name server lists an address of this broker"
    assert ask_replicas(caller, []) == []
