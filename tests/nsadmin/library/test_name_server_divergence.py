"""The comparison of all name servers as a method."""

from pathlib import Path

import pytest

from nsadmin import AdminClient, BadSettings, DivergenceObservation
from tests.support.fake_servers import FakeBroker, FakeNameServer


def test_name_servers_that_agree_and_those_that_do_not(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    waits: list[tuple[DivergenceObservation, float]] = []
    with AdminClient(f"{first_server.addr};{second_server.addr}") as admin:
        assert admin.find_divergence().observation.verdict == "agree"
        second_server.routes = {"T": {"broker-a": 4}}
        divergence = admin.find_divergence(
            settle_seconds=0.3, on_waiting=lambda observation, seconds: waits.append((observation, seconds))
        )
    assert divergence.observation.verdict == "diverge"
    [finding] = divergence.observation.findings
    assert (finding.section_name, finding.item_names, finding.parent_name) == ("topic", ("T",), "broker-a")
    [(observed, seconds)] = waits
    assert observed.findings[0].state == "new"
    assert 0 < seconds <= 0.3


def test_sections_can_be_chosen(first_server: FakeNameServer, second_server: FakeNameServer) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    with AdminClient(f"{first_server.addr};{second_server.addr}") as admin:
        assert admin.find_divergence(sections=["kv"]).observation.verdict == "agree"
        with pytest.raises(
            BadSettings, match="unknown section 'topics': there are broker, topic, kv, setting"
        ):
            admin.find_divergence(sections=["topics"])


def test_a_broker_that_left_all_name_servers_is_missing(
    first_server: FakeNameServer, broker: FakeBroker, state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_INVENTORY", "on")
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: "127.0.0.1:9"}}}
    with AdminClient(first_server.addr) as admin:
        assert admin.find_divergence(settle_seconds=0).missing_brokers == ()
        del first_server.clusters["C"]["broker-b"]  # type: ignore[attr-defined]
        missing = admin.find_divergence(settle_seconds=0).missing_brokers
        assert [item.broker.label for item in missing] == ["broker-b:0"]
        assert admin.find_divergence(settle_seconds=0, sections=["kv"]).missing_brokers == ()
