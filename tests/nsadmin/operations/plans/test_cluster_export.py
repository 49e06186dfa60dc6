"""A cluster as it is to the file that would make it so."""

from nsadmin.operations.plans.cluster_export import describe_cluster, select_cluster_confs
from nsadmin.operations.plans.diff import compute_diff
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.yaml_reader import read_desired_cluster
from nsadmin.operations.plans.yaml_writer import format_cluster
from tests.nsadmin.operations.plans.states import broker, live, server, silent

GROUPS = {"g": {"retryMaxTimes": 3}}


def test_what_brokers_have_for_themselves_is_left_out() -> None:
    state = live(broker("a", {"T": {}}, GROUPS), broker("b", {"T": {}}, GROUPS))
    assert describe_cluster(state) == (
        DesiredCluster("c", {"T": ItemSpec()}, {"g": ItemSpec({"retryMaxTimes": 3})}, {}),
        [],
    )


def test_an_export_can_be_applied_whatever_names_it_has() -> None:
    """Older brokers accepted names that nothing creates now. Only new names must follow the rules."""
    state = live(broker("a", {"test.test1": {}, "two words": {"perm": 4}}, {"a.b": {}, "#é: ~": {}}))
    desired = read_desired_cluster(format_cluster(describe_cluster(state)[0]), "file")
    assert compute_diff(desired, state, prune=True) == ((), (), ())
    missing = compute_diff(desired, live(broker("a")))
    assert missing.steps == ()
    assert {trouble.item_name for trouble in missing.troubles} == {"test.test1", "two words", "a.b", "#é: ~"}


def test_what_is_otherwise_on_some_brokers() -> None:
    state = live(broker("a", {"T": {"perm": 4}}), broker("b", {"T": {}, "U": {}}), broker("c", {"T": {}}))
    assert describe_cluster(state)[0].topic_specs == {
        "T": ItemSpec(per_broker={"a": {"perm": 4}}),
        "U": ItemSpec(only_on=("b",)),
    }


def test_an_order_configuration_says_that_a_topic_is_ordered() -> None:
    ordered = {"order": True}
    brokers = broker("a", {"T": ordered, "U": ordered}), broker("b", {"T": {}, "U": ordered})
    state = live(*brokers, server(orders={"T": "a:8"}))
    desired, _ = describe_cluster(state)
    assert desired.topic_specs == {"T": ItemSpec(), "U": ItemSpec(ordered)}
    assert desired.order_confs == {"T": "a:8"}


def test_order_configurations_of_other_clusters_are_theirs() -> None:
    entries = {"T": "x:1", "U": "x:1", "V": "x:1;a:2"}
    assert select_cluster_confs(entries, [broker("a", {"T": {}}), silent("b")]) == {
        "T": "x:1",
        "V": "x:1;a:2",
    }


def test_what_cannot_be_told_is_said() -> None:
    state = live(
        broker("a", {"T": {}, "S": {}}, static=frozenset({"S"})),
        silent("b"),
        server("ns:1", {"T": "a:8", "a": "a"}, {"N": {"k": "1", "l": "2"}}),
        server("ns:2", {"T": "a:4"}, {"N": {"k": "3", "m": "4"}}),
    )
    desired, remarks = describe_cluster(state, ["N"])
    assert desired == DesiredCluster(
        "c", {"T": ItemSpec()}, {}, {"T": "a:8"}, {"N": {"k": "1", "l": "2", "m": "4"}}
    )
    disagree = "name servers have different values in the KV namespace"
    assert remarks == [
        "broker b: no answer; its settings are missing from this file",
        'not exported: the malformed order configuration of a: invalid entry "a": give '
        "each broker a number of queues, as in broker-a-0:8;broker-a-1:8",
        f"{disagree} N: this file has the values of the first name server",
        f"{disagree} ORDER_TOPIC_CONFIG: this file has the values of the first name server",
        "not exported: the static topics S",
    ]


def test_nothing_differs_from_what_was_described() -> None:
    state = live(
        broker("a", {"T": {"order": True}, "U": {"perm": 4}}, GROUPS),
        broker("b", {"T": {"order": True}}),
        server("ns:1", {"T": "a:8"}, {"N": {"k": "1"}}, ("T", "U")),
    )
    plan_diff = compute_diff(describe_cluster(state, ["N"])[0], state, prune=True)
    assert (plan_diff.steps, plan_diff.troubles, plan_diff.extra_items) == ((), (), ())
