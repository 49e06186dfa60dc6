"""Which brokers of a cluster a request is for."""

import pytest

from nsadmin.client import NotFound
from nsadmin.client.clusters import BrokerGroup, ClusterInfo
from nsadmin.client.targets import Target, at, masters, members

INFO = ClusterInfo(
    ("C", "D"),
    (BrokerGroup("C", "a", {0: "h:1", 1: "h:2"}), BrokerGroup("C", "b", {2: "h:3"})),
)


def test_members_are_masters_and_slaves() -> None:
    assert members(INFO, "C") == [Target("a", 0, "h:1"), Target("a", 1, "h:2"), Target("b", 2, "h:3")]


def test_a_broker_without_master_is_not_forgotten() -> None:
    assert masters(INFO, "C") == [Target("a", 0, "h:1"), Target("b", 0, None)]


def test_what_is_not_there_is_not_nothing() -> None:
    for cluster in ("X", "D"):
        with pytest.raises(NotFound):
            masters(INFO, cluster)
    with pytest.raises(NotFound):
        members(INFO, "X")


def test_an_address_alone() -> None:
    assert at("h:1") == (None, None, "h:1")
