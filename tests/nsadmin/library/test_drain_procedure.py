"""drain and undrain as methods, in a lab whose producers read routes often."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin import AdminClient, DrainRefused, EventRecord, NotFound, ReadOnlyAccess, RestoredServer
from tests.nsadmin.library.conftest import AuditLines
from tests.support.fake_servers import closed_port
from tests.support.lab import Lab, start_lab

BROKER = "broker-a-0"
# Two groups with the same topics: no topic loses its last writable queue.
PLAN = FleetPlan(clusters=1, groups=2, replicas=2, topics=3)
QUICK: dict[str, Any] = {"settle_seconds": 0.2, "interval_seconds": 0.1}


@pytest.fixture
def cluster(tmp_path: Path, state_home: Path) -> Iterator[Lab]:
    with start_lab(tmp_path / "lab", PLAN, name_servers=2, producer_period=0.05) as running:
        yield running


def permissions(admin: AdminClient) -> list[dict[str, int]]:
    return [result.value() for result in admin.broker_routes.get_topic_permissions(BROKER)]


def test_a_drain_holds_while_the_script_stops_the_broker_and_is_undone(
    cluster: Lab, audit_lines: AuditLines
) -> None:
    events: list[EventRecord] = []
    held: list[tuple[str, set[int]]] = []
    with AdminClient(cluster.namesrv_addr) as admin:
        before = permissions(admin)

        def stop_broker(master_addr: str) -> None:
            held.append((master_addr, {p & 2 for server in permissions(admin) for p in server.values()}))

        result = admin.drain(BROKER, on_event=events.append, when_safe=stop_broker, max_messages=9, **QUICK)
        assert result.is_safe
        assert (result.broker_name, result.unknown_servers) == (BROKER, ())
        assert result.open_topics == dict.fromkeys(cluster.namesrv_addrs, 0)
        # No topic could be written to when the function was called.
        assert held == [(cluster.brokers[BROKER, 0], {0})]
        names = [event["event"] for event in events if event["event"] != "progress"]
        assert names == [
            "started", "checked", "snapshotTaken", "snapshotTaken", "wiped", "wiped", "closed", "safe",
            "commandEnded",
        ]  # fmt: skip
        json.dumps(events)
        assert [line["sent"][0]["request"] for line in audit_lines()] == ["WIPE_WRITE_PERM_OF_BROKER"]
        preview = admin.undrain(BROKER, dry_run=True)
        assert all(server.topic_count > 0 and server.method is None for server in preview)
        restored = admin.undrain(BROKER)
        assert [server.addr for server in restored] == list(cluster.namesrv_addrs)
        assert all(server.is_restored for server in restored)
        assert permissions(admin) == before
        with pytest.raises(
            NotFound, match=f"{BROKER} has no drain: it was undone at 20..-..-..T..:..:..Z, and no"
        ):
            admin.undrain(BROKER)


def test_what_has_no_drain_is_told_apart(cluster: Lab, state_home: Path) -> None:
    with AdminClient(cluster.namesrv_addr) as admin:
        with pytest.raises(
            NotFound, match=r'no name server lists a broker "no-such", and the account .+@.+ has no'
        ):
            admin.undrain("no-such")
        with pytest.raises(
            NotFound, match=f"no drain of {BROKER}, and no name server closed its topics to writes$"
        ):
            admin.undrain(BROKER)
        admin.brokers.wipe_write_perm(BROKER)
        with pytest.raises(
            NotFound, match=r"but clients cannot write to .* topics of it: if another"
        ) as missing:
            admin.undrain(BROKER)
        repair = f"else run `nsadmin repair wipe {BROKER}`, which restores the broker's own permissions"
        assert str(missing.value).endswith(repair)
    with (
        AdminClient(f"127.0.0.1:{closed_port()}") as admin,
        pytest.raises(
            NotFound, match=f'the account .+@.+ has no drain of "{BROKER}"; no name server answered: '
        ),
    ):
        admin.undrain(BROKER)


def test_a_dry_run_changes_nothing_and_a_read_only_client_can_make_it(cluster: Lab, state_home: Path) -> None:
    with AdminClient(cluster.namesrv_addr, read_only=True) as admin:
        before = permissions(admin)
        result = admin.drain(BROKER, dry_run=True)
        assert (result.is_safe, result.risks) == (False, ())
        assert all(count and count > 0 for count in result.open_topics.values())
        with pytest.raises(ReadOnlyAccess, match=f"{BROKER} was not drained: this client is read-only"):
            admin.drain(BROKER)
        with pytest.raises(ReadOnlyAccess, match="was not undone"):
            admin.undrain(BROKER)
        assert permissions(admin) == before
    assert not state_home.exists()


def test_a_topic_without_another_broker_refuses_the_drain(tmp_path: Path, state_home: Path) -> None:
    with (
        start_lab(tmp_path / "single", FleetPlan(1, 1, 1, 2), name_servers=1) as cluster,
        AdminClient(cluster.namesrv_addr) as admin,
    ):
        risks = admin.drain(BROKER, dry_run=True).risks
        assert {"unwritable"} <= {risk.kind for risk in risks if risk.refuses}
        with pytest.raises(
            DrainRefused, match=": start another broker of cluster-a: `nsadmin check brokers` "
        ):
            admin.drain(BROKER)
    assert not state_home.exists()


def test_an_interrupted_drain_goes_on_with_the_next_call(cluster: Lab) -> None:
    def interrupt(event: EventRecord) -> None:
        if event["event"] == "closed":
            raise KeyboardInterrupt

    events: list[EventRecord] = []
    with AdminClient(cluster.namesrv_addr) as admin:
        with pytest.raises(KeyboardInterrupt):
            admin.drain(BROKER, on_event=interrupt, max_messages=9, **QUICK)
        assert admin.drain(BROKER, on_event=events.append, max_messages=9, **QUICK).is_safe
    assert (events[0]["event"], events[0]["resumed"]) == ("started", "settle")


def test_a_server_with_an_error_or_a_difference_is_not_restored() -> None:
    assert RestoredServer("a:1", 3, "topic by topic", {}, None).is_restored
    assert not RestoredServer("a:1", 3, "topic by topic", {"T": "gone, was rw-"}, None).is_restored
    assert not RestoredServer("a:1", 0, None, {}, "no answer").is_restored
