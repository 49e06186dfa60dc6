"""One look at all that a name server knows."""

from collections.abc import Callable, Iterator

import pytest

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.client.name_servers.name_server_tables import NO_TOPIC_QUEUES
from nsadmin.operations.collector.name_server_poller import NameServerPoller
from nsadmin.operations.collector.request_pace import PollStopped, RequestPace
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as name_server:
        name_server.routes = {f"T{number}": {"a": 6} for number in range(5)}
        name_server.config["adminPassword"] = "hidden"
        yield name_server


@pytest.fixture
def admin(server: FakeNameServer) -> Iterator[AdminClient]:
    with AdminClient(server.addr) as client:
        yield client


def poller(
    admin: AdminClient,
    server: FakeNameServer,
    in_flight: int = 2,
    is_stopped: Callable[[], bool] = lambda: False,
) -> NameServerPoller:
    pace = RequestPace(10_000, is_stopped=is_stopped)
    return NameServerPoller(admin.name_server_tables, server.addr, ["N"], pace, in_flight)


def test_all_is_told_once_then_only_routes_that_changed(admin: AdminClient, server: FakeNameServer) -> None:
    first_poller = poller(admin, server)
    polled = first_poller.poll_tables()
    assert sorted(polled.changed_queues) == sorted(server.routes) == sorted(polled.answer_hashes)
    first_poller.accept_poll(polled)
    server.routes["T3"] = {"a": 4}
    again = first_poller.poll_tables()
    assert {topic: queues.queues["a"].perm for topic, queues in again.changed_queues.items()} == {"T3": 4}
    # What nobody wrote down is told again.
    assert first_poller.poll_tables().changed_queues == again.changed_queues
    first_poller.accept_poll(again)
    assert first_poller.poll_tables().changed_queues == {}


def test_equal_queues_are_one_record(admin: AdminClient, server: FakeNameServer) -> None:
    polled = poller(admin, server).poll_tables()
    assert len({id(queues.queues["a"]) for queues in polled.changed_queues.values()}) == 1


def test_settings_that_may_be_secret_are_left_out(admin: AdminClient, server: FakeNameServer) -> None:
    assert sorted(poller(admin, server).poll_tables().server_listing.settings) == [
        "listenPort",
        "waitSecondsForService",
    ]


def test_a_topic_without_a_route_has_no_queues(admin: AdminClient, server: FakeNameServer) -> None:
    server.routes["T9"] = {}
    assert poller(admin, server).poll_tables().changed_queues["T9"] == NO_TOPIC_QUEUES


def test_one_route_that_is_refused_or_unreadable_spoils_the_poll(
    admin: AdminClient, server: FakeNameServer
) -> None:
    answer = server.handlers[105]

    def spoil(asked: RemotingCommand) -> object:
        return build_reply(asked, 1, remark="no") if (asked.ext or {})["topic"] == "T4" else answer(asked)

    server.handlers[105] = spoil  # type: ignore[assignment]
    with pytest.raises(RocketMQError, match="no"):
        poller(admin, server).poll_tables()
    server.handlers[105] = lambda asked: build_reply(asked, body=b"[]")
    with pytest.raises(RocketMQError, match="a route is malformed"):
        poller(admin, server).poll_tables()


def test_many_namespaces_are_asked_in_parts(admin: AdminClient, server: FakeNameServer) -> None:
    names = [f"N{number}" for number in range(7)]
    server.kv = {name: {"k": name} for name in names}
    polled = NameServerPoller(
        admin.name_server_tables, server.addr, names, RequestPace(10_000), 5
    ).poll_tables()
    assert polled.server_listing.kv == server.kv


def test_who_is_told_to_stop_gives_the_poll_up(admin: AdminClient, server: FakeNameServer) -> None:
    with pytest.raises(PollStopped):
        poller(admin, server, is_stopped=lambda: 105 in server.asked_codes()).poll_tables()
    assert server.asked_codes().count(105) == 2
