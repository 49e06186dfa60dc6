"""The topic of a benchmark, and the cluster that it is created in."""

from typing import Any

import pytest

from nsadmin import AdminClient
from nsadmin.client import NotFound
from nsadmin.client.results import Ambiguous
from nsadmin.operations.bench.bench_topic import choose_cluster, list_left_topics, open_bench_topic
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import FakeNameServer, refuse_with


def create_topics(admin: AdminClient, first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a created topic appear in routes."""

    def update_topic(addrs: Any, topic: str, patch: Any) -> list[Any]:
        first_server.routes[topic] = {"broker-a": 6}
        return []

    monkeypatch.setattr(admin.topic_configs, "update_topic", update_topic)


def test_the_topic_is_deleted_whatever_happens(
    admin: AdminClient, first_server: FakeNameServer, store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_topics(admin, first_server, monkeypatch)
    reports: list[str] = []
    bench = open_bench_topic(admin, "C", {"broker-a": store.addr}, 4, reports.append)
    topic = bench.__enter__()
    assert first_server.routes[topic] == {"broker-a": 6}
    assert list_left_topics(admin, "C") == [topic]
    assert not bench.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert (first_server.routes[topic], reports, store.asked_codes().count(215)) == ({}, [], 1)


def test_a_deletion_that_fails_is_reported(
    admin: AdminClient, first_server: FakeNameServer, store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_topics(admin, first_server, monkeypatch)
    store.handlers[215] = refuse_with(16, "no permission")
    reports: list[str] = []
    with open_bench_topic(admin, "C", {"broker-a": store.addr}, 4, reports.append) as topic:
        pass
    assert reports == [f"the topic {topic} was not deleted: NO_PERMISSION (16): no permission"]


def test_the_only_cluster_needs_no_name(
    admin: AdminClient, first_server: FakeNameServer, store: DeadLetterBroker
) -> None:
    assert choose_cluster(admin, None) == ("C", {"broker-a": store.addr})
    first_server.clusters = {"C": {"broker-a": {0: store.addr}}, "D": {"broker-b": {1: "h:1"}}}
    with pytest.raises(Ambiguous, match="several clusters: choose one of C, D with -c"):
        choose_cluster(admin, None)
    assert choose_cluster(admin, "C")[0] == "C"
    with pytest.raises(NotFound, match='the cluster "D" has no master now'):
        choose_cluster(admin, "D")
    first_server.clusters = {}
    with pytest.raises(NotFound, match="name servers list no cluster"):
        choose_cluster(admin, None)
