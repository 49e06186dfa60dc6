"""The offsets before the last move, as the audit has them."""

from typing import Any

import pytest

from nsadmin.client import NotFound
from nsadmin.client.results import NotApplied
from nsadmin.commands.consumers.offset_undo import add_move_undos, find_former_offsets


def move(
    old_offset: int | None, *, command: str = "resetOffsetByTime G T -s -1", **changed: Any
) -> dict[str, Any]:
    row = {"group": "G", "topic": "T", "brokerName": "a", "queueId": 0, "from": old_offset, "result": "done"}
    return {"time": 1, "command": command, "nameServers": ["h:1"], "results": [row | changed]}


def find(*records: dict[str, Any]) -> dict[tuple[str, int], int | None]:
    return find_former_offsets(records, "G", "T", ["h:1", "h:2"])


def test_the_last_move_counts() -> None:
    others = [
        move(3, topic="U"),
        move(4, result="failed"),
        move(5) | {"nameServers": ["h:9"]},
        move(6, command="updateTopic T"),
    ]
    assert find(move(1), move(2), *others) == {("a", 0): 2}
    no_offset = move(1)
    del no_offset["results"][0]["from"]
    assert find(no_offset) == {("a", 0): None}


def test_what_the_audit_does_not_have_is_not_guessed() -> None:
    with pytest.raises(NotFound, match='no move of "G" on "T"'):
        find(move(1, group="H"))
    with pytest.raises(NotApplied, match="ended early"):
        find(move(1), move(2) | {"results": []})
    with pytest.raises(NotApplied, match="only the first 10000 queues"):
        find(move(1) | {"results": move(1)["results"] * 10_000})


def test_a_move_that_ran_again_after_a_failure_is_one_move() -> None:
    begun = move(4, result="unknown") | {"exitCode": 130}
    failed = move(4) | {"exitCode": 3}
    assert find(move(1), begun, failed, move(9)) == {("a", 0): 4}
    assert find(begun) == {("a", 0): 4}
    assert find(failed, move(8, command="skipAccumulatedMessage G T")) == {("a", 0): 8}


def test_an_undo_that_failed_is_repeated() -> None:
    undo = move(9, command="resetOffsetByTime G T --undo")
    assert find(move(4), undo | {"exitCode": 3}) == {("a", 0): 4}
    assert find(move(4), undo | {"exitCode": 130, "results": []}) == {("a", 0): 4}
    assert find(move(4), undo | {"exitCode": 130}, undo) == {("a", 0): 9}


def test_only_the_last_move_has_a_command_that_undoes_it() -> None:
    failed = move(3, topic="U", result="failed")
    moves = [
        move(1),
        move(2) | {"context": "prod"},
        failed,
        move(4, command="updateTopic T"),
        {"command": "x"},
    ]
    assert [record["undo"] for record in add_move_undos(moves)] == [
        None, "nsadmin resetOffsetByTime G T --undo --context prod", None, None, None,
    ]  # fmt: skip
    [other] = add_move_undos([move(1)])
    assert other["undo"] == "nsadmin resetOffsetByTime G T --undo -n h:1"
    moved_first = move(None) | {"results": [*move(None)["results"], *move(3)["results"]]}
    assert [bool(r["undo"]) for r in add_move_undos([moved_first, move(1, topic="U"), move(None)])] == [
        False, True, False,
    ]  # fmt: skip
    assert add_move_undos([moved_first])[0]["undo"]


def test_a_move_on_several_topics_has_one_command_that_undoes_it() -> None:
    both = move(3, command="skipAccumulatedMessage G")
    both["results"] += move(4, topic="U")["results"]
    later = move(5, command="skipAccumulatedMessage G U", topic="U")
    assert [record["undo"] for record in add_move_undos([both])] == [
        "nsadmin resetOffsetByTime G T,U --undo -n h:1"
    ]
    # The later move of U hides the one before.
    assert [record["undo"] for record in add_move_undos([both, later])] == [
        "nsadmin resetOffsetByTime G T --undo -n h:1", "nsadmin resetOffsetByTime G U --undo -n h:1",
    ]  # fmt: skip
    # It ended the search, although its command line names no topic.
    failed_before = move(1, command="skipAccumulatedMessage G T") | {"exitCode": 3}
    assert find(failed_before, both, move(9, command="resetOffsetByTime G T -s -1")) == {("a", 0): 9}
