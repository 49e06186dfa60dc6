"""Steps carried out in the lab, and what is said of those that could not be."""

from collections.abc import Iterable
from typing import Any

import pytest

from namesrv_core.errors import RequestError
from namesrv_core.transport.calls import CallError
from nsadmin import AdminClient
from nsadmin.client import ServerResult
from nsadmin.client.bulk import Bulk
from nsadmin.operations.plans.carrying import Outcome, carry_out
from nsadmin.operations.plans.describing import described
from nsadmin.operations.plans.difference import difference
from nsadmin.operations.plans.observing import observe
from nsadmin.operations.plans.reading import read
from nsadmin.operations.plans.records import Desired, Spec
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


def applied(admin: AdminClient, desired: Desired, *, prune: bool = False) -> list[Outcome]:
    live = observe(admin, CLUSTER, desired.kv or (), desired.spread_partly)
    return carry_out(admin, live, difference(desired, live, prune=prune).steps)


def left(admin: AdminClient, desired: Desired, *, prune: bool = False) -> int:
    live = observe(admin, CLUSTER, desired.kv or (), desired.spread_partly)
    return len(difference(desired, live, prune=prune).steps)


def errors(outcomes: Iterable[Outcome]) -> dict[tuple[str, str, str], str]:
    return {
        (item.step.kind, item.step.name, item.step.server): str(item.error) for item in outcomes if item.error
    }


def test_a_whole_file_and_once_more(admin: AdminClient) -> None:
    desired = read(FILE, "f")
    done: list[int] = []
    live = observe(admin, CLUSTER, desired.kv or ())
    steps = difference(desired, live, prune=True).steps
    outcomes = carry_out(admin, live, steps, done.append)
    assert {item.result for item in outcomes} == {"done"}
    assert [item.step for item in outcomes] == list(steps)
    assert sum(done) == len(steps)
    assert left(admin, desired, prune=True) == 0
    again, remarks = described(observe(admin, CLUSTER, ["DEPLOYMENT"]), ["DEPLOYMENT"])
    assert (again, remarks) == (desired, [])


def test_what_it_becomes_is_what_it_was(admin: AdminClient) -> None:
    before, _ = described(observe(admin, CLUSTER))
    nothing = Desired(CLUSTER, {}, {}, {})
    assert errors(applied(admin, nothing, prune=True)) == {}
    assert left(admin, nothing, prune=True) == 0
    assert errors(applied(admin, before)) == {}
    assert described(observe(admin, CLUSTER))[0] == before


def test_what_hangs_on_a_step_that_failed_is_not_tried(admin: AdminClient) -> None:
    more = {"readQueueNums": 16, "writeQueueNums": 16}
    refused = {"attributes": {"no.such.key": "1"}}
    desired = Desired(
        CLUSTER, {"orders": Spec({**more, **refused}), "plain": Spec()}, None, {"orders": f"{A}:16"}
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
    assert admin.order_confs.each("orders")[0].result != f"{A}:16"


def test_a_broker_that_is_gone_hides_nobody(there: Lab, admin: AdminClient) -> None:
    desired = Desired(CLUSTER, {f"t{at}": Spec() for at in range(300)}, {"g": Spec()})
    live = observe(admin, CLUSTER)
    steps = difference(desired, live).steps
    there.kill(B, 0)
    outcomes = carry_out(admin, live, steps)
    assert {(item.step.server, item.result) for item in outcomes} == {(A, "done"), (B, "failed")}
    assert left(admin, desired) == 0


def test_what_was_done_without_an_answer_counts(admin: AdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    put = Bulk.put_topics

    def late(bulk: Bulk, batches: Any) -> Any:
        lost = CallError("x", "timeout", "no answer")
        return [ServerResult(answer.addr, None, lost) for answer in put(bulk, batches)]

    monkeypatch.setattr(Bulk, "put_topics", late)
    assert errors(applied(admin, Desired(CLUSTER, {"new": Spec(), "more": Spec()}))) == {}


def test_what_is_there_counts_whatever_was_answered(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that was refused in the middle: to take an attribute away once more is refused too."""
    applied(admin, Desired(CLUSTER, {"new": Spec({"attributes": {"message.type": "FIFO"}})}))
    put = Bulk.put_topics

    def refused(bulk: Bulk, batches: Any) -> Any:
        return [
            ServerResult(answer.addr, None, RequestError("no such key", 1)) for answer in put(bulk, batches)
        ]

    monkeypatch.setattr(Bulk, "put_topics", refused)
    assert errors(applied(admin, Desired(CLUSTER, {"new": Spec(), "more": Spec()}))) == {}


def test_a_list_of_which_nothing_was_done_is_done_one_by_one(admin: AdminClient) -> None:
    """As it is when somebody has made one of the topics meanwhile."""
    desired = Desired(CLUSTER, {"new": Spec(), "more": Spec()})
    live = observe(admin, CLUSTER)
    applied(admin, Desired(CLUSTER, {"new": Spec(only_on=(A,))}))
    assert errors(carry_out(admin, live, difference(desired, live).steps)) == {}
    assert left(admin, desired) == 0


def test_what_a_server_says_is_not_believed(admin: AdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(bulk: Bulk, batches: Any) -> Any:
        return [ServerResult(addr, None, None) for addr, _ in batches]

    for name in ("put_topics", "put_groups", "put_values", "delete_groups"):
        monkeypatch.setattr(Bulk, name, nothing)
    desired = Desired(CLUSTER, {"orders": Spec({"perm": 2})}, {"g": Spec()}, None, {"N": {"k": "v"}})
    found = errors(applied(admin, desired, prune=True))
    assert found["topic", "orders", A] == "ignored: the broker did not take the new perm and attributes"
    assert (
        found["kv", "k", admin.addresses.addrs[0]] == "ignored: the server said done, and has something else"
    )
    assert found["group", "search-indexer", A] == "the server said done, and has it still or again"


def test_a_refusal_has_its_reason(admin: AdminClient, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = RequestError("no right", 16)
    refused = [ServerResult[Any]("x", None, refusal)] * 2
    monkeypatch.setattr(Bulk, "put_values", lambda bulk, calls: refused)
    found = errors(applied(admin, Desired(CLUSTER, None, None, None, {"N": {"k": "v"}})))
    assert set(found.values()) == {str(refusal)}


def test_a_broker_that_takes_back_the_order_of_a_topic(
    admin: AdminClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of 4.9 does while name servers have no order configuration of it."""
    put = Bulk.put_topics

    def unordered(bulk: Bulk, batches: Any) -> Any:
        return put(
            bulk,
            [
                (addr, [item._replace(config={**item.config, "order": False}) for item in items])
                for addr, items in batches
            ],
        )

    monkeypatch.setattr(Bulk, "put_topics", unordered)
    desired = Desired(CLUSTER, {"with": Spec(), "without": Spec({"order": True})}, None, {"with": f"{A}:8"})
    found = errors(applied(admin, desired))
    assert set(found) == {("topic", "without", A), ("topic", "without", B)}
    assert {why.partition("; ")[2] for why in found.values()} == {
        "before 5.0 a topic without an orderConf is not ordered"
    }


def test_a_topic_that_leaves_a_broker_is_not_routed_to_it_any_more(admin: AdminClient) -> None:
    kept = Desired(CLUSTER, {"orders": Spec(only_on=(A,), settings={"readQueueNums": 8})}, None, {})
    outcomes = [item for item in applied(admin, kept, prune=True) if item.step.name == "orders"]
    assert [(item.step.kind, item.step.action, item.result) for item in outcomes[-3:]] == [
        ("topic", "delete", "done"), ("route", "update", "done"), ("route", "update", "done"),
    ]  # fmt: skip
    for found in admin.bulk.perms(["orders"]):
        assert found.result == {"orders": {A: 6, B: 0}}
    assert left(admin, kept, prune=True) == 0
    assert errors(applied(admin, Desired(CLUSTER, {"orders": Spec()}))) == {}
    assert admin.bulk.perms(["orders"])[0].result == {"orders": {A: 6, B: 6}}


def test_stopped_anywhere_and_started_again_it_ends_in_the_same_state(admin: AdminClient) -> None:
    before, _ = described(observe(admin, CLUSTER))
    wanted = read(FILE, "f")
    stops = 0
    while stopped_after(stops, admin, wanted):
        assert errors(applied(admin, wanted, prune=True)) == {}
        assert described(observe(admin, CLUSTER, ["DEPLOYMENT"]), ["DEPLOYMENT"])[0] == wanted
        assert errors(applied(admin, before._replace(kv={"DEPLOYMENT": {}}), prune=True)) == {}
        assert described(observe(admin, CLUSTER))[0] == before
        stops += 1
    # Creates, updates, groups, values, what is taken away, deletes and routes have each been the last.
    assert stops >= 7


def stopped_after(stops: int, admin: AdminClient, wanted: Desired) -> bool:
    """Whether it was stopped after so many rounds of requests, and not done before."""
    rounds = iter(range(stops))

    def advance(_: int) -> None:
        if next(rounds, None) is None:
            raise KeyboardInterrupt

    live = observe(admin, CLUSTER, wanted.kv or (), wanted.spread_partly)
    try:
        carry_out(admin, live, difference(wanted, live, prune=True).steps, advance)
    except KeyboardInterrupt:
        return True
    return False
