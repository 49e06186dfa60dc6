"""What servers and the file of contexts say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.client import AdminClient, RocketMQError
from nsadmin.command_line.completion.live_values import ask_servers, list_local_values
from nsadmin.command_line.completion.value_sources import LIVE_SOURCES, LOCAL_SOURCES
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        yield running


@pytest.fixture
def server(broker: ConsumerBroker) -> Iterator[FakeNameServer]:
    clusters = {"D": {"broker-b": {1: "h:1"}}, "C": {"broker-a": {0: broker.addr}}}
    with FakeNameServer(clusters) as running:
        running.routes = {"orders": {"broker-a": 6}, "%RETRY%G": {"broker-a": 6}}
        running.kv = {"N": {"k2": "secret", "k1": "v"}, "empty": {}}
        yield running


@pytest.fixture
def admin(server: FakeNameServer) -> Iterator[AdminClient]:
    with AdminClient(server.addr, timeout=5) as client:
        yield client


def test_every_live_source_has_values(admin: AdminClient, broker: ConsumerBroker) -> None:
    values_by_source = {s: ask_servers(s, admin, "") for s in ("topics", "clusters", "brokers", "addresses")}
    assert values_by_source == {
        "topics": ["%RETRY%G", "orders"],
        "clusters": ["C", "D"],
        "brokers": ["broker-a\tC", "broker-b\tD"],
        "addresses": [
            f"{broker.addr}\tbroker-a 0",
            f"broker-a\t{broker.addr}",
            "broker-b:1\th:1",
            "h:1\tbroker-b 1",
        ],
    }
    asked = {
        *values_by_source,
        "kv-keys",
        "broker-keys",
        "namesrv-keys",
        "groups",
        "producer-groups",
        "proxies",
    }
    assert asked | LOCAL_SOURCES | {"namespaces"} == LIVE_SOURCES.keys()


def test_settings_are_offered_without_their_values(admin: AdminClient, broker: ConsumerBroker) -> None:
    assert ask_servers("kv-keys", admin, "N") == ["k1", "k2"]
    assert ask_servers("namesrv-keys", admin, "") == ["listenPort", "waitSecondsForService"]
    assert ask_servers("broker-keys", admin, "") == ["brokerId", "useServerSideResetOffset"]
    for named in (broker.addr, "broker-a"):
        assert ask_servers("broker-keys", admin, named) == ["brokerId", "useServerSideResetOffset"]


def test_an_unknown_namespace_has_no_keys(admin: AdminClient) -> None:
    assert ask_servers("kv-keys", admin, "nowhere") == []
    assert ask_servers("kv-keys", admin, "empty") == []


def test_groups_are_those_of_any_broker_that_answers(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.configs = {"G": {}, "TOOLS_CONSUMER": {}, "A": {}}
    assert ask_servers("groups", admin, "") == ["A", "G"]


def test_producer_groups_are_those_with_a_client(admin: AdminClient, broker: ConsumerBroker) -> None:
    assert ask_servers("producer-groups", admin, "") == []
    broker.producers = {"P": ["one", "two"], "O": ["three"]}
    assert ask_servers("producer-groups", admin, "") == ["O", "P"]


def test_where_no_broker_answers_there_is_no_answer(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.handlers.update({201: refuse_with(1, "no"), 26: refuse_with(1, "no")})
    for source in ("groups", "broker-keys"):
        with pytest.raises(RocketMQError):
            ask_servers(source, admin, "")


def test_where_no_name_server_answers_there_is_no_answer() -> None:
    with AdminClient(f"127.0.0.1:{closed_port()}") as admin, pytest.raises(RocketMQError):
        ask_servers("topics", admin, "")


def test_a_name_that_would_move_the_cursor_is_left_out(admin: AdminClient, server: FakeNameServer) -> None:
    server.routes = {"T": {"broker-a": 6}, "\x1b[2J": {"broker-a": 6}, "a\nb": {}, "a\tb\tc": {}, "": {}}
    assert ask_servers("topics", admin, "") == ["T"]


def test_contexts_come_with_their_name_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "config.yaml"
    monkeypatch.setenv("NSADMIN_CONFIG", str(file))
    monkeypatch.delenv("NAMESRV_ADDR", raising=False)
    assert list_local_values("contexts") == list_local_values("name-servers") == []
    file.write_text("contexts:\n  prod: {namesrvAddr: 'a:1;b:2'}\n  lab: {}\n")
    assert list_local_values("contexts") == ["lab", "prod\ta:1;b:2"]
    assert list_local_values("name-servers") == ["a:1;b:2\tprod"]
    monkeypatch.setenv("NAMESRV_ADDR", "c:3")
    assert list_local_values("name-servers") == ["a:1;b:2\tprod", "c:3"]
    file.write_text("contexts: [")
    assert list_local_values("contexts") == []
