"""Rows, summaries and warnings about steps."""

from namesrv_core.errors import RocketMQError
from nsadmin.commands.procedures.plan_rows import (
    pending_outcomes,
    preview_steps,
    step_rows,
    stranded_warnings,
    summarize_plan,
    unread_warnings,
)
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, PlanTrouble
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.plans.settings import complete_settings
from tests.nsadmin.operations.plans.states import broker, live, server

WAS = complete_settings("topic", {})
FEWER = complete_settings("topic", {"readQueueNums": 6, "writeQueueNums": 4})
STEPS = (
    PlanStep("topic", "T", "a", WAS, FEWER),
    PlanStep("topic", "T", "b", WAS, FEWER),
    PlanStep("topic", "New", "b", None, complete_settings("topic", {"order": True})),
    PlanStep("group", "g", "a", None, complete_settings("group", {})),
    PlanStep("kv", "k", "ns:1", "1", "2", "N"),
    PlanStep("orderConf", "T", "ns:1", "a:8", None, "ORDER_TOPIC_CONFIG"),
    PlanStep("route", "T", "ns:1", "routed", None),
    PlanStep("route", "U", "ns:1", {"a": 6, "b": 4}, {"a": 0, "b": 0}),
)
ERROR = RocketMQError("no answer")


def difference(*steps: PlanStep, troubles: tuple[PlanTrouble, ...] = (), extra: int = 0) -> ClusterDiff:
    return ClusterDiff(steps, troubles, tuple(("topic", f"x{at}") for at in range(extra)))


def test_what_is_alike_is_one_row() -> None:
    plan_rows = step_rows(pending_outcomes(difference(*STEPS), "planned"), (), {})
    row_fields = [
        (row["kind"], row["name"], row["action"], row["servers"], row["changes"]) for row in plan_rows.rows
    ]
    assert row_fields == [
        ("topic", "T", "update", ["a", "b"], "readQueueNums 8 -> 6, writeQueueNums 8 -> 4"),
        ("topic", "New", "create", ["b"], "new: readQueueNums 8, writeQueueNums 8, perm rw-, order true"),
        ("group", "g", "create", ["a"], "new: consumeEnable true, retryMaxTimes 16, retryQueueNums 1"),
        ("kv", "N k", "update", ["ns:1"], "1 -> 2"),
        ("orderConf", "T", "delete", ["ns:1"], "removed: a:8"),
        ("route", "T", "delete", ["ns:1"], "removed: its route"),
        (
            "route",
            "U",
            "update",
            ["ns:1"],
            "closes the queues of a (rw-), b (r--) in its route: these brokers do not have the topic",
        ),
    ]
    assert (plan_rows.rows[0]["before"], plan_rows.rows[0]["after"], plan_rows.rows[2]["before"]) == (
        WAS,
        FEWER,
        None,
    )
    assert plan_rows.errors == [None] * 8


def test_what_came_out_otherwise_is_a_row_of_its_own() -> None:
    outcomes = [StepOutcome(STEPS[0], "done", None), StepOutcome(STEPS[1], "failed", ERROR)]
    trouble = PlanTrouble("c", ERROR)
    plan_rows = step_rows(outcomes, [trouble, PlanTrouble("a", ERROR, "topic", "S")], {})
    row_fields = [(row["name"], row["servers"], row["result"], row["error"]) for row in plan_rows.rows]
    assert row_fields == [
        ("T", ["a"], "done", None),
        ("T", ["b"], "failed", "no answer"),
        (None, ["c"], "unknown", "no answer"),
        ("S", ["a"], "failed", "no answer"),
    ]
    assert plan_rows.errors == [None, ERROR, ERROR, ERROR]


def test_a_plan_without_steps_is_partly_known_where_a_server_is_silent() -> None:
    assert step_rows([], [PlanTrouble("c", ERROR)], {}).errors == [None, ERROR]
    assert step_rows([], [], {}).errors == [None]


def test_messages_in_queues_that_go() -> None:
    first, second, *_ = STEPS
    plan_rows = step_rows(pending_outcomes(difference(first, second), "planned"), (), {first: 3, second: 4})
    assert plan_rows.rows[0]["messages"] == 7
    assert (
        step_rows(pending_outcomes(difference(first, second), "planned"), (), {first: 3, second: None}).rows[
            0
        ]["messages"]
        is None
    )
    first_step = PlanStep("topic", "T", "a", WAS, complete_settings("topic", {"readQueueNums": 7}))
    gone = PlanStep("topic", "Old", "a", WAS, None)
    assert stranded_warnings({first: 3, second: 0, first_step: 1, gone: None}) == [
        "T on a: 3 unconsumed messages in queues 6 to 7 become unreadable",
        "T on a: 1 unconsumed message in queue 7 becomes unreadable",
        "Old on a: its queues become unreadable, with an unknown number of messages",
    ]


def test_more_write_queues_than_read_queues_are_warned_of() -> None:
    unread = complete_settings("topic", {"readQueueNums": 4})
    write_only = complete_settings("topic", {"perm": 2})
    steps = [PlanStep("topic", "T", name, WAS, unread) for name in ("a", "b")]
    steps += [PlanStep("topic", "New", "a", None, write_only), PlanStep("topic", "Kept", "a", unread, unread)]
    assert unread_warnings(steps) == [
        "consumers will not be able to read the messages of T in queues 4 and up on a, b",
        "consumers will not be able to read the messages of New in any queue on a",
    ]


def test_how_much_there_is_to_do() -> None:
    assert summarize_plan(difference(*STEPS)) == "2 to create, 3 to update, 1 to delete"
    assert summarize_plan(difference()) == "no changes"
    assert (
        summarize_plan(difference(troubles=(PlanTrouble("c", ERROR),)))
        == "no changes on the servers that answered"
    )
    static = PlanTrouble("c", ERROR, "topic", "T")
    assert summarize_plan(difference(troubles=(static,))) == "no changes that are possible"
    assert summarize_plan(difference(extra=1)) == (
        "no changes; 1 item of the cluster that the file does not have stays (without --prune)"
    )


def test_who_is_asked_sees_the_first_steps() -> None:
    state = live(broker("a"), broker("b"), server("ns:1"))
    lines = preview_steps(difference(*STEPS), state)
    assert lines[0] == "update topic T: readQueueNums 8 -> 6, writeQueueNums 8 -> 4"
    assert lines[1].endswith("order true (on b)")
    assert lines[3] == "update kv N k: 1 -> 2"
    many = [PlanStep("kv", f"k{at}", "ns:1", None, "v", "N") for at in range(25)]
    lines = preview_steps(difference(*many), state)
    assert (len(lines), lines[-1]) == (21, "... and 5 more: --dry-run shows all")
