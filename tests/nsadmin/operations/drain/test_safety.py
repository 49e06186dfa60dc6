"""When a drained broker is safe to stop."""

from namesrv_core.events import QueueData
from nsadmin.client.consumers.lag import BEYOND_END, Lag
from nsadmin.operations.drain.facts import (
    BrokerCounters,
    ClusterObservation,
    NameServerFacts,
    ServerTopic,
    SlaveProgress,
)
from nsadmin.operations.drain.safety import SafetyRules, list_waiting_for
from nsadmin.operations.drain.state import DrainState

OPEN_QUEUE, CLOSED_QUEUE = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
OPEN = NameServerFacts("h:1", None, "C", {0: "b:1"}, {"T": ServerTopic(OPEN_QUEUE, 8, 1)})
CLOSED = OPEN._replace(topics={"T": ServerTopic(CLOSED_QUEUE, 8, 1)})
COUNTERS = BrokerCounters("b:1", None, 1, 100, 1000)
STATE = DrainState("C", "a", ("h:1",), 0, 0)._replace(closed_since=1000)
RULES = SafetyRules(settle_ms=30_000, quiet_intervals=2)


def list_texts(
    observation: ClusterObservation,
    puts: int | None = 0,
    quiet_count: int = 2,
    rules: SafetyRules = RULES,
    last: ClusterObservation | None = None,
) -> tuple[str, ...]:
    return list_waiting_for(rules, STATE, observation, last, puts, quiet_count)


def test_nothing_is_waited_for_after_closed_routes_time_and_quiet_intervals() -> None:
    assert list_texts(ClusterObservation(31_000, (CLOSED,), COUNTERS)) == ()


def test_each_obstacle_is_named() -> None:
    assert list_texts(ClusterObservation(31_000, (OPEN,), COUNTERS)) == (
        "the name servers to remove the write permission from all routes",
    )
    assert list_texts(ClusterObservation(2_500, (CLOSED,), COUNTERS)) == (
        "clients to refresh their routes (29 s)",
    )
    late = ClusterObservation(40_000, (CLOSED,), COUNTERS)
    assert list_texts(late, puts=5, quiet_count=0) == ("writes to stop",)
    before = late._replace(time_ms=29_960)
    assert list_texts(late, quiet_count=1, last=before) == ("10 s more without a write",)
    assert list_texts(late, puts=None, quiet_count=0, last=before) == ("20 s without a write",)
    assert list_texts(late, puts=None, quiet_count=0) == ("2 checks without a write",)
    few = RULES._replace(write_threshold=5)
    assert list_texts(late, puts=6, quiet_count=0, rules=few, last=before) == ("at most 5 messages a minute",)
    assert list_texts(late, puts=5, quiet_count=1, rules=few, last=before) == (
        "10 s more with at most 5 messages a minute",
    )
    silent = ClusterObservation(40_000, (CLOSED,), BrokerCounters("b:1", "no answer"))
    assert list_texts(silent, quiet_count=1) == ("the broker to answer: no answer",)
    unregistered = ClusterObservation(40_000, (NameServerFacts("h:1", None, "C", {}, {}),), COUNTERS)
    assert list_texts(unregistered) == ("a name server that lists the broker",)


def test_another_name_of_the_process_that_clients_write_to_makes_it_unsafe() -> None:
    renamed = CLOSED._replace(other_names=("b", "c"), open_names=("b",))
    other = CLOSED._replace(open_names=("b", "c"))
    for servers, names in (((renamed,), "b"), ((other, renamed), "b and c")):
        assert list_texts(ClusterObservation(40_000, servers, COUNTERS)) == (
            f"a drain of {names} as well: these names are one broker process",
        )


def test_a_slave_needs_all_messages_of_the_last_observation() -> None:
    slaves = (SlaveProgress("s:1", 900), SlaveProgress("s:2", 1000), SlaveProgress("s:3", None))
    observation = ClusterObservation(40_000, (CLOSED,), COUNTERS._replace(slaves=slaves, log_end=2000))
    last = ClusterObservation(39_000, (CLOSED,), COUNTERS._replace(log_end=1000))
    assert list_texts(observation, last=last) == (
        "the slave s:1 to copy the last messages",
        "the slave s:3 to answer",
    )


def test_for_good_consumers_have_to_read_everything() -> None:
    for_good = RULES._replace(for_good=True)
    for lag_by_group, texts in (
        (None, ("the broker to report the lag of its groups",)),
        ({"g": Lag(5)}, ("consumers to read all messages",)),
        ({"g": Lag(0)}, ()),
        (
            {"g": Lag(None, BEYOND_END), "h": Lag(0)},
            ("the lag of group g, which is unknown: the consumer offset is beyond the end of the queue",),
        ),
    ):
        observation = ClusterObservation(40_000, (CLOSED,), COUNTERS._replace(lag_by_group=lag_by_group))
        assert list_texts(observation, rules=for_good) == texts
    counters = COUNTERS._replace(slaves=(SlaveProgress("s:1", None),), lag_by_group={"g": Lag(5)})
    assert list_texts(ClusterObservation(40_000, (CLOSED,), counters), rules=for_good) == (
        "the slave s:1 to answer",
        "consumers to read all messages",
    )
