"""Support bundles as a method: the file, its errors, and the clock of a client that reads it."""

import asyncio
from pathlib import Path

import pytest

from nsadmin import AdminClient, AsyncAdminClient, BadSettings, ClientClosed
from nsadmin.client import wall_clock
from tests.support.fake_servers import FakeNameServer


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("NSADMIN_AUDIT", "off")


def test_a_bundle_is_made_and_read_at_its_own_time(
    first_server: FakeNameServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_server.kv = {"N": {"k": "v"}}
    bundle_path, steps = tmp_path / "a.zip", list[str]()
    with AdminClient(first_server.addr) as admin:
        manifest = admin.bundles.create_bundle(bundle_path, namespaces=["N"], on_step=steps.append)
        assert manifest.namesrv_addrs == (first_server.addr,)
        assert "messages" in {left_out.item for left_out in manifest.left_out}
        assert (steps[0], steps[-1]) == ("name servers", "archive")
        now_ms = admin.clock_ms
        monkeypatch.setattr(wall_clock, "time", lambda: now_ms / 1000 + 86_400)
        assert admin.clock_ms == now_ms + 86_400_000
    with AdminClient.from_context(bundle=bundle_path) as reader:
        assert reader.kv.get_value("N", "k") == "v"
        assert reader.clock_ms == manifest.created_ms
        assert reader.backups.take_snapshot().time == manifest.created_ms
        with pytest.raises(BadSettings, match="a bundle cannot be made of a bundle"):
            reader.bundles.create_bundle(tmp_path / "b.zip")
    assert not (tmp_path / "state").exists()


def test_asyncio_makes_the_same_bundle_without_addresses(
    first_server: FakeNameServer, tmp_path: Path
) -> None:
    async def create() -> None:
        async with AsyncAdminClient(first_server.addr) as admin:
            manifest = await admin.bundles.create_bundle(tmp_path / "a.zip", anonymise=True, max_details=0)
            assert manifest.anonymised == ("addresses",)

    asyncio.run(create())
    with AdminClient.from_context(bundle=tmp_path / "a.zip") as reader:
        assert reader.topics.list_names() == ("T",)


def test_closing_the_client_ends_the_collection(first_server: FakeNameServer, tmp_path: Path) -> None:
    admin = AdminClient(first_server.addr)
    with pytest.raises(ClientClosed):
        admin.bundles.create_bundle(tmp_path / "a.zip", on_step=lambda step_name: admin.close())
    assert not (tmp_path / "a.zip").exists()


@pytest.mark.parametrize("limits", [{"max_details": -1}, {"since_seconds": 0.0}, {"requests_per_second": 0}])
def test_an_invalid_limit_is_refused_before_any_request(
    first_server: FakeNameServer, tmp_path: Path, limits: dict[str, int]
) -> None:
    with (
        AdminClient(first_server.addr) as admin,
        pytest.raises(BadSettings, match=f"invalid {next(iter(limits))}"),
    ):
        admin.bundles.create_bundle(tmp_path / "a.zip", **limits)  # type: ignore[arg-type]
    assert first_server.asked_codes() == []
