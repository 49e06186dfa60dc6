"""Rebalance plans in files: what is written, what is read, and the errors of wrong files."""

# ruff: noqa: E501 - lines of operators

from pathlib import Path
from zipfile import ZipFile

import pytest

from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError
from nsadmin.operations.rebalance.rebalance_plan import (
    BrokerShares,
    LoadShares,
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    format_rebalance_plan,
    load_rebalance_plan,
    parse_rebalance_plan,
    save_rebalance_plan,
)

EIGHT, FOUR = QueuePair(8, 8), QueuePair(4, 4)
MOVES = (
    RebalanceMove(
        "orders",
        True,
        {"broker-a": EIGHT, "broker-b": QueuePair(8, 4)},
        {"broker-b": FOUR, "broker-c": FOUR},
        order_conf="broker-b:4;broker-c:4",
        messages_to_consume=1200,
    ),
    RebalanceMove("audit", False, {"broker-a": EIGHT}, {"broker-b": EIGHT}, perm=4),
)
PLAN = RebalancePlan(
    "cluster-a",
    "2026-11-24T13:30:00Z",
    "load",
    "sample 300 s",
    MOVES,
    added=("broker-c",),
    removed=("broker-a",),
    groups_to_create={"broker-c": ("billing", "warehouse")},
    shares={
        "broker-a": BrokerShares(LoadShares(66.7, 60.0, 50.5, 50.0), LoadShares(0.0, 0.0, 0.0, 0.0)),
        "broker-c": BrokerShares(LoadShares(0.0, 0.0, 0.0, 0.0), LoadShares(50.0, 50.0, 50.0, 33.3)),
    },
    risks=("orders: ordered topic: run needs --ordered",),
)
TEXT = """\
# Rebalance plan of nsadmin: check and edit it, then run it with `nsadmin rebalance run FILE`.
# before must be the current state. A topic is deleted from brokers that are not under after.
# Delete a topic's entry to leave that topic as it is.
rebalancePlan: 1
cluster: cluster-a
created: '2026-11-24T13:30:00Z'
goal: load
source: sample 300 s
add:
- broker-c
remove:
- broker-a
risks:
- 'orders: ordered topic: run needs --ordered'
shares:
  broker-a:
    before: {writes: 66.7, reads: 60.0, disk: 50.5, queues: 50.0}
    after: {writes: 0.0, reads: 0.0, disk: 0.0, queues: 0.0}
  broker-c:
    before: {writes: 0.0, reads: 0.0, disk: 0.0, queues: 0.0}
    after: {writes: 50.0, reads: 50.0, disk: 50.0, queues: 33.3}
groupsToCreate:
  broker-c:
  - billing
  - warehouse
topics:
  orders:
    ordered: true
    orderConf: broker-b:4;broker-c:4
    messagesToConsume: 1200
    before:
      broker-a: {read: 8, write: 8}
      broker-b: {read: 8, write: 4}
    after:
      broker-b: {read: 4, write: 4}
      broker-c: {read: 4, write: 4}
  audit:
    perm: 4
    before:
      broker-a: {read: 8, write: 8}
    after:
      broker-b: {read: 8, write: 8}
"""


def list_problems(file_text: str) -> list[str]:
    with pytest.raises(InvalidPlanFileError) as caught:
        parse_rebalance_plan(file_text, "p.yaml")
    return list(caught.value.problem_lines)


def test_a_plan_is_written_as_yaml_that_a_person_can_edit() -> None:
    assert format_rebalance_plan(PLAN) == TEXT


def test_a_saved_plan_is_loaded_with_all_its_fields_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    plan_path = tmp_path / "plan.yaml"
    save_rebalance_plan(PLAN, plan_path)
    assert load_rebalance_plan(plan_path) == PLAN
    assert plan_path.stat().st_mode & 0o777 == 0o600


def test_a_short_plan_by_hand_has_defaults() -> None:
    plan = parse_rebalance_plan(
        "rebalancePlan: 1\ncluster: c\ntopics: {T: {before: {a: {read: 4, write: 4}}, "
        "after: {a: {read: 8, write: 8}}}}",
        "p.yaml",
    )
    assert plan == RebalancePlan("c", "", "load", "", (RebalanceMove("T", False, {"a": FOUR}, {"a": EIGHT}),))


@pytest.mark.parametrize(
    ("old_text", "new_text", "problem"),
    [
        ("rebalancePlan: 1", "rebalancePlan: 2", '4: rebalancePlan: invalid value "2": use 1'),
        (
            "cluster: cluster-a\n",
            "",
            '4: the key "cluster" is missing: add "cluster: VALUE" (name of the cluster)',
        ),
        (
            "broker-b: {read: 4, write: 4}",
            "broker-b: {read: 4, write: 5}",
            "35: topics.orders.after.broker-b: write must not be greater than read: consumers would miss "
            "messages",
        ),
        (
            "broker-b: {read: 4, write: 4}",
            "broker-b: {read: 4, write: many}",
            '35: topics.orders.after.broker-b.write: invalid value "many": use a whole number from 0 to 65536',
        ),
        (
            "broker-b: {read: 4, write: 4}",
            "broker-b: {read: 4}",
            '35: topics.orders.after.broker-b: the key "write" is missing: add "write: VALUE" (number of write queues)',
        ),
        (
            "broker-b: {read: 4, write: 4}",
            "broker-a: {read: 4, write: 4}",
            "35: topics.orders.after.broker-a: the broker is under remove: delete this line",
        ),
        (
            "    after:\n      broker-b: {read: 8, write: 8}\n",
            "    after: {broker-b: {read: 8, write: 0}}\n",
            "41: topics.audit.after: no broker has a write queue: keep at least one",
        ),
        (
            "remove:\n- broker-a",
            "remove:\n- broker-c",
            '11: broker "broker-c" is under add and remove: delete one of them',
        ),
        (
            "writes: 66.7",
            "writes: 101",
            '17: shares.broker-a.before.writes: invalid value "101": use a number from 0 to 100',
        ),
        (
            "goal: load",
            "goal: laod",
            '7: goal: invalid value "laod": use one of load, queues, disk; did you mean "load"?',
        ),
        ("  audit:\n", "  audit:\n    perms: 4\n", None),
    ],
)
def test_a_wrong_file_is_refused_with_the_line_and_the_field(
    old_text: str, new_text: str, problem: str | None
) -> None:
    assert old_text in TEXT
    [first_problem, *_] = list_problems(TEXT.replace(old_text, new_text, 1))
    assert first_problem == f"p.yaml:{problem}" or (problem is None and "unknown key" in first_problem)


def test_a_file_that_is_no_plan_is_refused(tmp_path: Path) -> None:
    assert list_problems("") == ["p.yaml:1: the file is empty: make the plan again"]
    assert list_problems("- a") == ["p.yaml:1: must be a map, such as {rebalancePlan: VALUE}"]
    assert list_problems("a: [")[0].startswith("p.yaml:1: invalid YAML: the [ here is not closed")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(
        InvalidPlanFileError, match="binary is not a text file: make a plan with nsadmin rebalance plan"
    ):
        load_rebalance_plan(tmp_path / "binary")


def test_the_digest_changes_with_a_move_and_not_with_figures_risks_or_order() -> None:
    assert parse_rebalance_plan(TEXT, "p.yaml").digest == PLAN.digest
    assert PLAN._replace(shares={}, risks=(), moves=MOVES[::-1]).digest == PLAN.digest
    assert PLAN._replace(moves=MOVES[1:]).digest != PLAN.digest
    assert len(PLAN.digest) == 12


def test_a_move_lists_the_brokers_that_change() -> None:
    assert MOVES[0].changed_brokers == ("broker-a", "broker-b", "broker-c")
    assert PLAN.messages_to_consume == 1200


def test_a_file_of_another_kind_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidPlanFileError, match="this is a cluster file, which is for nsadmin apply: make a plan with"
    ):
        parse_rebalance_plan("cluster: C\ntopics: {}\n", "cluster.yaml")
    with pytest.raises(InvalidPlanFileError, match="this is another YAML file"):
        parse_rebalance_plan("a: 1\n", "a.yaml")
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a", b"\xff")
    with pytest.raises(InvalidPlanFileError, match="is a ZIP file, such as a backup or a bundle"):
        load_rebalance_plan(tmp_path / "a.zip")
