"""One look at each kind of server, with those of the lab and with some that refuse."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from namesrv_core.errors import QueryNotFound, RequestError, RocketMQError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling import server_polls
from nsadmin.tui.polling.poll_records import (
    BrokerGroupListing,
    MissingBrokerRecord,
    MissingBrokersPolled,
    NameServerPolled,
    decode_poll,
    encode_poll,
)
from nsadmin.tui.polling.server_polls import RequestStopwatch, ServerProbe, poll_missing_brokers
from nsadmin.tui.views.brokers.broker_table import BrokersView
from tests.support.fake_servers import FakeNameServer
from tests.support.playground import NOON, Playground, start_playground
from tests.support.screens import join_cells


@contextmanager
def looker(addr: str, timeout: float = 1.0) -> Iterator[ServerProbe]:
    watch = RequestStopwatch()
    with AdminClient([addr], timeout=timeout, observer=watch) as admin:
        yield ServerProbe(admin, watch, lambda: NOON, RequestPace(10_000))


def test_a_name_server_tells_all_that_is_looked_at(tmp_path: Path) -> None:
    with start_playground(tmp_path, name_servers=1) as ground, looker(ground.addrs[0]) as it:
        polled = server_polls.poll_name_server(
            it._replace(namespaces=("ORDER_TOPIC_CONFIG", "NOBODY")), ground.addrs[0]
        )
        assert (polled.at, polled.error, polled.unreported) == (NOON, None, {})
        assert sorted(polled.groups) == ["broker-a-0", "broker-a-1", "broker-b-0", "broker-b-1"]
        assert polled.groups["broker-a-0"].cluster_name == "cluster-a"
        assert sorted(polled.groups["broker-a-0"].broker_addrs) == [0, 1]
        assert "orders" in (polled.topics or ())
        assert (polled.settings or {})["orderMessageEnable"] == "false"
        assert polled.kv is not None
        assert (list(polled.kv["ORDER_TOPIC_CONFIG"]), polled.kv["NOBODY"]) == (["orders"], {})
        assert set(polled.perms.values()) == {6}
        assert polled.millis > 0


def test_a_name_server_that_is_not_there_is_a_poll_that_says_so() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        unused = f"127.0.0.1:{held.getsockname()[1]}"
    with looker(unused) as it:
        polled = server_polls.poll_name_server(it, unused)
    assert (polled.addr, polled.error) == (unused, "connection refused, no server listens on this port")


def test_what_a_name_server_refuses_is_untold_and_the_rest_is_there() -> None:
    with FakeNameServer() as fake, looker(fake.addr) as it:
        polled = server_polls.poll_name_server(it, fake.addr)
    assert polled.error is None
    assert "settings" in polled.unreported or polled.settings is not None


def test_brokers_tell_their_figures_and_one_that_is_dead_why_not(tmp_path: Path) -> None:
    with start_playground(tmp_path, name_servers=1) as ground:
        addrs = [
            ground.world.lab_brokers[name].reserved_port.socket_addr
            for name in ("broker-a-0:0", "broker-a-1:0", "broker-b-0:0")
        ]
        ground.kill_broker("broker-a-1")
        ground.freeze_broker("broker-b-0")
        with looker(ground.addrs[0], 0.4) as it:
            up, dead, frozen = server_polls.poll_brokers(it, addrs)
    assert up.table is not None
    assert (up.table["brokerVersionDesc"], up.kind) == ("V5_5_0", None)
    assert (dead.table, dead.kind) == (None, "unreachable")
    assert (frozen.table, frozen.kind, frozen.error) == (None, "timeout", "no answer within 0.4 s")


def test_how_a_broker_failed() -> None:
    errors: list[RocketMQError | None] = [
        None, CallError("h:1", "timeout", ""), CallError("h:1", "closed", ""),
        RequestError("no"), QueryNotFound("no")
    ]  # fmt: skip
    found = [server_polls.failure_kind(error) for error in errors]
    assert found == [None, "timeout", "unreachable", "refused", "refused"]


def test_a_playground_sees_the_same_each_time(tmp_path: Path) -> None:
    with start_playground(tmp_path / "1") as ground:
        first = ground.poll_everything()
    with start_playground(tmp_path / "2") as other:
        assert isinstance(other, Playground)
        again = other.poll_everything()
    assert [type(poll) for poll in first] == [type(poll) for poll in again]


NOW = 1_800_000_000_000
SILENT = NameServerPolled(NOW, "ns-2:9876", error="closed")


def listing(*names: str) -> NameServerPolled:
    groups = {name: BrokerGroupListing("C", {0: f"{name}:1"}) for name in names}
    return NameServerPolled(NOW, "ns-1:9876", groups=groups)


def test_what_was_listed_once_is_missing_later(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "k", (), {"NSADMIN_STATE": str(tmp_path)}, lambda: NOW)
    known = poll_missing_brokers(inventory, [listing("a", "b"), SILENT], lambda: NOW)
    assert known == MissingBrokersPolled(NOW, [])
    poll = poll_missing_brokers(inventory, [listing("a"), SILENT], lambda: NOW)
    assert poll == MissingBrokersPolled(NOW, [MissingBrokerRecord("C", "b", 0, "b:1", NOW)])
    assert decode_poll(encode_poll(poll)) == poll


def test_silent_name_servers_tell_of_no_missing_broker(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "k", (), {"NSADMIN_STATE": str(tmp_path)}, lambda: NOW)
    assert poll_missing_brokers(inventory, [SILENT], lambda: NOW) is None


def test_a_damaged_inventory_is_told_and_lets_nothing_disappear(tmp_path: Path) -> None:
    inventory = InventoryKeeper(lambda: "k", (), {"NSADMIN_STATE": str(tmp_path)}, lambda: NOW)
    poll_missing_brokers(inventory, [listing("a", "b"), SILENT], lambda: NOW)
    model = ClusterModel()
    missing = poll_missing_brokers(inventory, [listing("a"), SILENT], lambda: NOW)
    assert missing is not None
    model.apply_poll(missing)
    [file] = tmp_path.rglob("brokers.json")
    file.write_text("{")
    damaged = poll_missing_brokers(inventory, [listing("a"), SILENT], lambda: NOW)
    assert damaged is not None
    model.apply_poll(damaged)
    assert [key.name for key in model.brokers] == ["b"]
    line = join_cells(BrokersView().render_headline(model))
    assert f"missing brokers are unknown: the inventory {file} cannot be read" in line
