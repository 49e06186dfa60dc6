"""The brokers that name servers know, and the journal of what they told."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest

from namesrv_core.storage import reading
from nsadmin import AdminClient
from nsadmin.operations.collector.asking import Questions
from nsadmin.operations.collector.rounds import WHOSE
from nsadmin.operations.collector.running import Collector, Once, Plan, folder_of
from nsadmin.operations.collector.watching import Voice
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.servers import FakeNameServer, closed_port, hang_up

RUNTIME = Questions(runtime=True)


class Cluster:
    """Two name servers, each of which knows a broker of its own and one that both know."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.brokers = [stack.enter_context(ConsumerBroker(name)) for name in "abc"]
        a, b, c = ({0: broker.addr} for broker in self.brokers)
        self.servers = [
            stack.enter_context(FakeNameServer({"C": {"a": a, "c": c}})),
            stack.enter_context(FakeNameServer({"C": {"b": b, "c": c}})),
        ]
        self.warned: list[str] = []

    def collector(self, interval: float | None = None, questions: Questions = RUNTIME) -> Collector:
        addrs = [server.addr for server in self.servers]
        plan = Plan(addrs, self.folder, interval, questions=questions, broker_interval=0.01)
        voice = Voice(self.warned.append, lambda text: None)
        return Collector(plan, lambda: AdminClient(addrs, timeout=5, read_only=True), voice)

    def once(self) -> Once:
        return self.collector().once()

    def kinds(self) -> list[str]:
        assert [found.problems for found in reading.check(self.folder / WHOSE) if found.problems] == []
        return [record.type for record in reading.records(self.folder / WHOSE)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def test_each_broker_is_asked_once_however_many_name_servers_know_it(cluster: Cluster) -> None:
    done = cluster.once()
    assert [turn.error for turn in done.turns] == [None, None]
    assert [broker.codes() for broker in cluster.brokers] == [[28]] * 3
    assert done.asked is not None
    assert (done.asked.polled.brokers, done.asked.events, done.asked.error) == (3, 4, None)
    assert cluster.kinds() == ["BrokerRuntime"] * 3 + ["BrokersPolled"]
    assert {(record.server, record.origin.source) for record in reading.records(cluster.folder / WHOSE)} == {
        (WHOSE, "collector")
    }


def test_without_a_question_no_broker_is_asked(cluster: Cluster) -> None:
    assert cluster.collector(questions=Questions()).once().asked is None
    assert [broker.codes() for broker in cluster.brokers] == [[]] * 3
    assert not (cluster.folder / WHOSE).exists()


def test_brokers_of_a_name_server_that_died_are_asked_as_it_knew_them(cluster: Cluster) -> None:
    cluster.once()
    cluster.servers[0].close()
    done = cluster.once()
    assert [turn.error is None for turn in done.turns] == [False, True]
    assert [broker.codes() for broker in cluster.brokers] == [[28, 28]] * 3


def test_who_does_not_tell_is_written_down_and_said(cluster: Cluster) -> None:
    cluster.servers[0].clusters = {"C": {"a": {0: f"127.0.0.1:{closed_port()}"}}}
    done = cluster.once()
    assert done.asked is not None
    assert str(done.asked.error) == "1 of 3 brokers did not tell"
    assert cluster.kinds().count("BrokerPollFailed") == 1
    assert cluster.warned == ["1 of 3 brokers did not tell"]


def test_rounds_go_on_until_they_are_stopped_and_say_when_a_broker_tells_again(cluster: Cluster) -> None:
    running = cluster.collector(0.05)
    usual = cluster.brokers[0].handlers[28]
    cluster.brokers[0].handlers[28] = hang_up
    thread = threading.Thread(target=running.run)
    thread.start()
    _until(lambda: cluster.warned)
    cluster.brokers[0].handlers[28] = usual
    _until(lambda: len(cluster.warned) > 1)
    running.stop()
    thread.join()
    assert cluster.warned == ["1 of 3 brokers did not tell", "all 3 brokers tell again"]
    kinds = cluster.kinds()
    assert (kinds[0], kinds[-1]) == ("CollectorStarted", "CollectorStopping")
    # Name servers were looked at before brokers were asked for the first time.
    assert "BrokersPolled" in kinds[1:5]
    assert len(list(reading.records(folder_of(cluster.folder, cluster.servers[0].addr)))) > 2


def _until(condition: object) -> None:
    assert callable(condition)
    ends = monotonic() + 20
    while not condition():
        assert monotonic() < ends, "it never came"
        sleep(0.01)
