"""Real brokers of both releases on two name servers of ours and one of Java's: all three see the same."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.interop import wire
from tests.interop.cluster import (
    NameServer,
    body,
    brokers,
    create_topic,
    name_server,
    permissions,
    route,
    wait_for_broker,
    wait_for_topic,
    wait_on_each,
)
from tests.interop.jars import OLD
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.processes import wait_for


@dataclass
class Fleet:
    """Two name servers of ours, Java's beside them, and three brokers registered with all."""

    ours: list[NameServer]
    java: JavaNameServer
    master: JavaBroker
    slave: JavaBroker
    old: JavaBroker

    @property
    def servers(self) -> list[NameServer]:
        return [*self.ours, self.java]


@pytest.fixture(scope="module")
def fleet(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    home = tmp_path_factory.mktemp("fleet")
    with (
        name_server(home / "ours-1") as first,
        name_server(home / "ours-2") as second,
        JavaNameServer(home / "java") as java,
    ):
        servers: list[NameServer] = [first, second, java]
        where = [server.address for server in servers]
        with (
            JavaBroker(home / "master", where, name="group") as master,
            JavaBroker(home / "slave", where, name="group", broker_id=1) as slave,
            JavaBroker(home / "old", where, name="old-group", cluster="OldCluster", version=OLD) as old,
        ):
            for name, number in (("group", 0), ("group", 1), ("old-group", 0)):
                wait_for_broker(servers, name, number)
            yield Fleet([first, second], java, master, slave, old)


def topics(server: NameServer) -> set[str]:
    return set(body(server, 206)["topicList"])


def test_master_slave_and_old_broker_are_known_to_both_name_servers(fleet: Fleet) -> None:
    for server in fleet.servers:
        assert brokers(server) == {
            "group": {"0": fleet.master.address, "1": fleet.slave.address},
            "old-group": {"0": fleet.old.address},
        }
        assert body(server, 106)["clusterAddrTable"] == {
            "DefaultCluster": ["group"],
            "OldCluster": ["old-group"],
        }


def test_the_topics_and_their_permissions_are_those_java_has(fleet: Fleet) -> None:
    for server in fleet.ours:
        assert topics(server) == topics(fleet.java)
        for group in ("group", "old-group"):
            assert permissions(server, group) == permissions(fleet.java, group)


@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
def test_a_new_topic_shows_up_in_the_route(fleet: Fleet, release: str) -> None:
    broker, topic = (fleet.master, "New55") if release == "5.5.0" else (fleet.old, "New49")
    create_topic(broker.port, topic, queues=3)
    wait_for_topic(fleet.servers, topic)
    assert route(fleet.ours[0], topic) == route(fleet.ours[1], topic) == route(fleet.java, topic)


def test_wipe_and_add_do_what_they_do_on_javas(fleet: Fleet) -> None:
    for group in ("group", "old-group"):
        for code, count in ((205, "wipeTopicCount"), (327, "addTopicCount")):
            counts = {
                (wire.ask(server.port, code, {"brokerName": group}).ext or {})[count]
                for server in fleet.servers
            }
            assert len(counts) == 1
            permissions_by_server = [permissions(server, group) for server in fleet.servers]
            assert permissions_by_server[0] == permissions_by_server[1] == permissions_by_server[2]
            assert all(bool(perm & 2) is (code == 327) for perm in permissions_by_server[0].values())


def test_an_updated_topic_reopens_alone_after_a_wipe(fleet: Fleet) -> None:
    for server in fleet.servers:
        wire.ask(server.port, 205, {"brokerName": "group"})
    create_topic(fleet.master.port, "New55", queues=5)
    wait_on_each(fleet.servers, "New55 open", lambda server: permissions(server, "group")["New55"] == 6)
    permissions_by_server = [permissions(server, "group") for server in fleet.servers]
    assert permissions_by_server[0] == permissions_by_server[1] == permissions_by_server[2]
    assert [topic for topic, perm in permissions_by_server[0].items() if perm & 2] == ["New55"]


def test_brokers_return_to_a_name_server_that_was_killed_and_started_again(fleet: Fleet) -> None:
    killed = fleet.ours[1]
    killed.kill()
    killed.start()
    for name, number in (("group", 0), ("group", 1), ("old-group", 0)):
        wait_for_broker([killed], name, number)
    wait_for("all topics", lambda: topics(killed) == topics(fleet.java))
    assert brokers(killed) == brokers(fleet.ours[0])


def test_a_killed_slave_disappears_at_once(fleet: Fleet) -> None:
    fleet.slave.kill()
    wait_on_each(fleet.servers, "no slave", lambda server: "1" not in brokers(server)["group"])
    assert None not in [route(server, "New55") for server in fleet.servers]


def test_a_killed_old_broker_disappears_with_its_topics(fleet: Fleet) -> None:
    fleet.old.kill()
    wait_on_each(fleet.servers, "no old broker", lambda server: "old-group" not in brokers(server))
    for server in fleet.servers:
        assert "New49" not in topics(server)
        assert "OldCluster" not in body(server, 106)["clusterAddrTable"]


def test_a_stopped_master_takes_its_leave(fleet: Fleet) -> None:
    fleet.master.stop()
    wait_on_each(fleet.servers, "nothing", lambda server: not brokers(server))
    assert [topics(server) for server in fleet.servers] == [set(), set(), set()]
