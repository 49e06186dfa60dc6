"""What a screen wants to know, asked in the lab."""

from pathlib import Path
from typing import Any

import pytest

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
from nsadmin.client.consumers.groups import GroupAdmin
from nsadmin.client.results import NoneReachable, ServerResult
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import (
    BrokerTopicsPolled,
    ConfigPolled,
    ConnectionsPolled,
    DivergencePolled,
    GroupPolled,
    GroupsPolled,
    QueueCounts,
    TopicPolled,
)
from tests.support.playground import Playground, playground


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with playground(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def test_a_topic_has_routes_of_each_name_server_its_rate_and_its_readers(ground: Playground) -> None:
    [poll] = ground.ask(DetailQuery("topic", "orders"))
    assert isinstance(poll, TopicPolled)
    assert list(poll.routes) == ["10.0.0.1:9876", "10.0.0.2:9876"]
    route = poll.routes["10.0.0.1:9876"]
    assert route is not None
    assert sorted(route) == ["broker-a-0", "broker-a-1", "broker-b-0", "broker-b-1"]
    assert isinstance(route["broker-a-0"], QueueCounts)
    assert poll.put_tps is not None
    assert poll.put_tps.keys() == route.keys()
    assert poll.groups


def test_a_line_of_a_list_asks_no_readers(ground: Playground) -> None:
    [poll] = ground.ask(DetailQuery("topicRow", "orders"))
    assert isinstance(poll, TopicPolled)
    assert (poll.groups, bool(poll.put_tps)) == (None, True)


def test_a_topic_that_is_not_there_is_none_for_each_name_server(ground: Playground) -> None:
    [poll] = ground.ask(DetailQuery("topic", "nothing"))
    assert isinstance(poll, TopicPolled)
    assert (poll.routes, poll.put_tps) == ({"10.0.0.1:9876": None, "10.0.0.2:9876": None}, None)


def test_all_groups_and_how_far_each_is_behind(ground: Playground) -> None:
    names, *groups = ground.ask(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    assert [each.group for each in groups if isinstance(each, GroupPolled)] == list(names.names)
    behind = [each for each in groups if isinstance(each, GroupPolled) and each.lags]
    assert behind
    assert behind[0].tps is not None


def test_one_group_with_its_members(ground: Playground) -> None:
    names, *_ = ground.ask(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    polls = [poll for name in names.names for poll in ground.ask(DetailQuery("group", name))]
    assert any(isinstance(poll, GroupPolled) and poll.members and poll.consume_type for poll in polls)


def test_a_group_is_asked_only_on_the_brokers_that_know_it(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, list[str]]] = []
    list_names, get_progress_at = GroupAdmin.list_names, ConsumerAdmin.get_progress_at

    def forget_a_group(self: GroupAdmin, *args: Any, **options: Any) -> list[ServerResult[list[str]]]:
        first_result, *other_results = list_names(self, *args, **options)
        return [first_result._replace(result=["lone"]), *other_results]

    def remember(self: ConsumerAdmin, group: str, broker_addrs: list[str]) -> Any:
        asked.append((group, [*broker_addrs]))
        return get_progress_at(self, group, broker_addrs)

    monkeypatch.setattr(GroupAdmin, "list_names", forget_a_group)
    monkeypatch.setattr(ConsumerAdmin, "get_progress_at", remember)
    ground.ask(DetailQuery("groups"))
    asked_addrs = dict(asked)
    [lone_addr] = asked_addrs.pop("lone")
    assert asked_addrs
    assert all(lone_addr not in broker_addrs for broker_addrs in asked_addrs.values())


def test_clients_are_incomplete_if_a_broker_does_not_return_its_connections(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, *_ = ground.ask(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    get_group_connections = ConsumerAdmin.get_group_connections

    def fail_at_first(self: ConsumerAdmin, groups: list[str], broker_addrs: list[str]) -> Any:
        merged = get_group_connections(self, groups, broker_addrs[1:])
        error = CallError(broker_addrs[0], "refused", "connection refused")
        return {
            group: connections._replace(errors={**connections.errors, broker_addrs[0]: error})
            for group, connections in merged.items()
        }

    monkeypatch.setattr(ConsumerAdmin, "get_group_connections", fail_at_first)
    [poll] = ground.ask(DetailQuery("group", names.names[0]))
    assert isinstance(poll, GroupPolled)
    assert (poll.error, len(poll.untold)) == (None, 1)


def test_a_group_that_nobody_knows(ground: Playground) -> None:
    [poll] = ground.ask(DetailQuery("group", "nobody"))
    assert isinstance(poll, GroupPolled)
    assert poll.error


def test_who_is_connected_is_not_nobody_where_no_name_server_answers(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connections(*_: object) -> object:
        raise NoneReachable([CallError("10.0.0.1:9876", "refused", "connection refused")])

    names, *_ = ground.ask(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    monkeypatch.setattr(GroupAdmin, "list_targets", connections)
    [poll] = ground.ask(DetailQuery("group", names.names[0]))
    assert isinstance(poll, GroupPolled)
    assert poll.error is not None
    assert "no name server answered" in poll.error


def test_settings_and_producers_of_a_broker(ground: Playground) -> None:
    config, clients = ground.ask(
        DetailQuery("config", "10.0.1.1:10911"), DetailQuery("connections", "10.0.1.1:10911")
    )
    assert isinstance(config, ConfigPolled)
    assert config.config is not None
    assert config.config["brokerName"] == "broker-a-0"
    assert isinstance(clients, ConnectionsPolled)
    assert clients.producers


def test_what_a_dead_broker_does_not_tell(ground: Playground) -> None:
    polls = ground.ask(DetailQuery("config", "127.0.0.1:1"), DetailQuery("connections", "127.0.0.1:1"))
    assert [getattr(poll, "error", None) for poll in polls] == [
        "connection refused, no server listens on this port"
    ] * 2


def test_a_look_at_all_routes_is_followed_by_a_rest(tmp_path: Path) -> None:
    with playground(tmp_path, name_servers=2) as ground:
        with ground.client([ground.addrs[1]]) as admin:
            admin.brokers.wipe_write_perm("broker-a-0")
        [poll] = ground.ask(DetailQuery("divergence"))
        assert isinstance(poll, DivergencePolled)
        assert poll.verdict == "converging"
        assert {found.what for found in poll.found} == {"topic"}
        assert "the write permission of broker-a-0 was removed on 10.0.0.2:9876 only" in poll.found[0].cause
        assert poll.found[0].sides["10.0.0.1:9876"] != poll.found[0].sides["10.0.0.2:9876"]
        assert ground.ask(DetailQuery("divergence")) == []


def test_topics_of_a_broker_as_it_has_them_itself(ground: Playground) -> None:
    known, silent = ground.ask(
        DetailQuery("brokerTopics", "10.0.1.1:10911"), DetailQuery("brokerTopics", "127.0.0.1:1")
    )
    assert isinstance(known, BrokerTopicsPolled)
    assert isinstance(silent, BrokerTopicsPolled)
    assert known.topics is not None
    assert known.topics["orders"].perm == 6
    assert (silent.topics, silent.error) == (None, "connection refused, no server listens on this port")
