"""What each name server tells of one broker's topics, and putting it back."""

from pathlib import Path

from namesrv_core.events import QueueData
from namesrv_core.fleet.fleet import FleetPlan
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient
from tests.support.fake_servers import Answer, FakeNameServer, answer_nothing
from tests.support.lab import start_lab


def test_every_name_server_is_asked_by_itself(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    first_server.routes = {"b": {"broker-a": 6}, "a": {"broker-a": 4, "broker-b": 2}, "c": {"broker-b": 6}}
    second_server.clusters = {}
    with AdminClient([first_server.addr, second_server.addr], timeout=5) as admin:
        here, there = admin.broker_routes.get_each("broker-a")
    assert here.result is not None
    assert there.result is not None
    assert {topic: len(r.queues) for topic, r in here.result.routes_by_topic.items()} == {"a": 2, "b": 1}
    assert here.result.broker_group is not None
    assert (there.result.broker_group, dict(there.result.routes_by_topic)) == (
        None,
        {"T": second_route(second_server, admin)},
    )


def second_route(second_server: FakeNameServer, admin: AdminClient) -> object:
    with AdminClient(second_server.addr, timeout=5) as other:
        return other.topics.get_route("T")


def test_half_an_account_is_none(first_server: FakeNameServer) -> None:
    first_server.handlers[105] = lambda asked: build_reply(asked, 1, remark="oh")
    with AdminClient(first_server.addr, timeout=5) as admin:
        [result] = admin.broker_routes.get_each("broker-a")
    assert (result.result, str(result.error)) == (None, "SYSTEM_ERROR (1): oh")
    first_server.handlers[206] = answer_nothing
    with AdminClient(first_server.addr, timeout=0.2) as admin:
        assert admin.broker_routes.get_each("broker-a")[0].error is not None


def test_a_route_that_changed_is_read_again(first_server: FakeNameServer) -> None:
    with AdminClient(first_server.addr, timeout=5) as admin:
        perms = []
        for perm in (6, 6, 4):
            first_server.routes = {"T": {"broker-a": perm}}
            [result] = admin.broker_routes.get_each("broker-a")
            assert result.result is not None
            perms.append(result.result.routes_by_topic["T"].queues[0].perm)
    assert perms == [6, 6, 4]


def test_servers_before_5_0_take_no_queues(first_server: FakeNameServer) -> None:
    handler = first_server.handlers[106]

    def old(asked: RemotingCommand) -> Answer:
        answer = handler(asked)
        assert isinstance(answer, RemotingCommand)
        answer.version = 407
        return answer

    first_server.handlers[106] = old
    with AdminClient(first_server.addr, timeout=5) as admin:
        [result] = admin.broker_routes.get_each("broker-a")
    assert result.result is not None
    assert not result.result.can_register_topics


def test_queues_are_put_back_exactly_and_no_others(tmp_path: Path) -> None:
    with (
        start_lab(tmp_path, FleetPlan(clusters=1, groups=2, replicas=1, topics=6)) as there,
        AdminClient(there.namesrv_addr) as admin,
    ):
        before = admin.topics.get_route("orders")
        odd = QueueData("broker-a-0", 3, 2, 5, 1)
        assert admin.broker_routes.restore_queues(there.namesrv_addrs[0], {"orders": odd}) == {"orders": None}
        own, other = admin.topics.get_route("orders").queues
        assert (own.read_queue_nums, own.write_queue_nums, own.perm, own.topic_sys_flag) == (3, 2, 5, 1)
        assert other == before.queues[1]


def test_queues_that_a_name_server_no_longer_has_are_not_registered(first_server: FakeNameServer) -> None:
    registered: list[str | None] = []

    def register(asked: RemotingCommand) -> Answer:
        registered.append((asked.ext or {}).get("topic"))
        return build_reply(asked)

    first_server.handlers[217] = register
    first_server.routes = {"a": {"broker-a": 4}, "b": {"broker-b": 6}}
    queues = dict.fromkeys(("a", "b", "gone"), QueueData("broker-a", 8, 8, 6, 0))
    with AdminClient(first_server.addr, timeout=5) as admin:
        assert admin.broker_routes.restore_queues(first_server.addr, queues) == {"a": None}
        assert registered == ["a"]
        first_server.handlers[105] = lambda asked: build_reply(asked, 1, remark="oh")
        errors = admin.broker_routes.restore_queues(first_server.addr, queues)
    assert (list(errors), {str(error) for error in errors.values()}) == (
        ["a", "b", "gone"], {"SYSTEM_ERROR (1): oh"},
    )  # fmt: skip
    assert registered == ["a"]
