"""What a cluster is to have, less what it has."""

from typing import Any

from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.operations.plans.diff import ClusterDiff, PlanStep, compute_diff
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from tests.nsadmin.operations.plans.states import broker, group, live, server, silent, topic


def told(found: ClusterDiff) -> list[tuple[str, str, str, str]]:
    return [(step.action, step.kind, step.item_name, step.server_name) for step in found.steps]


def test_creates_and_updates_on_each_broker() -> None:
    state = live(broker("a", {"T": {"perm": 4}}), broker("b"))
    plan_diff = compute_diff(
        DesiredCluster("c", {"T": ItemSpec({"perm": 4, "readQueueNums": 9})}, {"g": ItemSpec()}), state
    )
    after = topic(perm=4, readQueueNums=9)
    assert plan_diff.steps == (
        PlanStep("topic", "T", "a", topic(perm=4), after),
        PlanStep("topic", "T", "b", None, after),
        PlanStep("group", "g", "a", None, group()),
        PlanStep("group", "g", "b", None, group()),
    )
    assert plan_diff.deleted_items == set()


def test_what_the_file_has_not_stays_unless_it_is_pruned() -> None:
    state = live(
        broker("a", {"T": {}, "U": {}}, {"g": {}}),
        broker("b", {"T": {}}),
        server("ns:1", {"U": "a:8", "other": "x:1"}, {"N": {"k": "1", "old": "2"}}, ("T", "U", "gone")),
    )
    desired = DesiredCluster("c", {"T": ItemSpec(only_on=("a",))}, {}, {}, {"N": {"k": "1"}})
    kept = compute_diff(desired, state)
    assert (kept.steps, kept.troubles) == ((), ())
    assert kept.extra_items == (
        ("group", "g"),
        ("kv", "old"),
        ("orderConf", "U"),
        ("topic", "T"),
        ("topic", "U"),
    )
    gone = compute_diff(desired, state, prune=True)
    assert told(gone) == [
        ("delete", "orderConf", "U", "ns:1"),
        ("delete", "kv", "old", "ns:1"),
        ("delete", "group", "g", "a"),
        ("delete", "topic", "T", "b"),
        ("delete", "topic", "U", "a"),
        ("delete", "route", "U", "ns:1"),
        ("delete", "route", "gone", "ns:1"),
    ]
    assert gone.extra_items == ()
    assert sorted(gone.deleted_items) == [
        ("group", "", "g"),
        ("kv", "N", "old"),
        ("orderConf", ORDER_CONF_NAMESPACE, "U"),
        ("topic", "", "T"),
        ("topic", "", "U"),
    ]


def test_a_section_that_the_file_has_not_is_not_looked_at() -> None:
    state = live(broker("a", {"T": {}}, {"g": {}}), server("ns:1", {"T": "a:8"}, routed=("T", "old")))
    assert compute_diff(DesiredCluster("c", None, {"g": ItemSpec()}), state, prune=True) == ClusterDiff(
        (), (), ()
    )


def test_queues_are_there_before_clients_are_sent_to_them_and_go_after_that_has_ended() -> None:
    state = live(
        broker("a", {"Grows": {}, "Shrinks": {}, "Goes": {}}),
        server("ns:1", {"Grows": "a:8", "Shrinks": "a:8", "Goes": "a:8"}, routed=("Goes",)),
    )
    more, fewer = {"writeQueueNums": 9, "readQueueNums": 9}, {"writeQueueNums": 4}
    desired = DesiredCluster(
        "c", {"Grows": ItemSpec(more), "Shrinks": ItemSpec(fewer), "New": ItemSpec()}, {"g": ItemSpec()},
        {"Grows": "a:9", "Shrinks": "a:4"}, {"N": {"k": "v"}},
    )  # fmt: skip
    assert [(action, name) for action, _, name, _ in told(compute_diff(desired, state, prune=True))] == [
        ("update", "Grows"), ("create", "New"), ("create", "g"),
        ("delete", "Goes"), ("update", "Grows"), ("update", "Shrinks"), ("create", "k"),
        ("update", "Shrinks"), ("delete", "Goes"), ("delete", "Goes"),
    ]  # fmt: skip


def test_a_topic_with_an_order_configuration_is_ordered() -> None:
    state = live(broker("a", {"T": {"order": True}, "U": {}}), server("ns:1", {"T": "a:8"}))
    entries = {"T": "a:8", "U": "a:8", "New": "a:8"}
    plan_diff = compute_diff(
        DesiredCluster("c", {"T": ItemSpec(), "U": ItemSpec(), "New": ItemSpec()}, None, entries), state
    )
    # Brokers make it so by themselves, when they hear of it.
    assert [(step.kind, step.item_name) for step in plan_diff.steps] == [
        ("topic", "New"),
        ("orderConf", "New"),
        ("orderConf", "U"),
    ]
    assert plan_diff.steps[0].after["order"] is True
    assert compute_diff(DesiredCluster("c", {"T": ItemSpec()}), state).steps == ()


def test_an_order_configuration_goes_before_the_order_of_its_topic() -> None:
    state = live(broker("a", {"T": {"order": True}}), server("ns:1", {"T": "a:8"}))
    unordered = compute_diff(DesiredCluster("c", {"T": ItemSpec()}, None, {}), state, prune=True)
    # While there is one, a broker would give the topic its order back.
    assert [(step.kind, step.action) for step in unordered.steps] == [
        ("orderConf", "delete"),
        ("topic", "update"),
    ]


def test_a_group_that_brokers_would_refuse_is_trouble_unless_it_exists() -> None:
    long = "g" * 121
    state = live(broker("a", {}, {long: {"retryMaxTimes": 1}}), broker("b"))
    plan_diff = compute_diff(DesiredCluster("c", group_specs={long: ItemSpec()}), state)
    assert told(plan_diff) == [("update", "group", long, "a")]
    [trouble] = plan_diff.troubles
    assert (trouble.server_name, trouble.kind, trouble.item_name) == ("b", "group", long)
    assert "invalid group name" in str(trouble.error)


def test_attributes_that_brokers_would_refuse_are_trouble() -> None:
    diff = compute_diff(
        DesiredCluster(
            "cluster-a",
            {"old": ItemSpec({"attributes": {"queue.type": "BatchCQ"}})},
            {"new": ItemSpec({"attributes": {"priority.factor": "101", "no.such": "1"}})},
        ),
        live(broker("broker-a", {"old": topic()})),
    )
    assert (diff.steps, [(t.item_name, str(t.error)) for t in diff.troubles]) == (
        (),
        [
            ("old", 'a broker sets "queue.type" only when it creates the topic'),
            ("new", 'invalid value "101" of priority.factor: use 0 to 100'),
        ],
    )


def test_each_name_server_by_itself() -> None:
    state = live(broker("a"), server("ns:1", {}, {"N": {"k": "1"}}), server("ns:2", {}, {"N": {"k": "2"}}))
    plan_diff = compute_diff(DesiredCluster("c", None, None, None, {"N": {"k": "2"}}), state)
    assert plan_diff.steps == (PlanStep("kv", "k", "ns:1", "1", "2", "N"),)


def test_what_nobody_knows_is_trouble_and_no_step() -> None:
    error: Any = silent("b").error
    state = live(
        broker("a", {"S": {}}, static=frozenset({"S"})), silent("b"), server("ns:1", routed=("old",)),
        server("ns:2")._replace(error=error),
    )  # fmt: skip
    desired = DesiredCluster(
        "c", {"S": ItemSpec({"perm": 4}), "T": ItemSpec(only_on=("a", "z"))}, None, {"T": "a:8"}
    )
    plan_diff = compute_diff(desired, state, prune=True)
    assert told(plan_diff) == [("create", "topic", "T", "a"), ("create", "orderConf", "T", "ns:1")]
    assert [(item.server_name, item.item_name, str(item.error)) for item in plan_diff.troubles] == [
        ("b", "", str(error)),
        ("ns:2", "", str(error)),
        ("z", "", "the broker is not registered, but the file names it for 1 topic"),
        ("a", "S", "static topic: `nsadmin updateStaticTopic --help` shows how to change it"),
    ]


def test_a_topic_that_leaves_some_brokers_is_not_routed_to_them_any_more() -> None:
    perms = {"T": {"a": 6, "b": 6, "c": 6, "elsewhere": 6}, "U": {"a": 6, "b": 0}, "V": {"b": 6}}
    state = live(
        broker("a", {"T": {}, "U": {}}), broker("b", {"T": {}}), broker("c"),
        server("ns:1", routed=("T", "U", "V"), perms=perms),
    )  # fmt: skip
    partly = {name: ItemSpec(only_on=("a",)) for name in ("T", "U")} | {"V": ItemSpec(not_on=("a", "b", "c"))}
    desired = DesiredCluster("c", partly)
    assert desired.partial_topics == ["T", "U", "V"]
    plan_diff = compute_diff(desired, state, prune=True)
    assert plan_diff.steps == (
        PlanStep("topic", "T", "b", topic(), None),
        PlanStep("route", "T", "ns:1", {"b": 6, "c": 6}, {"b": 0, "c": 0}),
        PlanStep("route", "V", "ns:1", "routed", None),
    )
    assert [step.action for step in plan_diff.steps] == ["delete", "update", "delete"]
    assert compute_diff(desired, state).steps == ()
