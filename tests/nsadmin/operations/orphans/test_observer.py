"""Two looks at name servers and brokers."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client import NoneReachable
from nsadmin.operations.orphans.observer import find_lasting_orphans, observe_topics
from nsadmin.operations.orphans.rules import Orphan
from tests.support.fake_servers import FakeNameServer, answer_json, closed_port
from tests.support.registering_brokers import RegisteringBroker
from tests.support.topic_brokers import topic_config


@pytest.fixture
def broker() -> Iterator[RegisteringBroker]:
    with RegisteringBroker() as running:
        yield running


@pytest.fixture
def server(broker: RegisteringBroker) -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"broker-a": {0: broker.addr, 1: "h:1"}}}) as running:
        running.routes = {"T": {"broker-a": 6}, "X": {"broker-a": 6}}
        yield running


def nothing() -> None:
    """No pause."""


def test_what_is_there_the_second_time_too_counts(server: FakeNameServer) -> None:
    orphan = Orphan("noBroker", "X", ("broker-a",), (server.addr,))
    with AdminClient(server.addr) as admin:
        orphans, facts = find_lasting_orphans(admin, 7, nothing)
        assert orphans == [orphan]
        assert facts.clusters_by_broker == {"broker-a": "C"}

        def delete() -> None:
            del server.routes["X"]
            server.routes["Y"] = {"broker-a": 6}

        assert find_lasting_orphans(admin, 7, delete)[0] == []


def test_there_is_no_second_look_for_nothing(server: FakeNameServer) -> None:
    del server.routes["X"]
    with AdminClient(server.addr) as admin:
        assert find_lasting_orphans(admin, 7, lambda: pytest.fail("there was nothing to wait for"))[0] == []


def test_a_master_is_asked_and_without_one_the_first_slave(
    server: FakeNameServer, broker: RegisteringBroker
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    server.clusters = {"C": {"broker-a": {1: broker.addr, 2: dead}, "broker-b": {0: dead}}}
    with AdminClient(f"{server.addr};{dead}") as admin:
        facts = observe_topics(admin, 7)
    assert facts.held_topics == {"broker-a": {"T"}}
    assert facts.silent == {"broker-b"}
    assert facts.group_names is None
    assert set(facts.errors_by_server) == {dead, "broker-b"}
    assert facts.masters == {server.addr: {"broker-b"}}


def test_a_group_with_a_client_is_there_whatever_brokers_know(
    server: FakeNameServer, broker: RegisteringBroker
) -> None:
    topics = ("T", "X", "%RETRY%busy", "%RETRY%gone")
    broker.configs = {name: topic_config(name) for name in topics}
    server.routes = {name: {"broker-a": 6} for name in topics}
    client = {"clientId": "c", "clientAddr": "h:1", "language": "JAVA", "version": 513}

    def connections(asked: RemotingCommand) -> RemotingCommand:
        if (asked.ext or {}).get("consumerGroup") == "busy":
            return answer_json(asked, {"connectionSet": [client], "subscriptionTable": {}})
        return build_reply(asked, 206, remark="the consumer group[gone] not online")

    broker.handlers[203] = connections
    with AdminClient(server.addr) as admin:
        orphans, _ = find_lasting_orphans(admin, 7, nothing)
        assert orphans == [Orphan("noGroup", "%RETRY%gone", ("broker-a",), (server.addr,), "gone")]
        broker.handlers[203] = lambda asked: build_reply(asked, 1, remark="busy")
        facts = observe_topics(admin, 7)
    assert facts.group_names is None
    assert list(facts.errors_by_server) == ["broker-a"]


def test_nobody_answers() -> None:
    with AdminClient(f"127.0.0.1:{closed_port()}") as admin, pytest.raises(NoneReachable):
        observe_topics(admin, 7)
