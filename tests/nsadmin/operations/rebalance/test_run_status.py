"""The facts of a running rebalance on a terminal."""

from nsadmin.operations.rebalance.run_events import Progress
from nsadmin.operations.rebalance.run_status import list_progress_facts


def test_each_moving_topic_has_its_step_and_what_it_waits_for() -> None:
    progress = Progress(1, "running", 1, 2, 0, {"a": "openReads", "b": "closeReads"}, {"a": ("x", "y")})
    assert list_progress_facts("", progress.to_record()) == [
        ("running", "1 done, 2 moving, 0 to come"),
        ("a", "opening the new queues to consumers; waiting for x; y"),
        ("b", "removing the old queues"),
    ]


def test_only_the_first_topics_are_shown() -> None:
    stages = {f"topic-{at:02}": "openReads" for at in range(20)}
    facts = list_progress_facts("", Progress(1, "running", 0, 20, 0, stages, {}).to_record())
    assert len(facts) == 14
    assert facts[-1] == ("", "and 8 more topics")
