"""What the collector asks for, and what it does without answers."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client import AdminClient, NoneReachable
from nsadmin.client.connection.access_options import Access
from nsadmin.operations.bundles import collector
from nsadmin.operations.bundles.answer_recorder import AnswerRecorder
from nsadmin.operations.bundles.collector import CollectionPlan, CollectionSummary, collect_answers
from tests.support.fake_servers import FakeBroker, FakeNameServer, answer_json, closed_port

ACCESS = Access(timeout=2)


class Cluster(NamedTuple):
    namesrv: FakeNameServer
    broker: FakeBroker


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with FakeBroker() as broker, FakeNameServer({"C": {"broker-a": {0: broker.addr}}}) as namesrv:
        namesrv.routes = {"orders": {"broker-a": 6}, "vouchers": {"broker-a": 6}}
        broker.handlers |= {
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: lambda asked: answer_json(
                asked, {"subscriptionGroupTable": {"billing": {"groupName": "billing"}}}
            ),
            RequestCode.GET_TOPIC_STATS_INFO: lambda asked: answer_json(asked, {"offsetTable": {}}),
        }
        yield Cluster(namesrv, broker)


def collect(cluster: Cluster, max_details: int = 1000) -> tuple[AnswerRecorder, CollectionSummary]:
    recorder = AnswerRecorder()
    summary = collect_answers(
        lambda access: AdminClient(cluster.namesrv.addr, access=access, read_only=True),
        ACCESS,
        recorder,
        CollectionPlan(("ORDER_TOPIC_CONFIG", "DEPLOYMENT"), max_details),
    )
    return recorder, summary


def test_tables_are_read_once_and_details_of_each_topic_and_group(cluster: Cluster) -> None:
    recorder, summary = collect(cluster)
    assert summary == CollectionSummary(("C",), 2, 1, 0, 0)
    asked = [(command.code, tuple((command.ext or {}).values())) for command in cluster.broker.asked]
    for table_code in (
        RequestCode.GET_BROKER_CONFIG,
        RequestCode.GET_ALL_TOPIC_CONFIG,
        RequestCode.GET_ALL_CONSUMER_OFFSET,
        RequestCode.AUTH_LIST_USER,
    ):
        # The audit asks for the settings again, as a stranger; here that is the same.
        assert [code for code, _ in asked].count(table_code) == 1
    assert {values[0] for code, values in asked if code == RequestCode.GET_TOPIC_STATS_INFO} == {
        "orders", "vouchers",
    }  # fmt: skip
    assert recorder.tables.keys() == {cluster.namesrv.addr, cluster.broker.addr}


def test_nothing_is_changed_and_no_message_is_read(cluster: Cluster) -> None:
    collect(cluster)
    codes = {*cluster.namesrv.asked_codes(), *cluster.broker.asked_codes()}
    assert not any(map(RequestCode.is_change, codes))
    assert not codes & {RequestCode.PULL_MESSAGE, RequestCode.QUERY_MESSAGE}


def test_the_limit_of_details_keeps_the_tables(cluster: Cluster) -> None:
    _, summary = collect(cluster, max_details=0)
    assert (summary.topics_without_details, summary.groups_without_details) == (2, 1)
    assert RequestCode.GET_TOPIC_STATS_INFO not in cluster.broker.asked_codes()
    assert RequestCode.GET_BROKER_CONFIG in cluster.broker.asked_codes()


@pytest.mark.parametrize(
    ("table_seconds", "detail_seconds"), [(0.0, 30.0), (12.0, 30.0), (22.0, 20.0), (60.0, 5.0)]
)
def test_details_get_less_time_after_slow_tables(
    monkeypatch: pytest.MonkeyPatch, table_seconds: float, detail_seconds: float
) -> None:
    monkeypatch.setattr(collector, "monotonic", lambda: 100.0 + table_seconds)
    assert collector._end_details(100.0) - (100.0 + table_seconds) == detail_seconds


def test_the_tables_of_all_brokers_are_read_in_parts(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collector, "_BROKERS_AT_ONCE", 1)
    with FakeBroker() as other_broker:
        cluster.namesrv.clusters["C"]["broker-b"] = {0: other_broker.addr}  # type: ignore[index]
        collect(cluster)
        for broker in (cluster.broker, other_broker):
            assert broker.asked_codes().count(RequestCode.GET_ALL_TOPIC_CONFIG) == 1


def test_a_broker_that_does_not_answer_is_asked_once(cluster: Cluster) -> None:
    dead_addr = f"127.0.0.1:{closed_port()}"
    cluster.namesrv.clusters["C"]["broker-b"] = {0: dead_addr}  # type: ignore[index]
    recorder, _ = collect(cluster)
    assert list(recorder.silent_servers) == [dead_addr]


def test_without_a_name_server_there_is_nothing_to_collect() -> None:
    with pytest.raises(NoneReachable):
        collect_answers(
            lambda access: AdminClient(f"127.0.0.1:{closed_port()}", access=access),
            ACCESS,
            AnswerRecorder(),
            CollectionPlan((), 0),
        )
