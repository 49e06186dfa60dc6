"""Why a released broker refuses messages: the first cause is the staged one, and its command cures it."""

import shlex
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import pytest

from tests.interop import command_line, jars
from tests.interop.cluster import (
    SYSTEM_BUSY,
    create_topic,
    send,
    send_code,
    wait_for_registration,
    wait_for_runtime_info,
)
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

TOPIC = "Orders"
SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT = 11, 12
SYNC = {**WITHOUT_TIMER, "brokerRole": "SYNC_MASTER"}


class Cluster(NamedTuple):
    server: OurNameServer
    busy: JavaBroker
    lonely: JavaBroker
    old_lonely: JavaBroker

    def run(self, *args: str) -> CommandResult:
        return command_line.nsadmin(self.server.address, *args)

    def list_causes(self, broker: JavaBroker) -> list[dict[str, Any]]:
        # A broker that has just started may not be registered yet.
        rows = wait_for("an answer", lambda: self.run("broker", "explain", broker.name).rows)
        return [row for row in rows if row["result"] == "cause"]

    def obey(self, cause: dict[str, Any]) -> None:
        did = self.run(*shlex.split(cause["command"])[1:], "--yes")
        assert (did.code, did.rows[0]["result"]) == (0, "done"), did


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("broker-explain")
    tight = {**WITHOUT_TIMER, "sendThreadPoolQueueCapacity": 1, "waitTimeMillsInSendQueue": 1}
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        brokers = (
            JavaBroker(home / "busy", [server.address], "busy", config=tight),
            JavaBroker(home / "lonely", [server.address], "lonely", config={**SYNC, "inSyncReplicas": 2}),
            JavaBroker(home / "old", [server.address], "old-lonely", version=jars.OLD, config=SYNC),
        )
        for broker in pool.map(lambda broker: broker.__enter__(), brokers):
            ends.push(broker)
        for broker in brokers:
            wait_for_registration([server], broker)
            wait_for_runtime_info(broker.port)
            create_topic(broker.port, TOPIC, 1)
        yield Cluster(server, *brokers)


@contextmanager
def load(port: int, senders: int = 4) -> Iterator[Counter[int]]:
    """Sends from several threads, counted by response code."""
    codes: Counter[int] = Counter()
    is_over = threading.Event()

    def send_on() -> None:
        while not is_over.is_set():
            codes[send_code(port, TOPIC)] += 1

    with ThreadPoolExecutor(senders) as pool:
        futures = [pool.submit(send_on) for _ in range(senders)]
        try:
            yield codes
        finally:
            is_over.set()
    for future in futures:
        future.result()


def test_a_queue_of_one_request_and_a_short_wait(cluster: Cluster) -> None:
    with load(cluster.busy.port) as codes:
        wait_for("refusals", lambda: codes[SYSTEM_BUSY] > 10)
        causes = cluster.list_causes(cluster.busy)
    assert [cause["step"] for cause in causes] == ["sendQueueFull", "sendQueueWait"]
    assert causes[0]["seen"].startswith(
        "the queue of sends takes 1 (sendThreadPoolQueueCapacity, default 10000)"
    )
    for cause in causes:
        cluster.obey(cause)
    cluster.busy.restart()
    wait_for_runtime_info(cluster.busy.port)
    wait_for("the topic", lambda: send_code(cluster.busy.port, TOPIC) == 0)
    with load(cluster.busy.port) as codes:
        wait_for("stored messages", lambda: codes[0] > 200)
        assert "sendQueueFull" not in [cause["step"] for cause in cluster.list_causes(cluster.busy)]
    assert codes[SYSTEM_BUSY] < codes[0] / 100


def test_a_synchronous_master_without_a_slave(cluster: Cluster) -> None:
    for broker, code, reason in (
        (cluster.lonely, FLUSH_SLAVE_TIMEOUT, "it answers FLUSH_SLAVE_TIMEOUT (12) after 3000 ms: "),
        (
            cluster.old_lonely,
            SLAVE_NOT_AVAILABLE,
            "it is SYNC_MASTER without a slave: it stores a message and ",
        ),
    ):
        assert send_code(broker.port, TOPIC) == code
        [cause] = cluster.list_causes(broker)
        assert (cause["step"], cause["seen"].startswith(reason)) == ("slavesBehind", True), cause
        cluster.obey(cause)
        send(broker.port, TOPIC, 0, 1)
        assert cluster.list_causes(broker) == []
