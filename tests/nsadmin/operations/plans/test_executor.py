"""Steps carried out in the lab, and what is said of those that could not be."""

from collections.abc import Iterable
from typing import Any

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin import AdminClient
from nsadmin.client import ServerResult
from nsadmin.client.topics.bulk_changes import BulkAdmin
from nsadmin.operations.plans.cluster_export import describe_cluster
from nsadmin.operations.plans.diff import compute_diff
from nsadmin.operations.plans.executor import StepOutcome, execute_steps
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from tests.nsadmin.operations.plans.conftest import CLUSTER, A, B
from tests.support.lab import Lab

FILE = f"""
cluster: {CLUSTER}
topics:
  audit: {{onlyOn: [{A}], readQueueNums: 4, attributes: {{message.type: FIFO}}}}
  orders: {{readQueueNums: 4, writeQueueNums: 4, perm: 4, perBroker: {{{B}: {{perm: 6}}}}}}
  plain: {{}}
groups:
  auditors: {{retryMaxTimes: 3, attributes: {{priority.factor: "2"}}}}
  search-indexer: {{consumeEnable: false}}
orderConf:
  orders: {A}:4;{B}:4
kv:
  DEPLOYMENT: {{stage: canary, note: ""}}
"""


def applied(admin: AdminClient, desired: DesiredCluster, *, prune: bool = False) -> list[StepOutcome]:
    live = observe_cluster(admin, CLUSTER, desired.kv_tables or (), desired.partial_topics)
    return execute_steps(admin, live, compute_diff(desired, live, prune=prune).steps)


def left(admin: AdminClient, desired: DesiredCluster, *, prune: bool = False) -> int:
    live = observe_cluster(admin, CLUSTER, desired.kv_tables or (), desired.partial_topics)
    return len(compute_diff(desired, live, prune=prune).steps)


def errors(outcomes: Iterable[StepOutcome]) -> dict[tuple[str, str, str], str]:
    return {
        (item.step.kind, item.step.item_name, item.step.server_name): str(item.error)
        for item in outcomes
        if item.error
    }


def test_a_whole_file_and_once_more(admin: AdminClient) -> None:
    desired = read_desired_cluster(FILE, "f")
    done: list[int] = []
    live = observe_cluster(admin, CLUSTER, desired.kv_tables or ())
    steps = compute_diff(desired, live, prune=True).steps
    outcomes = execute_steps(admin, live, steps, done.append)
    assert {item.result for item in outcomes} == {"done"}
    assert [item.step for item in outcomes] == list(steps)
    assert sum(done) == len(steps)
    assert left(admin, desired, prune=True) == 0
    again, remarks = describe_cluster(observe_cluster(admin, CLUSTER, ["DEPLOYMENT"]), ["DEPLOYMENT"])
    assert (again, remarks) == (desired, [])


def test_what_it_becomes_is_what_it_was(admin: AdminClient) -> None:
    before, _ = describe_cluster(observe_cluster(admin, CLUSTER))
    nothing = DesiredCluster(CLUSTER, {}, {}, {})
    assert errors(applied(admin, nothing, prune=True)) == {}
    assert left(admin, nothing, prune=True) == 0
    assert errors(applied(admin, before)) == {}
    assert describe_cluster(observe_cluster(admin, CLUSTER))[0] == before


def test_what_hangs_on_a_step_that_failed_is_not_tried(admin: AdminClient) -> None:
    more = {"readQueueNums": 16, "writeQueueNums": 16}
    refused = {"attributes": {"no.such.key": "1"}}
    desired = DesiredCluster(
        CLUSTER, {"orders": ItemSpec({**more, **refused}), "plain": ItemSpec()}, None, {"orders": f"{A}:16"}
    )
    outcomes = applied(admin, desired)
    assert errors(outcomes) == {
        ("topic", "orders", A): "SYSTEM_ERROR (1): unsupported key: no.such.key",
        ("topic", "orders", B): "SYSTEM_ERROR (1): unsupported key: no.such.key",
        **{
            ("orderConf", "orders", addr): "skipped: an earlier step for this topic failed"
            for addr in admin.addresses.addrs
        },
    }
    assert [item.result for item in outcomes] == ["failed", "failed", "done", "done", "skipped", "skipped"]
    assert admin.order_confs.get_each("orders")[0].result != f"{A}:16"


def test_a_broker_that_is_gone_hides_nobody(running_lab: Lab, admin: AdminClient) -> None:
    desired = DesiredCluster(CLUSTER, {f"t{at}": ItemSpec() for at in range(300)}, {"g": ItemSpec()})
    live = observe_cluster(admin, CLUSTER)
    steps = compute_diff(desired, live).steps
    running_lab.kill(B, 0)
    outcomes = execute_steps(admin, live, steps)
    assert {(item.step.server_name, item.result) for item in outcomes} == {(A, "done"), (B, "failed")}
    assert left(admin, desired) == 0


def test_what_was_done_without_an_answer_counts(admin: AdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    put = BulkAdmin.put_topics

    def late(bulk: BulkAdmin, batches: Any) -> Any:
        lost = CallError("x", "timeout", "no answer")
        return [ServerResult(answer.addr, None, lost) for answer in put(bulk, batches)]

    monkeypatch.setattr(BulkAdmin, "put_topics", late)
    assert errors(applied(admin, DesiredCluster(CLUSTER, {"new": ItemSpec(), "more": ItemSpec()}))) == {}


def test_what_is_there_counts_whatever_was_answered(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that was refused in the middle: to take an attribute away once more is refused too."""
    applied(admin, DesiredCluster(CLUSTER, {"new": ItemSpec({"attributes": {"message.type": "FIFO"}})}))
    put = BulkAdmin.put_topics

    def refused(bulk: BulkAdmin, batches: Any) -> Any:
        return [ServerResult(a.addr, None, RequestError("no such key", 1)) for a in put(bulk, batches)]

    monkeypatch.setattr(BulkAdmin, "put_topics", refused)
    assert errors(applied(admin, DesiredCluster(CLUSTER, {"new": ItemSpec(), "more": ItemSpec()}))) == {}


def test_a_list_of_which_nothing_was_done_is_done_one_by_one(admin: AdminClient) -> None:
    """As it is when somebody has made one of the topics meanwhile."""
    desired = DesiredCluster(CLUSTER, {"new": ItemSpec(), "more": ItemSpec()})
    live = observe_cluster(admin, CLUSTER)
    applied(admin, DesiredCluster(CLUSTER, {"new": ItemSpec(only_on=(A,))}))
    assert errors(execute_steps(admin, live, compute_diff(desired, live).steps)) == {}
    assert left(admin, desired) == 0


def test_queues_that_others_add_meanwhile_stay(admin: AdminClient) -> None:
    desired = DesiredCluster(CLUSTER, {"orders": ItemSpec({"readQueueNums": 4, "writeQueueNums": 4})})
    live = observe_cluster(admin, CLUSTER)
    steps = compute_diff(desired, live).steps
    more = {"readQueueNums": 16, "writeQueueNums": 16}
    applied(admin, DesiredCluster(CLUSTER, {"orders": ItemSpec(more, only_on=(A,))}))
    outcomes = execute_steps(admin, live, steps)
    assert errors(outcomes) == {
        ("topic", "orders", A): "not sent: another change came meanwhile, so make a new plan"
    }
    [result] = [o.result for o in outcomes if o.step.server_name == B]
    assert result == "done"


def test_what_a_server_says_is_not_believed(admin: AdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(bulk: BulkAdmin, batches: Any) -> Any:
        return [ServerResult(addr, None, None) for addr, _ in batches]

    for name in ("put_topics", "put_groups", "put_values", "delete_groups"):
        monkeypatch.setattr(BulkAdmin, name, nothing)
    desired = DesiredCluster(
        CLUSTER, {"orders": ItemSpec({"perm": 2})}, {"g": ItemSpec()}, None, {"N": {"k": "v"}}
    )
    step_errors = errors(applied(admin, desired, prune=True))
    assert step_errors["topic", "orders", A] == "ignored: the broker kept the old perm and attributes"
    assert (
        step_errors["kv", "k", admin.addresses.addrs[0]]
        == "ignored: the server reported success, but has another value"
    )
    assert step_errors["group", "search-indexer", A] == "the server reported success, but still has the item"


def test_a_refusal_has_its_reason(admin: AdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = RequestError("no right", 16)
    refused = [ServerResult[Any]("x", None, refusal)] * 2
    monkeypatch.setattr(BulkAdmin, "put_values", lambda bulk, calls: refused)
    step_errors = errors(applied(admin, DesiredCluster(CLUSTER, None, None, None, {"N": {"k": "v"}})))
    assert set(step_errors.values()) == {str(refusal)}


def test_a_broker_that_takes_back_the_order_of_a_topic(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of 4.9 does while name servers have no order configuration of it."""
    put = BulkAdmin.put_topics

    def unordered(bulk: BulkAdmin, batches: Any) -> Any:
        return put(
            bulk,
            [
                (addr, [item._replace(wire_config={**item.wire_config, "order": False}) for item in items])
                for addr, items in batches
            ],
        )

    monkeypatch.setattr(BulkAdmin, "put_topics", unordered)
    desired = DesiredCluster(
        CLUSTER, {"with": ItemSpec(), "without": ItemSpec({"order": True})}, None, {"with": f"{A}:8"}
    )
    step_errors = errors(applied(admin, desired))
    assert set(step_errors) == {("topic", "without", A), ("topic", "without", B)}
    assert {why.partition("; ")[2] for why in step_errors.values()} == {
        "before 5.0 a topic without an orderConf is not ordered"
    }


def test_a_topic_that_leaves_a_broker_is_not_routed_to_it_any_more(admin: AdminClient) -> None:
    kept = DesiredCluster(
        CLUSTER, {"orders": ItemSpec(only_on=(A,), common_settings={"readQueueNums": 8})}, None, {}
    )
    outcomes = [item for item in applied(admin, kept, prune=True) if item.step.item_name == "orders"]
    assert [(item.step.kind, item.step.action, item.result) for item in outcomes[-3:]] == [
        ("topic", "delete", "done"), ("route", "update", "done"), ("route", "update", "done"),
    ]  # fmt: skip
    for permission in admin.bulk.get_topic_permissions(["orders"]):
        assert permission.result == {"orders": {A: 6, B: 0}}
    assert left(admin, kept, prune=True) == 0
    assert errors(applied(admin, DesiredCluster(CLUSTER, {"orders": ItemSpec()}))) == {}
    assert admin.bulk.get_topic_permissions(["orders"])[0].result == {"orders": {A: 6, B: 6}}


def test_stopped_anywhere_and_started_again_it_ends_in_the_same_state(admin: AdminClient) -> None:
    before, _ = describe_cluster(observe_cluster(admin, CLUSTER))
    wanted = read_desired_cluster(FILE, "f")
    stops = 0
    while stopped_after(stops, admin, wanted):
        assert errors(applied(admin, wanted, prune=True)) == {}
        assert describe_cluster(observe_cluster(admin, CLUSTER, ["DEPLOYMENT"]), ["DEPLOYMENT"])[0] == wanted
        assert errors(applied(admin, before._replace(kv_tables={"DEPLOYMENT": {}}), prune=True)) == {}
        assert describe_cluster(observe_cluster(admin, CLUSTER))[0] == before
        stops += 1
    # Creates, updates, groups, values, what is taken away, deletes and routes have each been the last.
    assert stops >= 7


def stopped_after(stops: int, admin: AdminClient, wanted: DesiredCluster) -> bool:
    """Whether it was stopped after so many rounds of requests, and not done before."""
    rounds = iter(range(stops))

    def advance(_: int) -> None:
        if next(rounds, None) is None:
            raise KeyboardInterrupt

    live = observe_cluster(admin, CLUSTER, wanted.kv_tables or (), wanted.partial_topics)
    try:
        execute_steps(admin, live, compute_diff(wanted, live, prune=True).steps, advance)
    except KeyboardInterrupt:
        return True
    return False


def test_a_step_that_was_carried_out_without_an_answer_has_a_late_error(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_topics = BulkAdmin.put_topics

    def answer_too_late(bulk: BulkAdmin, batches: Any) -> list[ServerResult[Any]]:
        return [
            ServerResult(answer.addr, None, CallError(answer.addr, "timeout", "no answer within 3 s"))
            for answer in put_topics(bulk, batches)
        ]

    monkeypatch.setattr(BulkAdmin, "put_topics", answer_too_late)
    outcomes = applied(admin, read_desired_cluster(f"cluster: {CLUSTER}\ntopics:\n  fresh: {{}}\n", "f"))
    assert {(item.result, item.error) for item in outcomes} == {("done", None)}
    assert {str(item.late_error).partition(": ")[2] for item in outcomes} == {"no answer within 3 s"}
