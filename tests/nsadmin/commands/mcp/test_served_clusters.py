"""The clusters that tools reach, and which addresses belong to them."""

from typing import Any

import pytest

from namesrv_core.protocol.message_ids import build_offset_id
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.commands.mcp.served_clusters import (
    ClusterMembers,
    address_of_message_id,
    fetch_members,
    find_foreign_address,
    list_served_clusters,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer

MEMBERS = ClusterMembers(("n:9876",), {"C/broker-a": {0: "10.0.0.1:10911", 1: "10.0.0.2:10911"}})


def session(shared_values: dict[str, Any], **options: Any) -> Session:
    new_session = Session(SharedOptions(**options), may_change=False)
    new_session.shared_values = shared_values
    return new_session


def test_without_contexts_the_options_of_the_command_line_apply() -> None:
    clusters = list_served_clusters(session({"namesrv_addr": ["h:1"], "timeout": 2.0, "tls": True}), None)
    assert clusters[""].option_words == ("-n", "h:1", "--tls", "--timeout", "2.0")
    assert not clusters[""].is_read_only


def test_the_context_in_use_stays_the_same_while_the_server_runs() -> None:
    clusters = list_served_clusters(session({"context": None}, context="prod", read_only=True), None)
    assert clusters["prod"].option_words == ()
    assert clusters["prod"].variables == {"NSADMIN_CONTEXT": "prod"}
    assert clusters["prod"].is_read_only
    named = list_served_clusters(session({"context": "prod"}, context="prod"), None)
    assert named["prod"].option_words == ("--context", "prod")


def test_contexts_are_those_that_the_operator_named(run: Run) -> None:
    run("context", "set", "prod", "-n", "p:9876", "--read-only")
    run("context", "set", "test", "-n", "t:9876")
    clusters = list_served_clusters(session({}), "test, prod,test")
    assert list(clusters) == ["test", "prod"]
    assert clusters["prod"].is_read_only
    assert clusters["test"].option_words == ("--context", "test")
    with clusters["test"].open_client() as admin:
        assert admin.addresses.addrs == ("t:9876",)
    with pytest.raises(UsageError, match=r"invalid list .* for --contexts"):
        list_served_clusters(session({}), ",")


def test_members_are_read_from_the_name_servers(first_server: FakeNameServer, broker: FakeBroker) -> None:
    [cluster] = list_served_clusters(
        session({}, namesrv_addr=NameServerList((first_server.addr,), "command line")), None
    ).values()
    members = fetch_members(cluster)
    assert members == ClusterMembers((first_server.addr,), {"C/broker-a": {0: broker.addr}})
    first_server.clusters = {"C": {"broker-a": {0: broker.addr, 1: "127.0.0.1:1"}}}
    assert fetch_members(cluster).fingerprint != members.fingerprint
    assert members.fingerprint == ClusterMembers(*members).fingerprint


@pytest.mark.parametrize("text", ["10.0.0.1:10911", "10.0.0.2:10911", "broker-a", "broker-a/1", "broker-a:1"])
def test_brokers_of_the_cluster_are_not_foreign(text: str) -> None:
    assert find_foreign_address(text, MEMBERS) is None


@pytest.mark.parametrize(
    "text",
    [
        "10.0.0.1:10912",
        "broker-a:10911",
        "host:1",
        "10.0.0.9:10911",
        "evil.example",
        "localhost",
        "10.0.0.1",
        "host",
        "",
    ],
)
def test_other_addresses_are_foreign(text: str) -> None:
    assert find_foreign_address(text, MEMBERS) == text


def test_an_id_of_a_message_can_contain_an_address() -> None:
    offset_id = build_offset_id(bytes((10, 0, 0, 9)), 10911, 77)
    assert address_of_message_id(f" {offset_id} ") == "10.0.0.9:10911"
    assert address_of_message_id("7F0000010001AAAA") is None
    assert address_of_message_id("my-id") is None
