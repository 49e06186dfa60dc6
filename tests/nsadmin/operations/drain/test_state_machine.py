"""What a drain does next, look by look."""

import pytest

from namesrv_core.events import QueueData
from nsadmin.client.consumers.lag import Lag
from nsadmin.operations.drain import events
from nsadmin.operations.drain.facts import (
    BrokerCounters,
    ClusterObservation,
    NameServerFacts,
    ServerTopic,
    SlaveProgress,
)
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import DrainState, QueueSnapshot
from nsadmin.operations.drain.state_machine import DrainStateMachine
from nsadmin.operations.run_folder import RunEvent

RW, R = QueueData("a", 8, 8, 6), QueueData("a", 8, 8, 4)
OPEN = NameServerFacts("h:1", None, "C", {0: "b:1"}, {"T": ServerTopic(RW, 8, 1)})
SHUT = OPEN._replace(topics={"T": ServerTopic(R, 8, 1)})
QUIET = BrokerCounters("b:1", None, 1, 100, 1000)


def machine() -> DrainStateMachine:
    return DrainStateMachine(SafetyRules(30, 2), DrainState("C", "a", ("h:1",), 0, 0), QueueSnapshot())


def kinds(told: list[RunEvent]) -> list[str]:
    return [type(event).__name__ for event in told if not isinstance(event, events.Progress)]


def progress(told: list[RunEvent]) -> events.Progress:
    [progress_event] = [event for event in told if isinstance(event, events.Progress)]
    return progress_event


def test_a_snapshot_stands_before_the_first_wipe_and_never_changes() -> None:
    state_machine = machine()
    first = state_machine.process_observation(ClusterObservation(1, (OPEN,), QUIET))
    assert (kinds(first.events), first.servers_to_wipe) == (["SnapshotTaken"], ("h:1",))
    state_machine.process_observation(ClusterObservation(2, (SHUT,), QUIET))
    assert state_machine.snapshot.queues_by_server == {"h:1": {"T": RW}}


def test_a_wipe_of_which_nobody_heard_counts() -> None:
    """Killed between order and answer: what is open later was opened by somebody."""
    state_machine = machine()
    state_machine.process_observation(ClusterObservation(1, (OPEN,), QUIET))
    other = DrainStateMachine(state_machine.safety_rules, state_machine.state, state_machine.snapshot)
    other.process_observation(ClusterObservation(2, (SHUT,), QUIET))
    assert "Reopened" in kinds(other.process_observation(ClusterObservation(3, (OPEN,), QUIET)).events)


GONE = NameServerFacts("h:1", None, None)


@pytest.mark.parametrize(
    ("between", "now", "counters", "back", "cause"),
    [
        (SHUT, OPEN, QUIET._replace(boot_ms=2), (), "the broker restarted"),
        (
            NameServerFacts("h:1", "no"), OPEN, QUIET, (events.ServerBack(3, "h:1"),),
            "the name server restarted, or the broker lost its connection to it",
        ),
        (GONE, OPEN, QUIET, (events.BrokerBack(3, "h:1"),), "the broker registered again after it was gone"),
        (SHUT, SHUT._replace(topics={"U": ServerTopic(RW)}), QUIET, (), "created during the drain"),
        (
            SHUT, SHUT._replace(topics={"U": ServerTopic(RW), "V": ServerTopic(RW)}), QUIET, (),
            "created during the drain",
        ),
    ],
)  # fmt: skip
def test_a_reopening_has_a_cause(
    between: NameServerFacts,
    now: NameServerFacts,
    counters: BrokerCounters,
    back: tuple[RunEvent, ...],
    cause: str,
) -> None:
    state_machine = machine()
    for time_ms, facts in enumerate((OPEN, SHUT, between)):
        state_machine.process_observation(ClusterObservation(time_ms, (facts,), QUIET))
    told = state_machine.process_observation(ClusterObservation(3, (now,), counters)).events
    assert told[:-1] == [*back, events.Reopened(3, "h:1", tuple(now.open_topics), cause)]


def test_a_wipe_that_failed_is_no_reason_to_speak_of_reopening() -> None:
    state_machine = machine()
    state_machine.process_observation(ClusterObservation(1, (OPEN,), QUIET))
    assert kinds(state_machine.record_wipes({"h:1": "no answer"}, 2)) == ["Wiped"]
    again = state_machine.process_observation(ClusterObservation(3, (OPEN,), QUIET))
    assert (kinds(again.events), again.servers_to_wipe) == ([], ("h:1",))


def test_intervals_count_only_behind_the_time_that_clients_take() -> None:
    state_machine = machine()
    state_machine.process_observation(ClusterObservation(0, (SHUT,), QUIET))
    phases = [
        progress(state_machine.process_observation(ClusterObservation(now, (SHUT,), QUIET)).events)
        for now in (10, 29, 30, 40, 50)
    ]
    assert [(item.phase, item.quiet) for item in phases] == [
        ("settle", 0), ("settle", 0), ("wait", 0), ("wait", 1), ("safe", 2),
    ]  # fmt: skip


def test_a_message_begins_the_count_anew() -> None:
    state_machine = machine()
    looks = [(0, 100), (30, 100), (40, 100), (50, 101), (60, 101), (70, 101)]
    progress_events = [
        progress(
            state_machine.process_observation(
                ClusterObservation(t, (SHUT,), QUIET._replace(put_count=n))
            ).events
        ).quiet
        for t, n in looks
    ]
    assert progress_events == [0, 0, 1, 0, 1, 2]


def test_a_restarted_broker_proves_nothing_even_if_it_has_counted_as_many() -> None:
    state_machine = machine()
    for now in (0, 30, 40):
        state_machine.process_observation(ClusterObservation(now, (SHUT,), QUIET))
    progress_event = progress(
        state_machine.process_observation(ClusterObservation(50, (SHUT,), QUIET._replace(boot_ms=2))).events
    )
    assert (progress_event.puts, progress_event.quiet) == (None, 0)


def test_a_counter_that_falls_and_a_clock_that_stands_say_nothing() -> None:
    state_machine = machine()
    puts = [
        progress(
            state_machine.process_observation(
                ClusterObservation(now, (SHUT,), QUIET._replace(put_count=count))
            ).events
        ).puts
        for now, count in ((0, 100), (10, 99), (10, 100), (10, 100))
    ]
    assert puts == [None, None, None, 0]


def test_a_counter_of_all_messages_says_less_than_the_topics_of_users() -> None:
    """As 4.x has it: something is stored all the time, and nothing in a topic of a user."""
    state_machine = machine()
    looks = [(0, 0), (10, 0), (20, 0), (29, 0), (30, 0), (40, 7), (50, 0), (60, 0), (70, 0)]
    progress_events = [
        progress(
            state_machine.process_observation(
                ClusterObservation(1000 * at, (SHUT,), QUIET._replace(put_count=at, recent_puts={"T": users}))
            ).events
        ).puts
        for at, users in looks
    ]
    # What is not counted yet is not believed to be nothing: it takes the broker a while.
    assert progress_events == [None, 60, 0, 0, 0, 60, 60, 60, 0]
    assert (
        progress(
            state_machine.process_observation(
                ClusterObservation(80_000, (SHUT,), QUIET._replace(put_count=80))
            ).events
        ).puts
        == 60
    )


def test_a_counter_of_what_users_sent_is_believed_at_once() -> None:
    state_machine = machine()
    progress_events = [
        progress(
            state_machine.process_observation(
                ClusterObservation(at, (SHUT,), QUIET._replace(put_count=puts, user_puts=users))
            ).events
        ).puts
        for at, puts, users in [
            (0, 0, 0),
            (30_000, 0, 0),
            (31_000, 50, 0),
            (32_000, 100, 28),
            (39_000, 101, 1),
        ]
    ]
    # Rounded up: one message is not none.
    assert progress_events == [None, 0, 3000, 3000, 9]
    assert isinstance(progress_events[-1], int)


def test_nobody_is_safe_while_no_name_server_answers() -> None:
    state_machine = machine()
    for now in (0, 30, 40, 50):
        observed_events = state_machine.process_observation(
            ClusterObservation(now, (NameServerFacts("h:1", "no answer"),), QUIET)
        ).events
    assert progress(observed_events).waiting_for == ("a name server that lists the broker",)


def test_a_slave_has_to_have_what_the_master_had() -> None:
    state_machine = machine()
    ends = [(0, 0), (30, 900), (40, 999), (50, None), (60, 1000)]
    waits = [
        progress(
            state_machine.process_observation(
                ClusterObservation(t, (SHUT,), QUIET._replace(slaves=(SlaveProgress("s:1", end),)))
            ).events
        )
        for t, end in ends
    ]
    lagging = "the slave s:1 to copy the last messages"
    assert [(lagging in item.waiting_for, item.phase) for item in waits] == [
        (False, "settle"), (True, "wait"), (True, "wait"), (False, "wait"), (False, "safe"),
    ]  # fmt: skip
    assert "a comparison of the slave s:1 with its master" in waits[0].waiting_for
    assert "the slave s:1 to answer" in waits[3].waiting_for
    assert waits[2].behind == {"s:1": 1}


def test_all_that_an_observation_tells_is_in_its_progress() -> None:
    silent, other = NameServerFacts("h:2", "no answer"), OPEN._replace(namesrv_addr="h:3")
    state_machine = machine()
    state_machine.process_observation(ClusterObservation(0, (SHUT, silent, other), QUIET))
    counters = QUIET._replace(
        put_count=103, recent_puts={"T": 3, "U": 0, "%RETRY%g": 1}, delayed_count=4, has_transactions=True,
        lag_by_group={"g": Lag(5), "h": Lag(2), "i": Lag(0), "j": Lag(None, "it does not answer")},
        slaves=(SlaveProgress("s:1", 900), SlaveProgress("s:2", 1001), SlaveProgress("s:3", None)),
        writers={"T": ("app",)},
    )  # fmt: skip
    told = state_machine.process_observation(
        ClusterObservation(60_000, (SHUT, silent, other), counters)
    ).events
    assert progress(told) == events.Progress(
        60_000, "wipe", 3, {"T": 3, "%RETRY%g": 1},
        {
            "T": "clients, or 4 delayed messages that become visible and transactions",
            "%RETRY%g": "retries of consumers",
        },
        7, 3, {"s:1": 100, "s:2": 0, "s:3": None}, {"h:1": 0, "h:2": None, "h:3": 1}, 1, 0, 2,
        (
            "the name servers to remove the write permission from all routes",
            "the slave s:1 to copy the last messages", "the slave s:3 to answer",
        ),
        {"T": ("app",)},
    )  # fmt: skip


def test_messages_after_it_was_safe_make_it_unsafe() -> None:
    state_machine = machine()
    for now in (0, 30, 40, 50):
        state_machine.process_observation(ClusterObservation(now, (SHUT,), QUIET))
    assert state_machine.is_safe
    observed_events = state_machine.process_observation(
        ClusterObservation(60, (SHUT,), QUIET._replace(put_count=101, recent_puts={"T": 1}))
    ).events
    assert observed_events[-1] == events.Unsafe(60, "6000 messages a minute")
    assert state_machine.state.puts == 6_000
    assert (kinds(observed_events), state_machine.is_safe) == (["Unsafe"], False)


def test_a_stopped_broker_stays_safe() -> None:
    state_machine = machine()
    for now in (0, 30, 40, 50):
        state_machine.process_observation(ClusterObservation(now, (SHUT,), QUIET))
    gone = NameServerFacts("h:1", None, None)
    observed_events = state_machine.process_observation(
        ClusterObservation(60, (gone,), BrokerCounters(None, "the broker has no master now"))
    ).events
    assert (observed_events[0], state_machine.is_safe) == (events.BrokerGone(60, "h:1"), True)
    assert kinds(observed_events) == ["BrokerGone"]


def test_a_durable_drain_wipes_nothing() -> None:
    state_machine = DrainStateMachine(
        SafetyRules(30, 2), DrainState("C", "a", ("h:1",), 0, 0, durable=True), QueueSnapshot()
    )
    observed_events = state_machine.process_observation(ClusterObservation(0, (OPEN,), QUIET))
    assert observed_events.servers_to_wipe == ()
    assert progress(observed_events.events).waiting_for == (
        "the broker to register its topics without write permission",
    )


def test_a_topic_that_no_other_broker_takes_is_not_closed_and_waited_for() -> None:
    state_machine = machine()

    def process(time_ms: int, facts: NameServerFacts) -> tuple[tuple[str, ...], bool]:
        observation = ClusterObservation(time_ms, (facts,), QUIET, None, frozenset({"TBW102"}))
        told, servers_to_wipe = state_machine.process_observation(observation)
        waits = "another broker that takes messages of T" in progress(told).waiting_for
        return servers_to_wipe, waits

    def alone(queue: QueueData) -> NameServerFacts:
        return SHUT._replace(topics={"T": ServerTopic(queue, 0, 1), "TBW102": ServerTopic(R, 0, 0)})

    assert process(0, alone(RW)) == ((), True)
    assert process(1, OPEN) == (("h:1",), False)
    assert process(2, SHUT) == ((), False)
    # The others lost it after the drain had closed it.
    assert process(3, alone(R)) == ((), True)
