"""The events of a rebalance as records and as lines."""

from nsadmin.operations.rebalance import run_events
from nsadmin.operations.rebalance.run_events import describe_record
from nsadmin.operations.run_folder import RunEvent

COUNTS = {"broker-c": {"read": 2, "write": 0}, "broker-a": {"read": 4, "write": 4}}


def line(event: RunEvent) -> str:
    return describe_record(event.to_record())


def test_each_event_is_a_line() -> None:
    assert [
        line(event)
        for event in (
            run_events.Began(1, "Cluster", "0123456789ab", 3, ("ns:9876",), "paused", False),
            run_events.Began(1, "Cluster", "0123456789ab", 3, ("ns:9876",), "running", False),
            run_events.Began(1, "Cluster", "0123456789ab", 3, ("ns:9876",), "done", True),
            run_events.GroupCreated(1, "billing", "broker-c", None),
            run_events.GroupCreated(1, "billing", "broker-c", "no answer"),
            run_events.StageBegan(1, "orders", "openReads", 1, 5, COUNTS),
            run_events.Changed(1, "orders", "broker-c", "set 2 read and 0 write queues", None),
            run_events.Changed(1, "orders", None, "delete the order configuration", "no answer"),
            run_events.TopicMoved(1, "orders", False),
            run_events.TopicMoved(1, "orders", True),
            run_events.Paused(1, "broker-c uses 90% of its disk"),
            run_events.Finished(1, "Cluster", 3, False),
            run_events.Finished(1, "Cluster", 3, True),
        )
    ] == [
        "Cluster: moving 3 topics (plan 0123456789ab), after a pause",
        "Cluster: moving 3 topics (plan 0123456789ab), resumed",
        "Cluster: moving back 3 topics (plan 0123456789ab)",
        "group billing on broker-c: created",
        "group billing on broker-c: failed: no answer",
        "orders: step 1 of 5, opening the new queues to consumers: read/write queues broker-a 4/4, broker-c "
        "2/0",
        "orders on broker-c: set 2 read and 0 write queues",
        "orders: delete the order configuration: failed: no answer",
        "orders: moved",
        "orders: back where it was",
        "paused: broker-c uses 90% of its disk",
        "Cluster: 3 topics moved",
        "Cluster: 3 topics moved back",
    ]


def test_progress_names_the_first_topics_and_what_they_wait_for() -> None:
    waiting = {"a": ("x", "y", "z"), "b": ("x",), "c": ("x",), "d": ()}
    progress = run_events.Progress(1, "running", 1, 4, 2, {"a": "openReads"}, waiting)
    assert progress.to_record()["event"] == "progress"
    assert line(progress) == (
        "topics: 1 done, 4 moving, 2 to come; a waits for x and y; b waits for x; and 1 more topic"
    )


def test_each_moving_topic_has_its_step_and_what_it_waits_for() -> None:
    progress = run_events.Progress(
        1, "running", 1, 2, 0, {"a": "openReads", "b": "closeReads"}, {"a": ("x", "y")}
    )
    assert run_events.list_progress_facts("", progress.to_record()) == [
        ("running", "1 done, 2 moving, 0 to come"),
        ("a", "opening the new queues to consumers; waiting for x; y"),
        ("b", "removing the old queues"),
    ]


def test_only_the_first_topics_are_shown() -> None:
    stages = {f"topic-{at:02}": "openReads" for at in range(20)}
    facts = run_events.list_progress_facts(
        "", run_events.Progress(1, "running", 0, 20, 0, stages, {}).to_record()
    )
    assert len(facts) == 14
    assert facts[-1] == ("", "and 8 more topics")
