"""Bundles from servers to the file."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.client import AdminClient, wall_clock
from nsadmin.client.bundles.bundle_file import SupportBundle
from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access, Credentials
from nsadmin.operations.bundles.answer_recorder import DEFAULT_RATES
from nsadmin.operations.bundles.bundle_builder import BundleOrder, create_bundle
from nsadmin.operations.bundles.collector import CollectionPlan
from nsadmin.operations.bundles.comparison import open_bundle_client
from nsadmin.operations.bundles.pseudonyms import ADDRESSES, NAMES
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port

SECRET = "kv-secret-2718"


@pytest.fixture
def namesrv() -> Iterator[FakeNameServer]:
    with FakeBroker() as broker:
        clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: f"127.0.0.1:{closed_port()}"}}}
        with FakeNameServer(clusters) as server:
            server.routes = {"orders": {"broker-a": 6}}
            server.kv = {"DEPLOYMENT": {"dbPassword": SECRET, "note": f"x {SECRET}", "stage": "canary"}}
            yield server


def make_order(tmp_path: Path, *anonymised: str) -> BundleOrder:
    plan = CollectionPlan(("ORDER_TOPIC_CONFIG", "DEPLOYMENT"), 1000)
    return BundleOrder(tmp_path / "a.zip", plan, DEFAULT_RATES, 0, (), None, tmp_path, anonymised)


def create(namesrv: FakeNameServer, order: BundleOrder, access: Access = DEFAULT_ACCESS) -> SupportBundle:
    return create_bundle(
        lambda used_access: AdminClient(namesrv.addr, access=used_access, read_only=True),
        access,
        [namesrv.addr],
        order,
    )


def test_a_bundle_answers_as_the_servers_did(namesrv: FakeNameServer, tmp_path: Path) -> None:
    with create(namesrv, make_order(tmp_path)) as bundle, open_bundle_client(bundle) as admin:
        bundle.verify()
        assert admin.topics.list_names() == ("orders",)
        assert admin.kv.get_value("DEPLOYMENT", "stage") == "canary"
        assert bundle.manifest.identity == "unsigned plain"
        left_out = {item.item: item.reason for item in bundle.manifest.left_out}
        assert "it did not answer" in next(reason for item, reason in left_out.items() if "127.0.0.1" in item)
    assert abs(wall_clock.time() * 1000 - bundle.manifest.created_ms) < 60_000
    assert (tmp_path / "a.zip").stat().st_mode & 0o077 == 0


def test_secrets_are_nowhere_in_the_file(namesrv: FakeNameServer, tmp_path: Path) -> None:
    access = Access(credentials=Credentials("operator", "own-secret-31415"))
    namesrv.kv["DEPLOYMENT"]["mine"] = "own-secret-31415"
    with create(namesrv, make_order(tmp_path), access) as bundle, open_bundle_client(bundle) as _:
        answers = [bundle.read_answers(addr) for addr in bundle.manifest.members_by_server]
        assert bundle.manifest.identity == "signed plain"
    assert SECRET not in repr(answers)
    assert "own-secret" not in repr(answers)
    assert "canary" in repr(answers)


def test_pseudonyms_are_consistent_and_the_bundle_still_answers(
    namesrv: FakeNameServer, tmp_path: Path
) -> None:
    with (
        create(namesrv, make_order(tmp_path, ADDRESSES, NAMES)) as bundle,
        open_bundle_client(bundle) as admin,
    ):
        [topic] = admin.topics.list_names()
        assert topic.startswith("topic-")
        [queue_route] = admin.topics.get_route(topic).queues
        assert queue_route.broker_name in {
            group.broker_name for group in admin.clusters.get_info().broker_groups
        }
        assert queue_route.broker_addrs[0] in bundle.manifest.members_by_server
        answers = [bundle.read_answers(addr) for addr in bundle.manifest.members_by_server]
    # As whole words: the pseudonym broker-a0c1... begins like a name, too.
    assert not re.search(r"\b(orders|broker-a|127\.0\.0\.1)\b", repr((answers, bundle.manifest)))


def test_a_file_that_cannot_be_written_is_refused_before_any_request(
    namesrv: FakeNameServer, tmp_path: Path
) -> None:
    (tmp_path / "a.zip").mkdir()
    with pytest.raises(IsADirectoryError):
        create(namesrv, make_order(tmp_path))
    assert namesrv.asked_codes() == []
