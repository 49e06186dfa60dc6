"""Which brokers of a cluster a request is for."""

import pytest

from nsadmin.client import NotFound
from nsadmin.client.brokers.clusters import BrokerAddrGroup, ClusterInfo
from nsadmin.client.brokers.targets import (
    BrokerTarget,
    list_master_targets,
    list_member_targets,
    resolve_target,
    target_at_addr,
)
from nsadmin.client.connection.addresses import BadAddress

INFO = ClusterInfo(
    ("C", "D"), (BrokerAddrGroup("C", "a", {0: "h:1", 1: "h:2"}), BrokerAddrGroup("C", "b", {2: "h:3"}))
)


def test_members_are_masters_and_slaves() -> None:
    assert list_member_targets(INFO, "C") == [
        BrokerTarget("a", 0, "h:1"),
        BrokerTarget("a", 1, "h:2"),
        BrokerTarget("b", 2, "h:3"),
    ]


def test_a_broker_without_master_is_not_forgotten() -> None:
    assert list_master_targets(INFO, "C") == [BrokerTarget("a", 0, "h:1"), BrokerTarget("b", 0, None)]


def test_what_is_not_there_is_not_nothing() -> None:
    for cluster in ("X", "D"):
        with pytest.raises(NotFound):
            list_master_targets(INFO, cluster)
    with pytest.raises(NotFound):
        list_member_targets(INFO, "X")


def test_an_address_alone() -> None:
    assert target_at_addr("h:1") == (None, None, "h:1")


def nobody() -> ClusterInfo:
    raise NotFound("nobody was to be asked")


@pytest.mark.parametrize(
    ("text", "addr"),
    [
        ("10.0.0.1", "10.0.0.1:10911"),
        ("a:10912", "a:10912"),
        ("::1", "[::1]:10911"),
        ("localhost", "localhost:10911"),
        ("mq-17.example", "mq-17.example:10911"),
    ],
)
def test_an_address_needs_no_name_server_and_neither_does_a_host_with_a_dot(text: str, addr: str) -> None:
    assert resolve_target(text, nobody) == target_at_addr(addr)


def test_a_name_without_a_dot_is_not_taken_for_a_host_if_no_name_server_answers() -> None:
    with pytest.raises(NotFound, match="nobody was to be asked"):
        resolve_target("broker-a", nobody)


def test_a_name_is_its_master_and_with_an_id_that_process() -> None:
    targets = [resolve_target(text, lambda: INFO) for text in ("a", "a/0", "a:1", "b/2", "c.example")]
    assert targets == [
        BrokerTarget("a", 0, "h:1"),
        BrokerTarget("a", 0, "h:1"),
        BrokerTarget("a", 1, "h:2"),
        BrokerTarget("b", 2, "h:3"),
        target_at_addr("c.example:10911"),
    ]


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("b", NotFound, "b has no master: only its slave b:2 is registered: start the master; `"),
        ("a:7", NotFound, "a has no process 7 now: the ids of its processes are 0, 1"),
        ("c/1", NotFound, 'no broker "c": run nsadmin clusterList to list the brokers$'),
        ("c", NotFound, 'no broker "c": run nsadmin clusterList to list the brokers, or write HOST:PORT$'),
        ("a/x", BadAddress, 'invalid broker "a/x": use HOST:PORT, NAME or NAME:ID'),
        ("/1", BadAddress, 'invalid broker "/1"'),
    ],
)
def test_an_unknown_broker_or_process_is_an_error_that_lists_the_known_ones(
    text: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        resolve_target(text, lambda: INFO)


def test_a_name_similar_to_a_broker_is_a_misspelling_and_not_a_host() -> None:
    info = ClusterInfo(("C",), tuple(BrokerAddrGroup("C", n, {0: "h:1"}) for n in ("broker-b", "broker-a")))
    like = 'no broker "brokr-a"; did you mean "broker-a" or "broker-b"'
    with pytest.raises(NotFound, match=rf"{like}\? A host needs a port: brokr-a:10911$"):
        resolve_target("brokr-a", lambda: info)
    with pytest.raises(NotFound, match=rf"{like}\?$"):
        resolve_target("brokr-a:1", lambda: info)
    assert resolve_target("mq:80", lambda: info) == target_at_addr("mq:80")
    assert resolve_target("mq-17.example", lambda: info) == target_at_addr("mq-17.example:10911")


def test_a_name_in_two_clusters_is_refused() -> None:
    twice = INFO._replace(broker_groups=(*INFO.broker_groups, BrokerAddrGroup("D", "a", {0: "h:9"})))
    with pytest.raises(BadAddress, match="several clusters: use its address: h:1 in C, h:9 in D"):
        resolve_target("a", lambda: twice)
