"""The stages in which the queues of one topic move."""

from nsadmin.operations.rebalance.move_stages import MoveStage, list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import QueuePair

OLD, NEW = QueuePair(4, 4), QueuePair(2, 2)


def kinds(stages: tuple[MoveStage, ...]) -> list[str]:
    return [stage.kind for stage in stages]


def test_a_topic_that_gets_queues_is_opened_to_consumers_before_producers() -> None:
    stages = list_move_stages({"a": OLD}, {"a": OLD, "b": NEW})
    assert kinds(stages) == ["openReads", "openWrites"]
    assert stages[0].counts == {"a": OLD, "b": QueuePair(2, 0)}
    assert stages[0].opening_queues == {"b": range(2)}
    assert stages[1].counts == {"a": OLD, "b": NEW}
    assert [stage.has_settle_time for stage in stages] == [False, True]


def test_a_topic_that_loses_queues_is_closed_to_producers_before_consumers() -> None:
    stages = list_move_stages({"a": OLD, "b": OLD}, {"a": NEW, "b": OLD})
    assert kinds(stages) == ["closeWrites", "closeReads"]
    assert stages[0].counts == {"a": QueuePair(4, 2), "b": OLD}
    assert stages[0].closing_queues == {"a": range(2, 4)}
    assert stages[1].counts == {"a": NEW, "b": OLD}


def test_a_topic_that_leaves_a_broker_is_deleted_there_last() -> None:
    stages = list_move_stages({"a": OLD}, {"b": OLD})
    assert kinds(stages) == ["openReads", "openWrites", "closeWrites", "closeReads", "deleteTopic"]
    assert stages[-1].deletes_on == ("a",)
    assert stages[-1].counts == {"a": QueuePair(0, 0), "b": OLD}


def test_queues_that_are_only_read_are_emptied_too() -> None:
    stages = list_move_stages({"a": QueuePair(8, 4)}, {"a": OLD})
    assert kinds(stages) == ["closeWrites", "closeReads"]
    assert stages[0].closing_queues == {"a": range(4, 8)}


def test_a_topic_that_is_where_it_should_be_has_no_stages() -> None:
    assert list_move_stages({"a": OLD}, {"a": OLD}) == ()
