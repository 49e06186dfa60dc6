"""The state of a rebalance run, and its JSON form."""

import json

import pytest

from nsadmin.operations.drain.state import InvalidStateError, build_state_record
from nsadmin.operations.rebalance.move_stages import list_move_stages
from nsadmin.operations.rebalance.rebalance_plan import QueuePair
from nsadmin.operations.rebalance.run_state import (
    RunState,
    TopicProgress,
    parse_state_record,
)

START = {"a": QueuePair(4, 4)}
STATE = RunState(
    "Cluster", "0123456789ab", ("ns:9876",), 1, 2, "ann", 100,
    moving={"orders": TopicProgress(list_move_stages(START, {"b": QueuePair(4, 4)}), 1, 5, 6, True, START)},
    moved=("other",), confs_before={"other": "a:4"}, pause="disk", waiting={"orders": ("time",)},
)  # fmt: skip


def test_a_state_survives_its_json_form() -> None:
    assert parse_state_record(json.loads(json.dumps(build_state_record(STATE)))) == STATE


def test_keys_are_in_camel_case() -> None:
    record = build_state_record(STATE)
    assert {"nameServers", "clusterQueues", "isRollback", "confsBefore"} <= record.keys()
    assert {"routedSince", "wasOrdered"} <= record["moving"]["orders"].keys()


@pytest.mark.parametrize(
    ("is_rollback", "pause", "finished", "phase"),
    [
        (False, None, None, "running"),
        (True, None, None, "rollingBack"),
        (True, "disk", None, "paused"),
        (False, None, 9, "done"),
        (True, None, 9, "rolledBack"),
    ],
)
def test_the_phase_follows_from_the_state(
    is_rollback: bool, pause: str | None, finished: int | None, phase: str
) -> None:
    assert STATE._replace(is_rollback=is_rollback, pause=pause, finished=finished).phase == phase


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (None, "not a JSON object"),
        ({"version": 9}, "version 9 is not supported"),
        ({"version": 1}, "missing required field cluster"),
        ({**build_state_record(STATE), "moving": {"orders": {"stages": 1}}}, "expected array, got int"),
        ({**build_state_record(STATE), "moving": {"orders": {}}}, "the field stages is missing"),
        ({**build_state_record(STATE), "nameServers": "x"}, "expected array, got str at nameServers"),
    ],
)
def test_another_file_is_not_a_state(record: object, problem: str) -> None:
    with pytest.raises(InvalidStateError, match=problem):
        parse_state_record(record)


def test_an_unknown_stage_is_not_a_state() -> None:
    record = build_state_record(STATE)
    record["moving"]["orders"]["stages"][0]["kind"] = "dance"
    with pytest.raises(InvalidStateError, match="unknown stage dance"):
        parse_state_record(record)
