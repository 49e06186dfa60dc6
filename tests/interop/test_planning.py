"""What is foretold, of real brokers of 5.5.0 and 4.9.7 on our name server and 4.9.7's; then it happens."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars, wire
from tests.interop.cluster import (
    NameServer,
    body,
    brokers,
    create_topic,
    route,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
    wait_on_each,
)
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, JavaNameServer, LiveClients
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

GROUP = "OnlyOld-consumer"


class Cluster(NamedTuple):
    servers: list[NameServer]
    new: JavaBroker
    old: JavaBroker

    @property
    def namesrv(self) -> str:
        return ";".join(server.address for server in self.servers)

    def __call__(self, *args: str, code: int = 0) -> list[dict[str, Any]]:
        result: CommandResult = command_line.nsadmin(self.namesrv, *args)
        assert result.code == code, result
        return list(result.rows or ())


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("planning")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        ours = ends.enter_context(OurNameServer(home / "ours"))
        javas = ends.enter_context(JavaNameServer(home / "javas", version=jars.OLD))
        addrs = [ours.address, javas.address]
        often = {"registerNameServerPeriod": 10000}
        new = JavaBroker(home / "new", addrs, "broker-new", config=often)
        old = JavaBroker(home / "old", addrs, "broker-old", version=jars.OLD, config=often)
        for part in pool.map(lambda part: part.__enter__(), (new, old)):
            ends.push(part)
        cluster = Cluster([ours, javas], new, old)
        for broker in (new, old):
            wait_for_broker(cluster.servers, broker.name)
            wait_for_runtime_info(broker.port)
        create_topic(new.port, "OnlyNew", 6)
        create_topic(old.port, "OnlyOld", 3)
        for broker, queues in ((new, 5), (old, 3)):
            create_topic(broker.port, "Shared", queues)
        create_topic(new.port, "ReadOnlyElsewhere", 4)
        create_topic(old.port, "ReadOnlyElsewhere", 4, perm=4)
        for topic in ("OnlyNew", "OnlyOld", "Shared", "ReadOnlyElsewhere"):
            wait_for_topic(cluster.servers, topic)
        # This client knows one of both name servers.
        ends.enter_context(LiveClients(home / "clients", ours.address, "OnlyOld"))
        wait_for("the group", lambda: wire.ask(old.port, 203, {"consumerGroup": GROUP}).code == 0)
        yield cluster


def writable(server: NameServer, topic: str) -> int:
    """Queues that producers may write to, as a name server tells."""
    current_route = route(server, topic) or {"brokerDatas": [], "queueDatas": []}
    masters = {
        broker["brokerName"] for broker in current_route["brokerDatas"] if "0" in broker["brokerAddrs"]
    }
    return sum(
        queue["writeQueueNums"]
        for queue in current_route["queueDatas"]
        if queue["perm"] & 2 and queue["brokerName"] in masters
    )


def topics(server: NameServer) -> list[str]:
    return list(body(server, 206)["topicList"])


def check_foretold(cluster: Cluster, broker: JavaBroker, foretold: list[dict[str, Any]]) -> None:
    """The broker is gone: each topic has as many queues as it was said to have, all others as before."""
    left = {row["name"]: row["writeQueuesLeft"] for row in foretold if row["what"] == "topic"}
    wait_on_each(cluster.servers, "the end", lambda server: broker.name not in brokers(server))
    for server in cluster.servers:
        assert {topic: writable(server, topic) for topic in left} == left
        assert not any(
            queue["brokerName"] == broker.name
            for topic in topics(server)
            for queue in (route(server, topic) or {"queueDatas": []})["queueDatas"]
        )


def test_a_fresh_cluster_has_no_orphans(cluster: Cluster) -> None:
    assert cluster("orphans") == []


def test_orphans_are_found_and_cleaned(cluster: Cluster) -> None:
    for topic in ("Stale", "%RETRY%retired"):
        create_topic(cluster.new.port, topic)
        wait_for_topic(cluster.servers, topic)
    create_topic(cluster.old.port, "%DLQ%retired")
    wait_for_topic(cluster.servers, "%DLQ%retired")
    assert wire.ask(cluster.new.port, 215, {"topic": "Stale"}).code == 0
    orphans = {row["topic"]: (row["kind"], row["brokers"]) for row in cluster("orphans")}
    assert orphans == {
        "Stale": ("noBroker", ["broker-new"]),
        "%RETRY%retired": ("noGroup", ["broker-new"]),
        "%DLQ%retired": ("noGroup", ["broker-old"]),
    }
    rows = cluster("orphans", "--clean", "--dlq", "--yes")
    # A server that does not have a topic needs no deletion.
    assert {row["result"] for row in rows} == {"done", "not found"}
    for server in cluster.servers:
        assert not {"Stale", "%RETRY%retired", "%DLQ%retired"}.intersection(topics(server))
    assert cluster("orphans") == []


def test_a_topic_that_name_servers_have_forgotten(cluster: Cluster) -> None:
    def is_found() -> bool:
        # Ours hears of it again at the next registration, within ten seconds.
        for server in cluster.servers:
            assert wire.ask(server.port, 216, {"topic": "OnlyNew"}).code == 0
        return {"noNameServer"} == {row["kind"] for row in cluster("orphans")}

    wait_for("an orphan", is_found)
    wait_for_topic(cluster.servers[:1], "OnlyNew")
    # 4.9.7 takes no notice of it before the topics of the broker change.
    for queues in (7, 6):
        create_topic(cluster.new.port, "OnlyNew", queues)
    wait_for_topic(cluster.servers, "OnlyNew")


def test_a_plan_spreads_a_topic(cluster: Cluster, tmp_path: Path) -> None:
    [row] = cluster("spread", "OnlyNew")
    assert (row["finding"], row["missing"]) == ("on 1 of 2 brokers", ["broker-old"])
    cluster("spread", "OnlyNew", "--plan", str(tmp_path / "even.yaml"))
    done = cluster("apply", str(tmp_path / "even.yaml"), "--yes")
    assert [(row["action"], row["name"], row["servers"]) for row in done] == [
        ("create", "OnlyNew", ["broker-old"])
    ]
    [row] = cluster("spread", "OnlyNew")
    assert (row["finding"], row["queues"]) == ("even", {"broker-new": "6/6", "broker-old": "6/6"})
    assert {row["topic"] for row in cluster("spread")} == {"OnlyOld", "Shared"}


def test_who_knows_one_name_server_only(cluster: Cluster) -> None:
    rows = cluster("whatIf", "--down-namesrv", cluster.servers[0].address, code=1)
    assert [(row["what"], row["finding"]) for row in rows] == [
        ("brokers", "fewer name servers remain"),
        ("client", "no name server remains"),
    ]
    assert rows[1]["name"].startswith(f"{GROUP} ")
    rows = cluster("whatIf", "--down-namesrv", cluster.servers[1].address)
    assert [(row["what"], row["count"], row["finding"]) for row in rows] == [
        ("brokers", 2, "fewer name servers remain")
    ]


def test_an_old_broker_is_stopped(cluster: Cluster) -> None:
    brief = cluster("whatIf", "--down", "broker-old", code=1)
    [only] = [row for row in brief if row["name"] == "OnlyOld"]
    assert only["finding"] == "no writable queue, no master, no readable queue"
    [group] = [row for row in brief if row["what"] == "group"]
    assert (group["name"], group["finding"], group["clients"]) == (GROUP, "cannot read OnlyOld", 1)
    foretold = cluster("whatIf", "--down", "broker-old", "--detail", "--system", code=1)
    by_name = {row["name"]: row for row in foretold}
    assert (by_name["Shared"]["lostRatio"], by_name["Shared"]["writeQueuesLeft"]) == (0.375, 5)
    assert by_name["ReadOnlyElsewhere"]["lostRatio"] == 0
    cluster.old.child.stop()
    check_foretold(cluster, cluster.old, foretold)


def test_a_new_broker_is_killed(cluster: Cluster) -> None:
    cluster.old.start()
    wait_for_broker(cluster.servers, "broker-old")
    wait_for_topic(cluster.servers, "OnlyOld")
    foretold = cluster("whatIf", "--down", "broker-new", "--detail", "--system", code=1)
    by_name = {row["name"]: row for row in foretold}
    # The other broker has it to be read only.
    assert by_name["ReadOnlyElsewhere"]["finding"] == "no writable queue"
    assert by_name["OnlyNew"]["writeQueuesLeft"] == 6
    assert "OnlyOld" not in by_name
    cluster.new.kill()
    check_foretold(cluster, cluster.new, foretold)
