"""The lag and the clients of consumer groups, asked in the lab."""

from time import monotonic
from typing import Any

import pytest

from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
from nsadmin.client.consumers.groups import GroupAdmin
from nsadmin.client.proxies.client_heartbeats import parse_heartbeat
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyAdmin
from nsadmin.client.results import NoneReachable, ServerResult
from nsadmin.tui.polling import detail_queries
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import GroupPolled, GroupsPolled
from tests.support.playground import Playground, start_playground
from tests.support.proxies import heartbeat_body


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with start_playground(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def test_all_groups_and_how_far_each_is_behind(ground: Playground) -> None:
    names, *groups = ground.poll_details(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    assert [lag.group for lag in groups if isinstance(lag, GroupPolled)] == list(names.names)
    behind = [lag for lag in groups if isinstance(lag, GroupPolled) and lag.lags]
    assert behind
    assert behind[0].tps is not None


def test_a_group_with_a_malformed_answer_harms_no_other(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    poll_group = detail_queries._poll_group

    def answer_nonsense(probe: Any, group: str, *more: Any) -> GroupPolled:
        if group == bad_group:
            raise TypeError("unsupported operand")
        return poll_group(probe, group, *more)

    names, *_ = ground.poll_details(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    bad_group = names.names[0]
    monkeypatch.setattr(detail_queries, "_poll_group", answer_nonsense)
    _, *groups = ground.poll_details(DetailQuery("groups"))
    errors = {poll.group: poll.error for poll in groups if isinstance(poll, GroupPolled)}
    assert errors.pop(bad_group) == "malformed answer (unsupported operand)"
    assert set(errors.values()) == {None}


def test_one_group_with_its_members(ground: Playground) -> None:
    names, *_ = ground.poll_details(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    polls = [poll for name in names.names for poll in ground.poll_details(DetailQuery("group", name))]
    assert any(isinstance(poll, GroupPolled) and poll.members and poll.consume_type for poll in polls)


def test_a_group_is_asked_only_on_the_brokers_that_know_it(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, list[str]]] = []
    list_names, get_progress_at = GroupAdmin.list_names, ConsumerAdmin.get_progress_at

    def forget_a_group(self: GroupAdmin, *args: Any, **options: Any) -> list[ServerResult[list[str]]]:
        first, *other_results = list_names(self, *args, **options)
        return [first._replace(result=["lone"]), *other_results]

    def remember(self: ConsumerAdmin, group: str, broker_addrs: list[str]) -> Any:
        asked.append((group, [*broker_addrs]))
        return get_progress_at(self, group, broker_addrs)

    monkeypatch.setattr(GroupAdmin, "list_names", forget_a_group)
    monkeypatch.setattr(ConsumerAdmin, "get_progress_at", remember)
    ground.poll_details(DetailQuery("groups"))
    asked_addrs = dict(asked)
    [lone_addr] = asked_addrs.pop("lone")
    assert asked_addrs
    assert all(lone_addr not in broker_addrs for broker_addrs in asked_addrs.values())


def test_clients_are_incomplete_if_a_broker_does_not_return_its_connections(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, *_ = ground.poll_details(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    get_group_connections = ConsumerAdmin.get_group_connections

    def fail_at_first(self: ConsumerAdmin, groups: list[str], broker_addrs: list[str]) -> Any:
        merged = get_group_connections(self, groups, broker_addrs[1:])
        error = CallError(broker_addrs[0], "refused", "connection refused")
        return {
            group: clients._replace(errors={**clients.errors, broker_addrs[0]: error})
            for group, clients in merged.items()
        }

    monkeypatch.setattr(ConsumerAdmin, "get_group_connections", fail_at_first)
    [poll] = ground.poll_details(DetailQuery("group", names.names[0]))
    assert isinstance(poll, GroupPolled)
    assert (poll.error, len(poll.unreported)) == (None, 1)


def test_a_group_that_nobody_knows(ground: Playground) -> None:
    [poll] = ground.poll_details(DetailQuery("group", "nobody"))
    assert isinstance(poll, GroupPolled)
    assert poll.error


def test_who_is_connected_is_not_nobody_where_no_name_server_answers(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connections(*_: object) -> object:
        raise NoneReachable([CallError("10.0.0.1:9876", "refused", "connection refused")])

    names, *_ = ground.poll_details(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    monkeypatch.setattr(GroupAdmin, "list_targets", connections)
    [poll] = ground.poll_details(DetailQuery("group", names.names[0]))
    assert isinstance(poll, GroupPolled)
    assert poll.error is not None
    assert "no name server answered" in poll.error


def test_clients_behind_proxies_are_members_and_heartbeats_are_read_once(
    ground: Playground, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, *_ = ground.poll_details(DetailQuery("groups"))
    assert isinstance(names, GroupsPolled)
    group = names.names[0]
    heartbeat = parse_heartbeat(heartbeat_body("host@1@0@abc", group), 0, 0)
    assert heartbeat is not None
    reads: list[str] = []

    def read(self: ProxyAdmin, cluster_name: str | None = None) -> ProxyHeartbeats:
        reads.append("read")
        return ProxyHeartbeats((heartbeat,))

    monkeypatch.setattr(ProxyAdmin, "get_heartbeats", read)
    # Earlier tests read heartbeats just now.
    monkeypatch.setattr(detail_queries, "monotonic", lambda: monotonic() + 1000)
    polls = ground.poll_details(DetailQuery("groups"))
    members = {poll.group: poll.members for poll in polls if isinstance(poll, GroupPolled)}
    proxied = [member for member in members[group] if member.protocol == "gRPC"]
    assert [(member.client_id, member.proxies) for member in proxied] == [("host@1@0@abc", "10.0.0.9:8080")]
    assert reads == ["read"]
