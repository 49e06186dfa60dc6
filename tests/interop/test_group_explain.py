"""Why a group does not consume, on released brokers: what is found first is what was done to it."""

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.cluster import (
    brokers,
    create_topic,
    wait_for_registration,
    wait_for_runtime_info,
    wait_for_topic,
    wait_on_each,
)
from tests.interop.command_line import CommandResult
from tests.interop.daily import commit
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker, Running, start_clients
from tests.interop.our_server import OurNameServer
from tests.interop.popping import create_group
from tests.interop.processes import PATIENCE_SECONDS, wait_for
from tests.interop.proxies import GrpcClients, JavaProxy
from tests.interop.wire import ask

TOPICS = (
    "Healthy", "Stuck", "Tags", "Poison", "Paused", "Idle", "Refused", "Beyond", "Moved", "Forbidden",
    "Popped", "Gone",
)  # fmt: skip


class Consumers(Running):
    """Push consumers that do what they are told, also what they should not."""

    def __init__(self, home: Path, namesrv: str, version: str) -> None:
        self.home, self._namesrv, self._version = home, namesrv, version

    def start(self) -> None:
        self.child = start_clients(self.home, jars.program("GroupIncidents", self._version), [self._namesrv])

    def order(self, *lines: str) -> None:
        for line in lines:
            self.child.obey(line, PATIENCE_SECONDS)


class Cluster(NamedTuple):
    server: OurNameServer
    master: JavaBroker
    slave: JavaBroker
    clients: Consumers
    state: Path

    def __call__(self, *words: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *words, env={"NSADMIN_STATE": str(self.state)})

    def explain(self, *words: str) -> CommandResult:
        return self("group", "explain", *words)

    def wait_for_cause(self, group: str, step: str) -> dict[str, Any]:
        """The row of a cause, as soon as it is the first one."""

        def first_cause() -> dict[str, Any] | None:
            result = self.explain(group)
            first = result.rows[0]
            return first if (result.code, first["step"], first["result"]) == (1, step, "cause") else None

        try:
            return wait_for(f"{step} as the first cause", first_cause)
        except TimeoutError as error:
            raise AssertionError(f"{error}: {self.explain(group)}") from None

    def follow(self, row: dict[str, Any]) -> None:
        """Type the advised command."""
        done = self(*shlex.split(row["command"])[1:], "--yes")
        assert done.code == 0, (row["command"], done)

    def wait_until_fine(
        self, group: str, is_fine: Callable[[CommandResult], bool] = lambda r: r.code == 0
    ) -> None:
        try:
            wait_for(f"{group} to be well", lambda: is_fine(self.explain(group)))
        except TimeoutError as error:
            raise AssertionError(f"{error}: {self.explain(group)}") from None


@pytest.fixture(scope="module", params=[jars.NEWEST, jars.OLD])
def cluster(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A master with a slave that refuses reads, and clients of the same release."""
    home, version = tmp_path_factory.mktemp("group-explain"), request.param
    with OurNameServer(home / "ns") as server:
        names = [server.address]
        slave_config = {**WITHOUT_TIMER, "slaveReadEnable": "false"}
        with (
            JavaBroker(home / "master", names, version=version) as master,
            JavaBroker(home / "slave", names, broker_id=1, version=version, config=slave_config) as slave,
        ):
            for broker in (master, slave):
                wait_for_registration([server], broker)
                wait_for_runtime_info(broker.port)
            for topic in TOPICS:
                create_topic(master.port, topic)
            wait_for_topic([server], TOPICS[-1])
            with Consumers(home / "clients", server.address, version) as clients:
                yield Cluster(server, master, slave, clients, home / "state")


def test_of_a_healthy_group_everything_was_looked_at(cluster: Cluster) -> None:
    cluster.clients.order("join h1 healthy Healthy *", "send Healthy a 0 one", "await healthy one")
    # A client takes its queues within seconds, and its queues are then known to be shared out.
    cluster.wait_until_fine("healthy")
    result = cluster.explain("healthy")
    assert {row["result"] for row in result.rows} == {"ok", "skipped"}
    assert "no problem: the group consumes its topics" in result.err
    seen = {row["step"]: row["seen"] for row in result.rows}
    assert "@h1" in seen["noClient"]
    assert seen["owners"].startswith("each queue of Healthy has one owner")
    assert cluster.explain("--topic", "Healthy").rows[0]["group"] == "healthy"


def test_a_listener_that_hangs_on_a_message(cluster: Cluster) -> None:
    cluster.clients.order("join s1 stuck Stuck *", "send Stuck a 0 hang", "send Stuck a 0 after")
    row = cluster.wait_for_cause("stuck", "stuckQueue")
    assert row["seen"].startswith("Stuck broker-a 0: ")
    assert "@s1 has not finished offset 0 (message " in row["seen"]
    assert "keys hang" in row["seen"]
    assert "GroupIncidents.waitForDatabase(GroupIncidents.java:" in row["seen"]
    if cluster.master.version == jars.OLD:
        assert "stop the group and skip this one message" in row["next"]
        cluster.clients.order("leave s1")
        wait_for("no client", lambda: cluster("consumerConnection", "stuck").code == 1)
        cluster.follow(row)
        cluster.clients.order("join s2 stuck Stuck *")
    else:
        cluster.follow(row)
    cluster.clients.order("send Stuck a 0 later", "await stuck later")
    cluster.wait_until_fine("stuck")


def test_members_with_different_tags(cluster: Cluster) -> None:
    cluster.clients.order("join t1 tags Tags red", "join t2 tags Tags blue")
    row = cluster.wait_for_cause("tags", "subscriptions")
    for queue in range(4):
        cluster.clients.order(f"send Tags red {queue} r{queue}", f"send Tags blue {queue} b{queue}")
    row = cluster.wait_for_cause("tags", "subscriptions")
    first, second = (
        "skips what is not red: blue (4) of the newest 8",
        "skips what is not blue: red (4) of the",
    )
    assert first in row["seen"]
    assert second in row["seen"]
    # The cure is a change of the application; the command reads what was skipped.
    cluster.clients.order("leave t1", "leave t2", "join t3 tags Tags red||blue")
    cluster.wait_until_fine("tags")
    cluster.follow(row)
    cluster.clients.order(*(f"await tags {color}{queue}" for color in "rb" for queue in range(4)))


def test_a_poison_message(cluster: Cluster) -> None:
    cluster.clients.order("join p1 poison Poison *", "send Poison a 0 poison")
    row = wait_for(
        "a dead letter",
        lambda: next(
            (
                row
                for row in cluster.explain("poison").rows
                if (row["step"], row["result"]) == ("deadLetters", "cause")
            ),
            None,
        ),
    )
    assert "gave up as dead letters: 1, " in row["seen"]
    cluster.clients.order("mend")
    cluster.follow(row)
    cluster.clients.order("await poison poison")
    cluster.wait_until_fine("poison")


def test_a_consumer_that_is_suspended(cluster: Cluster) -> None:
    cluster.clients.order("join z1 paused Paused *", "send Paused a 0 one", "await paused one")
    # A pull that waits on the broker still gets a message.
    cluster.clients.order("suspend z1", "send Paused a 0 two", "await paused two", "send Paused a 0 three")
    row = cluster.wait_for_cause("paused", "suspended")
    assert "fetches nothing of Paused broker-a 0; messages behind its offset: 1;" in row["seen"]
    cluster.clients.order("resume z1", "await paused three")
    cluster.wait_until_fine("paused")


def test_a_filter_that_matches_nothing(cluster: Cluster) -> None:
    cluster.clients.order("join i1 idle Idle never", "send Idle other 0 x")
    row = cluster.wait_for_cause("idle", "filter")
    assert row["seen"] == "none of the newest 1 message of Idle matches never: their tags are other (1)"


def test_a_group_that_may_not_consume(cluster: Cluster) -> None:
    cluster.clients.order("join r1 refused Refused *", "send Refused a 0 one", "await refused one")
    words = ("updateSubGroup", "refused", "-b", cluster.master.address, "-s", "false", "--yes")
    assert cluster(*words).code == 0
    row = cluster.wait_for_cause("refused", "groupDisabled")
    cluster.clients.order("send Refused a 0 two")
    cluster.follow(row)
    cluster.clients.order("await refused two")
    cluster.wait_until_fine("refused")


def test_a_topic_that_the_group_alone_may_not_read(cluster: Cluster) -> None:
    if cluster.master.version == jars.OLD:
        pytest.skip("4.9.7 does not know the request")
    cluster.clients.order("join f1 forbidden Forbidden *", "send Forbidden a 0 one", "await forbidden one")
    forbid = {"group": "forbidden", "topic": "Forbidden", "readable": "false"}
    assert ask(cluster.master.port, 353, forbid).code == 0
    row = cluster.wait_for_cause("forbidden", "topicForbidden")
    assert row["seen"].startswith("broker-a forbids the group to read Forbidden: ")
    assert ask(cluster.master.port, 353, {**forbid, "readable": "true"}).code == 0
    cluster.clients.order("send Forbidden a 0 two", "await forbidden two")
    cluster.wait_until_fine("forbidden")


def test_a_popped_message_that_is_not_acknowledged(cluster: Cluster) -> None:
    if cluster.master.version == jars.OLD:
        pytest.skip("clients of 4.9.7 do not pop")
    create_group(cluster.master.port, "popped")
    words = ("setConsumeMode", "Popped", "popped", "POP", "-b", cluster.master.address, "--yes")
    assert cluster(*words).code == 0
    cluster.clients.order("pop q1 popped Popped *", "send Popped a 0 hang")

    def popped() -> str:
        [seen] = [row["seen"] for row in cluster.explain("popped").rows if row["step"] == "popInFlight"]
        return str(seen)

    wait_for("its message in flight", lambda: ": 1" in popped())
    # The broker counts it as consumed for a minute.
    assert popped().startswith(("popped messages in flight: 1", "popped messages without"))


def test_an_offset_beyond_the_end(cluster: Cluster) -> None:
    create_group(cluster.master.port, "beyond")
    commit(cluster.master, "beyond", "Beyond", {0: 99})
    result = cluster.explain("beyond")
    causes = {row["step"]: row for row in result.rows if row["result"] == "cause"}
    assert set(causes) == {"noClient", "offsets"}
    assert "beyond the end of Beyond broker-a 0" in causes["offsets"]["seen"]
    cluster.follow(causes["offsets"])
    assert "offsets" not in {r["step"] for r in cluster.explain("beyond").rows if r["result"] == "cause"}


def test_a_group_that_is_missing_and_a_topic_without_groups(cluster: Cluster) -> None:
    """Also a group that was deleted by mistake."""
    words = ("-b", cluster.master.address, "--yes")
    assert cluster("updateSubGroup", "deleted", *words).code == 0
    assert cluster("deleteSubGroup", "deleted", "-r", "true", *words).code == 0
    row = cluster.wait_for_cause("deleted", "groupMissing")
    cluster.follow(row)
    cluster.wait_for_cause("deleted", "noClient")
    assert cluster.explain("--topic", "Gone").code == 5


def test_the_lag_of_all_groups_of_a_topic(cluster: Cluster) -> None:
    rows = cluster("consumerProgress", "-t", "Healthy").rows
    assert {(row["group"], row["topic"]) for row in rows} == {("healthy", "Healthy")}
    assert len(rows) == 4


def test_the_clients_of_a_killed_proxy(cluster: Cluster, tmp_path: Path) -> None:
    if cluster.master.version == jars.OLD:
        pytest.skip("there is no proxy of 4.9.7")
    create_group(cluster.master.port, "behind-proxy")
    with (
        JavaProxy(tmp_path / "proxy", [cluster.server.address]) as proxy,
        GrpcClients(tmp_path / "grpc") as clients,
    ):
        clients.open("simple", "c1", proxy.grpc_address, "Moved", "behind-proxy")
        clients.open("producer", "p1", proxy.grpc_address, "Moved")
        clients.order("send p1 1")
        clients.order("keep c1")
        # It has a message, and the broker does not tell: its statistics have nothing in flight.
        seen = {row["step"]: row["seen"] for row in cluster.explain("behind-proxy").rows}
        assert seen["popInFlight"] == "neither brokers nor gRPC clients report popped messages in flight"
        assert {row["inflight"] for row in cluster("consumerProgress", "-g", "behind-proxy").rows} <= {
            0,
            None,
        }
        wait_for("the client", lambda: cluster.explain("behind-proxy").code == 0)
        proxy.kill()
        row = cluster.wait_for_cause("behind-proxy", "proxies")
        assert row["seen"].startswith(f"proxy {proxy.remoting_address} does not answer; clients of the group")
        proxy.start()
        cluster.wait_until_fine("behind-proxy")


def test_a_slave_that_refuses_reads_and_whose_master_is_killed(cluster: Cluster) -> None:
    """The last one: the master does not come back."""
    cluster.clients.order("join g1 gone Gone *", "send Gone a 0 one", "await gone one")
    cluster.master.kill()
    wait_on_each([cluster.server], "its end", lambda server: "0" not in brokers(server)["broker-a"])
    row = cluster.wait_for_cause("gone", "slaveReads")
    assert (row["brokerName"], row["brokerAddr"]) == ("broker-a", cluster.slave.address)
    cluster.follow(row)
    cluster.wait_until_fine(
        "gone", lambda r: not any(row["step"] == "slaveReads" and row["result"] == "cause" for row in r.rows)
    )
