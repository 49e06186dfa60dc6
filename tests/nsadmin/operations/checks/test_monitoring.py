"""Every consumer group by itself: which are not well, and why."""

from namesrv_core.errors import RequestError
from nsadmin import AdminClient
from nsadmin.client.connections import Client, GroupConnections
from nsadmin.client.consumers import GroupProgress
from nsadmin.operations.checks.finding import State
from nsadmin.operations.checks.monitoring import Seen, judge, look
from nsadmin.operations.checks.thresholds import Scale
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.servers import FakeNameServer

LIMITS = Scale("lag", "50", "1000")
CLIENT = Client("c", None, "JAVA", "V5_5_0", ("h:1",))
REFUSED = RequestError("no", 16)


def group(
    name: str, behind: int | None, clients: int = 1, error: RequestError | None = None
) -> GroupProgress:
    connections = GroupConnections(
        (CLIENT,) * clients, None, None, None, (), (), {"h:1": error if behind is None else None}
    )
    return GroupProgress(name, connections, 0.0, behind, None, error)


def test_the_worst_comes_first_and_those_that_are_well_are_only_counted() -> None:
    seen = [
        Seen(group("fine", 10)),
        Seen(group("late", 60)),
        Seen(group("idle", 1, clients=0)),
        Seen(group("done", 0, clients=0)),
        Seen(group("worst", 5000)),
        Seen(group("split", 0), ("queue 3: nobody consumes it",)),
    ]
    whole, bad = judge(LIMITS, seen, {"h:1": None})
    assert (whole.state, whole.summary) == (State.CRITICAL, "4 of 6 groups are not well")
    assert [(one.about, one.state) for one in bad] == [
        ("worst", State.CRITICAL),
        ("idle", State.WARNING),
        ("late", State.WARNING),
        ("split", State.WARNING),
    ]
    assert bad[1].details == ("nobody of the group is connected",)
    assert bad[3].details == ("queue 3: nobody consumes it",)


def test_what_a_broker_does_not_tell_is_unknown_and_never_well() -> None:
    whole, [bad] = judge(LIMITS, [Seen(group("g", None, 0, REFUSED))], {"h:1": None, "h:2": REFUSED})
    assert (whole.state, bad.state) == (State.UNKNOWN, State.UNKNOWN)
    assert whole.summary == "1 of 1 groups are not well; 1 of 2 brokers do not tell their groups"
    assert whole.details[0].startswith("h:2: ")
    whole, [bad] = judge(LIMITS, [Seen(group("g", 10, 1, REFUSED))], {"h:1": None})
    assert (bad.state, bad.summary) == (State.UNKNOWN, "g is at least 10 messages behind")
    whole, [bad] = judge(LIMITS, [Seen(group("g", 60, 1, REFUSED))], {"h:1": None})
    assert whole.state is State.WARNING
    assert judge(LIMITS, [Seen(group("g", 0))], {"h:1": None})[0].summary == "all 1 groups are well"


def test_groups_are_those_that_brokers_know_and_clients_are_asked(first: FakeNameServer) -> None:
    with ConsumerBroker() as broker, AdminClient(first.addr, timeout=5) as admin:
        broker.clients = {"G": ["c1"]}
        first.clusters = {"C": {"broker-a": {0: broker.addr}}}
        seen, brokers = look(admin, 61_000)
        [one] = [item for item in seen if item.progress.group == "G"]
        assert (one.progress.diff_total, brokers) == (10, {broker.addr: None})
        assert 307 in broker.codes()
        assert one.problems
        # The group is neither joined nor moved.
        assert not {34, 15}.intersection(broker.codes())
