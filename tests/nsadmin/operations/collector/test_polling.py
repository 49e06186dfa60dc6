"""One look at all that a name server knows."""

from collections.abc import Iterator

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import Command, reply
from nsadmin import AdminClient
from nsadmin.client.tables import NO_QUEUES
from nsadmin.operations.collector.pace import Pace
from nsadmin.operations.collector.polling import Poller, Stopped
from tests.support.servers import FakeNameServer


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as found:
        found.routes = {f"T{number}": {"a": 6} for number in range(5)}
        found.config["adminPassword"] = "hidden"
        yield found


@pytest.fixture
def admin(server: FakeNameServer) -> Iterator[AdminClient]:
    with AdminClient(server.addr) as found:
        yield found


def poller(admin: AdminClient, server: FakeNameServer, in_flight: int = 2, **more: object) -> Poller:
    return Poller(admin.tables, server.addr, ["N"], Pace(10_000), in_flight, **more)  # type: ignore[arg-type]


def test_all_is_told_once_then_only_routes_that_changed(admin: AdminClient, server: FakeNameServer) -> None:
    one = poller(admin, server)
    seen = one.poll()
    assert sorted(seen.changed) == sorted(server.routes) == sorted(seen.answers)
    one.believe(seen)
    server.routes["T3"] = {"a": 4}
    again = one.poll()
    assert {topic: found.queues["a"].perm for topic, found in again.changed.items()} == {"T3": 4}
    # What nobody wrote down is told again.
    assert one.poll().changed == again.changed
    one.believe(again)
    assert one.poll().changed == {}


def test_equal_queues_are_one_record(admin: AdminClient, server: FakeNameServer) -> None:
    seen = poller(admin, server).poll()
    assert len({id(found.queues["a"]) for found in seen.changed.values()}) == 1


def test_settings_that_may_be_secret_are_left_out(admin: AdminClient, server: FakeNameServer) -> None:
    assert sorted(poller(admin, server).poll().listed.settings) == ["listenPort", "waitSecondsForService"]


def test_a_topic_without_a_route_has_no_queues(admin: AdminClient, server: FakeNameServer) -> None:
    server.routes["T9"] = {}
    assert poller(admin, server).poll().changed["T9"] == NO_QUEUES


def test_one_route_that_is_refused_or_unreadable_spoils_the_poll(
    admin: AdminClient, server: FakeNameServer
) -> None:
    answer = server.handlers[105]

    def spoil(asked: Command) -> object:
        return reply(asked, 1, remark="no") if (asked.ext or {})["topic"] == "T4" else answer(asked)

    server.handlers[105] = spoil  # type: ignore[assignment]
    with pytest.raises(RocketMQError, match="no"):
        poller(admin, server).poll()
    server.handlers[105] = lambda asked: reply(asked, body=b"[]")
    with pytest.raises(RocketMQError, match="a route cannot be read"):
        poller(admin, server).poll()


def test_many_namespaces_are_asked_in_parts(admin: AdminClient, server: FakeNameServer) -> None:
    names = [f"N{number}" for number in range(7)]
    server.kv = {name: {"k": name} for name in names}
    seen = Poller(admin.tables, server.addr, names, Pace(10_000), 5).poll()
    assert seen.listed.kv == server.kv


def test_who_is_told_to_stop_gives_the_poll_up(admin: AdminClient, server: FakeNameServer) -> None:
    with pytest.raises(Stopped):
        poller(admin, server, is_stopped=lambda: 105 in server.codes()).poll()
    assert server.codes().count(105) == 2
