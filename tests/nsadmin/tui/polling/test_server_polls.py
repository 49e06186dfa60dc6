"""One look at each kind of server, with those of the lab and with some that refuse."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from namesrv_core.errors import QueryNotFound, RequestError, RocketMQError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.tui.polling import server_polls
from nsadmin.tui.polling.server_polls import RequestStopwatch, ServerProbe
from tests.support.fake_servers import FakeNameServer
from tests.support.playground import NOON, Playground, start_playground


@contextmanager
def looker(addr: str, timeout: float = 1.0) -> Iterator[ServerProbe]:
    watch = RequestStopwatch()
    with AdminClient([addr], timeout=timeout, observer=watch) as admin:
        yield ServerProbe(admin, watch, lambda: NOON, (), {})


def test_a_name_server_tells_all_that_is_looked_at(tmp_path: Path) -> None:
    with start_playground(tmp_path, name_servers=1) as ground, looker(ground.addrs[0]) as it:
        polled = server_polls.poll_name_server(it, ground.addrs[0], ("ORDER_TOPIC_CONFIG", "NOBODY"))
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
        polled = server_polls.poll_name_server(it, unused, ())
    assert (polled.addr, polled.error) == (unused, "connection refused, no server listens on this port")


def test_what_a_name_server_refuses_is_untold_and_the_rest_is_there() -> None:
    with FakeNameServer() as fake, looker(fake.addr) as it:
        polled = server_polls.poll_name_server(it, fake.addr, ())
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
    assert [server_polls.failure_kind(error) for error in errors] == [
        None,
        "timeout",
        "unreachable",
        "refused",
        "refused",
    ]


def test_a_playground_sees_the_same_each_time(tmp_path: Path) -> None:
    with start_playground(tmp_path / "1") as ground:
        first = ground.poll_everything()
    with start_playground(tmp_path / "2") as other:
        assert isinstance(other, Playground)
        again = other.poll_everything()
    assert [type(poll) for poll in first] == [type(poll) for poll in again]
