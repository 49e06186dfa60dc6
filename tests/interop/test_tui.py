"""nsadmin tui in a real terminal (tmux), with a 5.5.0 broker, a name server of ours and one of Java's."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from nsadmin import AdminClient
from tests.interop.cluster import (
    create_topic,
    permissions,
    send,
    wait_for_broker,
    wait_for_runtime_info,
    wait_for_topic,
)
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.support.tmux import Tmux, needs_tmux

pytestmark = needs_tmux

TOPIC = "orders-of-today"
DEAD, RETRY = "%DLQ%payers", "%RETRY%payers"


class Cluster(NamedTuple):
    ours: OurNameServer
    java: JavaNameServer
    broker: JavaBroker


@pytest.fixture(scope="module")
def cluster(released: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    home = tmp_path_factory.mktemp("tui")
    with ExitStack() as ends:
        ours = ends.enter_context(OurNameServer(home / "ours"))
        java = ends.enter_context(JavaNameServer(home / "java"))
        broker = ends.enter_context(JavaBroker(home / "broker", [ours.address, java.address]))
        wait_for_broker([ours, java], "broker-a")
        wait_for_runtime_info(broker.port)
        create_topic(broker.port, TOPIC)
        wait_for_topic([ours, java], TOPIC)
        send(broker.port, TOPIC, 0, 20)
        yield Cluster(ours, java, broker)


@pytest.fixture
def screen(cluster: Cluster, tmp_path: Path) -> Iterator[Tmux]:
    addrs = f"{cluster.ours.address};{cluster.java.address}"
    with Tmux(tmp_path, [sys.executable, "-m", "nsadmin", "tui", "-n", addrs, "--interval", "1"]) as tmux:
        yield tmux


def test_operator_watches_wipes_and_restores_a_real_broker(
    cluster: Cluster, screen: Tmux, tmp_path: Path
) -> None:
    screen.until("✓ agree", "1 broker  ● 1 up")
    screen.keys("1")
    home = screen.until("● up", "2/2")
    [row] = [line for line in home.splitlines() if "broker-a" in line]
    assert [text for text in ("DefaultCl", "master", "2/2", "● up") if text not in row] == [], home

    screen.keys("2")
    screen.text("/orders-of")
    screen.keys("Enter")
    listed = screen.until("1 of", TOPIC, "rw-")
    assert "2/2" in listed
    screen.keys("Enter")
    screen.until("on 2 of 2 name servers", "equal")

    screen.keys("Tab", "Tab", "Tab")
    screen.until("producers of its brokers", "PRODUCER GROUP")

    screen.keys("1")
    screen.until("1 broker ")
    screen.keys("b")
    screen.until("▾ DefaultCluster  1 broker  ● 1 up", "broker-a")
    screen.keys("F")
    screen.until("▸ DefaultCluster  1 broker  ● 1 up")
    screen.keys("F", "b")
    screen.until("master", "2/2")
    screen.keys("w")
    screen.until("dry-run", 'Type "broker-a"')
    screen.text("broker-a")
    screen.keys("Enter")
    screen.until("Esc closes", "exit code 0: done")
    screen.keys("Escape")
    screen.until("⊘ wiped")
    assert permissions(cluster.ours, "broker-a")[TOPIC] == permissions(cluster.java, "broker-a")[TOPIC] == 4
    assert "wipeWritePerm" in (tmp_path / "audit.jsonl").read_text()

    screen.keys("a")
    screen.until('Type "broker-a"')
    screen.text("broker-a")
    screen.keys("Enter")
    screen.until("Esc closes", "exit code 0: done")
    screen.keys("Escape")
    screen.until("● 1 up", "✓ agree")

    screen.resize(80, 24)
    screen.until("broker-a", "● up")
    screen.keys("Enter")
    screen.until("summary", "up for")
    screen.keys("Tab")
    screen.until("figures", "getFoundTps")
    screen.keys("Tab")
    screen.until("SETTING", "mappedFileSizeCommitLog")
    screen.keys("q")
    wait_for("the end", lambda: not screen.is_there)


def test_operator_reads_messages_and_replays_a_dead_letter(cluster: Cluster, screen: Tmux) -> None:
    for topic in (DEAD, RETRY):
        create_topic(cluster.broker.port, topic, queues=1)
        wait_for_topic([cluster.ours, cluster.java], topic)
    screen.until("✓ agree", "● 1 up")
    screen.text(f":messages {TOPIC}")
    screen.keys("Enter")
    screen.until(f"messages of {TOPIC}", "waiting for messages")
    send(cluster.broker.port, TOPIC, 1, 1, b'{"tail": true}')
    screen.until('{"tail": true}', "broker-a/1")
    screen.keys("v")
    screen.until("Enter searches")
    screen.text("earliest")
    screen.keys("Down", "Down", "Down", "Down", "Down")
    screen.text("^.{2}tail")
    screen.keys("Enter")
    screen.until("body ^.{2}tail", "21 examined", '{"tail": true}', "1 row")
    screen.keys("Enter")
    screen.until('"tail": true', "broker-a, queue 1, offset 0")
    screen.keys("Escape")
    screen.until("1 row", without="Esc closes")

    with AdminClient(cluster.ours.address, timeout=5) as admin:
        [dead_queue] = admin.message_sender.list_queues(DEAD)
        for number in (7, 8):
            admin.message_sender.send_message(
                dead_queue, b'{"id": %d}' % number, keys=f"k{number}", properties={"RETRY_TOPIC": TOPIC}
            )
        screen.text(f":messages {DEAD} --from earliest --key k8")
        screen.keys("Enter")
        screen.until("dead letters of payers", "2 examined", '{"id": 8}', TOPIC)
        screen.keys("R")
        screen.until("dry-run", 'Type "payers"')
        screen.text("payers")
        screen.keys("Enter")
        screen.until("Esc closes", "exit code 0: done")
        pages = admin.message_streams.open_follower(RETRY).poll_queues()
        assert [message.body for page in pages for message in page.messages] == [b'{"id": 8}']


def test_operator_sees_servers_die_and_the_screen_stays(cluster: Cluster, screen: Tmux) -> None:
    screen.until("✓ agree", "● 1 up")
    cluster.java.kill()
    screen.until("silent", "✕ 1 of 2 silent")
    cluster.broker.kill()
    screen_text = screen.until("down")
    assert "Traceback" not in screen_text
    screen.keys("6")
    screen.until("NameServerSilent", "BrokerSilent")
    screen.keys("q")
    wait_for("the end", lambda: not screen.is_there)
