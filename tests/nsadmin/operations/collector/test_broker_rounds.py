"""The brokers that name servers know, and the journal of what they told."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest

from namesrv_core.storage.journal import reader
from nsadmin import AdminClient
from nsadmin.operations.collector import BROKERS_JOURNAL
from nsadmin.operations.collector.broker_poller import BrokerQuestions
from nsadmin.operations.collector.name_server_watch import MessageSink
from nsadmin.operations.collector.runner import Collector, CollectorPlan, SinglePollResult, journal_folder_of
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, answer_hang_up, closed_port

RUNTIME = BrokerQuestions(asks_runtime=True)


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

    def collector(self, interval: float | None = None, questions: BrokerQuestions = RUNTIME) -> Collector:
        addrs = [server.addr for server in self.servers]
        plan = CollectorPlan(
            addrs, self.folder, interval, broker_questions=questions, broker_interval_seconds=0.01
        )
        voice = MessageSink(self.warned.append, lambda text: None)
        return Collector(plan, lambda: AdminClient(addrs, timeout=5, read_only=True), voice)

    def once(self) -> SinglePollResult:
        return self.collector().poll_once()

    def kinds(self) -> list[str]:
        assert [
            problem.problem_texts
            for problem in reader.check_journal(self.folder / BROKERS_JOURNAL)
            if problem.problem_texts
        ] == []
        return [record.event_type for record in reader.read_records(self.folder / BROKERS_JOURNAL)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def test_each_broker_is_asked_once_however_many_name_servers_know_it(cluster: Cluster) -> None:
    done = cluster.once()
    assert [turn.poll_error for turn in done.poll_results] == [None, None]
    assert [broker.asked_codes() for broker in cluster.brokers] == [[28]] * 3
    assert done.broker_round is not None
    assert (
        done.broker_round.polled_event.brokers,
        done.broker_round.event_count,
        done.broker_round.silence_error,
    ) == (3, 4, None)
    assert cluster.kinds() == ["BrokerRuntime"] * 3 + ["BrokersPolled"]
    assert {
        (record.server_name, record.origin.source)
        for record in reader.read_records(cluster.folder / BROKERS_JOURNAL)
    } == {(BROKERS_JOURNAL, "collector")}


def test_without_a_question_no_broker_is_asked(cluster: Cluster) -> None:
    assert cluster.collector(questions=BrokerQuestions()).poll_once().broker_round is None
    assert [broker.asked_codes() for broker in cluster.brokers] == [[]] * 3
    assert not (cluster.folder / BROKERS_JOURNAL).exists()


def test_brokers_of_a_name_server_that_died_are_asked_as_it_knew_them(cluster: Cluster) -> None:
    cluster.once()
    cluster.servers[0].close()
    done = cluster.once()
    assert [turn.poll_error is None for turn in done.poll_results] == [False, True]
    assert [broker.asked_codes() for broker in cluster.brokers] == [[28, 28]] * 3


def test_who_does_not_tell_is_written_down_and_said(cluster: Cluster) -> None:
    cluster.servers[0].clusters = {"C": {"a": {0: f"127.0.0.1:{closed_port()}"}}}
    done = cluster.once()
    assert done.broker_round is not None
    assert str(done.broker_round.silence_error) == "1 of 3 brokers did not answer"
    assert cluster.kinds().count("BrokerPollFailed") == 1
    assert cluster.warned == ["1 of 3 brokers did not answer"]


def test_rounds_go_on_until_they_are_stopped_and_say_when_a_broker_tells_again(cluster: Cluster) -> None:
    running = cluster.collector(0.05)
    usual = cluster.brokers[0].handlers[28]
    cluster.brokers[0].handlers[28] = answer_hang_up
    thread = threading.Thread(target=running.poll_until_stopped)
    thread.start()
    _until(lambda: cluster.warned)
    cluster.brokers[0].handlers[28] = usual
    _until(lambda: len(cluster.warned) > 1)
    running.request_stop()
    thread.join()
    assert cluster.warned == ["1 of 3 brokers did not answer", "all 3 brokers answer again"]
    kinds = cluster.kinds()
    assert (kinds[0], kinds[-1]) == ("CollectorStarted", "CollectorStopping")
    # Name servers were looked at before brokers were asked for the first time.
    assert "BrokersPolled" in kinds[1:5]
    assert len(list(reader.read_records(journal_folder_of(cluster.folder, cluster.servers[0].addr)))) > 2


def _until(condition: object) -> None:
    assert callable(condition)
    ends = monotonic() + 20
    while not condition():
        assert monotonic() < ends, "it never came"
        sleep(0.01)
