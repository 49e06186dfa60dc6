"""Every consumer group by itself: which are not well, and why."""

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections
from nsadmin.client.consumers.consumer_progress import GroupProgress
from nsadmin.operations.checks import lag
from nsadmin.operations.checks.findings import CheckState
from nsadmin.operations.checks.group_monitor import GroupObservation, judge_groups, observe_groups
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer

LIMITS = lag.CHECK.make_scale(("50", "1000"))
CLIENT = ConnectedClient("c", None, "JAVA", "V5_5_0", ("h:1",))
REFUSED = RequestError("no", 16)


def group(
    name: str, behind: int | None, clients: int = 1, error: RequestError | None = None
) -> GroupProgress:
    connections = GroupConnections(
        (CLIENT,) * clients, None, None, None, (), (), {"h:1": error if behind is None else None}
    )
    return GroupProgress(name, connections, 0.0, behind, None, error)


def test_the_worst_comes_first_and_those_that_are_well_are_only_counted() -> None:
    groups_observed = [
        GroupObservation(group("fine", 10)),
        GroupObservation(group("late", 60)),
        GroupObservation(group("idle", 1, clients=0)),
        GroupObservation(group("done", 0, clients=0)),
        GroupObservation(group("worst", 5000)),
        GroupObservation(group("split", 0), ("queue 3: nobody consumes it",)),
    ]
    whole, bad = judge_groups(LIMITS, groups_observed, {"h:1": None})
    assert (whole.state, whole.summary) == (
        CheckState.CRITICAL,
        "4 of 6 groups are not healthy: worst, idle, late, split",
    )
    assert [(bad_group.about, bad_group.state) for bad_group in bad] == [
        ("worst", CheckState.CRITICAL),
        ("idle", CheckState.WARNING),
        ("late", CheckState.WARNING),
        ("split", CheckState.WARNING),
    ]
    assert bad[1].details == ("no client of the group is connected",)
    assert bad[3].details == ("queue 3: nobody consumes it",)


def test_what_a_broker_does_not_tell_is_unknown_and_never_well() -> None:
    whole, [bad] = judge_groups(
        LIMITS, [GroupObservation(group("g", None, 0, REFUSED))], {"h:1": None, "h:2": REFUSED}
    )
    assert (whole.state, bad.state) == (CheckState.UNKNOWN, CheckState.UNKNOWN)
    assert whole.summary == "1 of 1 group is unknown: g; 1 of 2 brokers returned no list of groups"
    assert whole.details[0].startswith("h:2: ")
    whole, [bad] = judge_groups(LIMITS, [GroupObservation(group("g", 10, 1, REFUSED))], {"h:1": None})
    assert (bad.state, bad.summary) == (CheckState.UNKNOWN, "g has a lag of at least 10 messages")
    whole, [bad] = judge_groups(LIMITS, [GroupObservation(group("g", 60, 1, REFUSED))], {"h:1": None})
    assert whole.state is CheckState.WARNING
    assert (
        judge_groups(LIMITS, [GroupObservation(group("g", 0))], {"h:1": None})[0].summary
        == "the only group is healthy"
    )


def test_groups_are_those_that_brokers_know_and_clients_are_asked(first_server: FakeNameServer) -> None:
    with ConsumerBroker() as broker, AdminClient(first_server.addr, timeout=5) as admin:
        broker.clients = {"G": ["c1"]}
        first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        groups_observed, brokers = observe_groups(admin, 61_000)
        [group_observed] = [item for item in groups_observed if item.group_progress.group == "G"]
        assert (group_observed.group_progress.lag, brokers) == (10, {broker.addr: None})
        assert 307 in broker.asked_codes()
        assert group_observed.client_problems
        # The group is neither joined nor moved.
        assert not {34, 15}.intersection(broker.asked_codes())
