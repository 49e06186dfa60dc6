"""Checks as methods: their findings, their limits, and all of them at once."""

from typing import Any

import pytest

from nsadmin import AdminClient, BadSettings, CheckState
from tests.support.checks import UNSCRIPTED_CHECKS
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.journals import make_snapshot, write_journal

METHODS: dict[str, tuple[Any, ...]] = {
    "check_name_servers": (),
    "check_brokers": (),
    "check_topic": ("T",),
    "check_writable_topics": (),
    "check_heartbeats": (),
    "check_drains": (),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_healthy_cluster_is_ok(method: str, first_server: FakeNameServer, state_home: Any) -> None:
    with AdminClient(first_server.addr) as admin:
        finding = getattr(admin.checks, method)(*METHODS[method])
    assert (finding.state, finding.summary) == (CheckState.OK, finding.summary)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "check_drains"])
def test_a_silent_cluster_is_no_exception(method: str, state_home: Any) -> None:
    with AdminClient(f"127.0.0.1:{closed_port()}") as admin:
        finding = getattr(admin.checks, method)(*METHODS[method])
    assert finding.state is (CheckState.CRITICAL if method == "check_name_servers" else CheckState.UNKNOWN)


def test_a_check_by_its_name(first_server: FakeNameServer, state_home: Any) -> None:
    with AdminClient(first_server.addr) as admin:
        finding = admin.checks.run_check("disk", critical="95:")
        assert (finding.check, finding.state) == ("disk", CheckState.CRITICAL)
        with pytest.raises(BadSettings, match="unknown check 'disks': there are namesrv, "):
            admin.checks.run_check("disks")


def test_limits_decide_about_the_state(first_server: FakeNameServer) -> None:
    with ConsumerBroker() as broker, AdminClient(first_server.addr) as admin:
        broker.clients = {"G": ["c1"]}
        broker.offsets["G", "T", 1] = 50
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        finding = admin.checks.check_lag("G", warning="~:", critical="~:")
        assert (finding.state, finding.about) == (CheckState.OK, "G")
        assert admin.checks.check_lag("G", topic="T", critical="@0:1000000").state is CheckState.CRITICAL
        with pytest.raises(BadSettings, match="check lag: --warning: "):
            admin.checks.check_lag("G", warning="many")


def test_a_bad_pattern_and_an_unknown_check_are_refused_before_anything_is_asked() -> None:
    with AdminClient(f"127.0.0.1:{closed_port()}") as admin:
        with pytest.raises(BadSettings, match=r"'\(' is not a regular expression"):
            admin.checks.check_writable_topics(exclude_pattern="(")
        with pytest.raises(BadSettings, match="unknown check 'brokrs': there are namesrv, brokers, "):
            admin.checks.run_all(skipped_checks=["brokrs"])
        with pytest.raises(BadSettings, match="check lag: "):
            admin.checks.run_all(limits_by_check={"lag": ("many", None)})


def test_divergence_waits_and_sizes_and_certificates_are_judged(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    with AdminClient(f"{first_server.addr};{second_server.addr}") as admin:
        assert admin.checks.check_divergence(settle_seconds=0.3).state is CheckState.CRITICAL
        assert admin.checks.check_registration_sizes().check == "registrationSize"
        assert admin.checks.check_certificates().state is CheckState.UNKNOWN


def test_a_journal_is_read(first_server: FakeNameServer, tmp_path: Any) -> None:
    write_journal(tmp_path / "journal", [make_snapshot("127.0.0.1:9876")])
    with AdminClient(first_server.addr) as admin:
        finding = admin.checks.check_journals([tmp_path / "journal"], verify_records=True)
    assert finding.state is CheckState.CRITICAL
    assert "journal" in " ".join(finding.details)


def test_all_checks_run_with_the_connections_of_the_client(
    first_server: FakeNameServer, state_home: Any
) -> None:
    with AdminClient(first_server.addr) as admin:
        report = admin.checks.run_all(topics=["T"], skipped_checks=UNSCRIPTED_CHECKS)
        # The client is still open.
        assert admin.topics.list_names() == ("T",)
    assert report.overall.state is CheckState.OK
    assert report.overall.summary.startswith("5 checks. Not checked: divergence, ")
    assert [finding.check for finding in report.findings] == [
        "namesrv", "brokers", "writable", "heartbeat", "topic",
    ]  # fmt: skip
    assert "not checked: divergence: only one name server" in report.overall.details
