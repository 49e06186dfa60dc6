"""YAML to what a cluster is to have, and what is said of mistakes."""

# ruff: noqa: E501 - lines of operators

import pytest

from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, read_desired_cluster
from tests.support.bounded_process import run_bounded
from tests.support.hostile_yaml import HOSTILE_YAML

FILE = """\
# yaml-language-server: $schema=cluster.schema.json
version: 1
cluster: cluster-a
topics:
  audit: {onlyOn: [broker-a]}
  orders:
    <<: &big {readQueueNums: 16, writeQueueNums: 16}
    readQueueNums: 8
    attributes: {message.type: FIFO}
    notOn: [broker-b]
    perBroker:
      broker-c: {perm: 4}
  payments: *big
  plain:
groups:
  warehouse: {groupRetryPolicy: {type: CUSTOMIZED, customizedRetryPolicy: {next: [1000, 5000]}}}
orderConf:
  orders: broker-a:8;broker-c:8
kv:
  DEPLOYMENT: {stage: canary, retries: 3, on: yes, empty: ""}
"""


def problems(text: str) -> list[str]:
    with pytest.raises(InvalidPlanFileError) as caught:
        read_desired_cluster(text, "c.yaml")
    return list(caught.value.problem_lines)


def test_a_whole_file() -> None:
    policy = {"type": "CUSTOMIZED", "customizedRetryPolicy": {"next": (1000, 5000)}}
    big = {"readQueueNums": 16, "writeQueueNums": 16}
    assert read_desired_cluster(FILE, "c.yaml") == DesiredCluster(
        "cluster-a",
        {
            "audit": ItemSpec(only_on=("broker-a",)),
            "orders": ItemSpec(
                {**big, "readQueueNums": 8, "attributes": {"message.type": "FIFO"}},
                not_on=("broker-b",),
                per_broker={"broker-c": {"perm": 4}},
            ),
            "payments": ItemSpec(big),
            "plain": ItemSpec(),
        },
        {"warehouse": ItemSpec({"groupRetryPolicy": policy})},
        {"orders": "broker-a:8;broker-c:8"},
        {"DEPLOYMENT": {"stage": "canary", "retries": "3", "on": "yes", "empty": ""}},
    )


def test_what_a_file_does_not_speak_of() -> None:
    assert read_desired_cluster("cluster: c\ntopics:\n", "c.yaml") == DesiredCluster(
        "c", {}, None, None, None
    )


def test_every_mistake_has_its_line_and_what_is_allowed() -> None:
    text = """\
cluster: c
topics:
  orders: {readQueuNums: 4, perm: 9, order: maybe}
  two words: {}
  payments:
    topicFilterType: single_tag
    attributes: [a]
    perBroker: {}
    onlyOn: [broker a]
kvs: {}
"""
    names = "readQueueNums, writeQueueNums, perm, order, topicFilterType, topicSysFlag, attributes"
    assert problems(text) == [
        "c.yaml:3: topics.orders.order: 'maybe' cannot be: it has to be true or false",
        "c.yaml:3: topics.orders.perm: '9' cannot be: it has to be a whole number from 0 to 7",
        "c.yaml:3: topics.orders.readQueuNums is unknown; did you mean readQueueNums?"
        f" (there are: {names}, onlyOn, notOn, perBroker)",
        "c.yaml:4: topics: 'two words' is no topic: write letters, digits and % | _ -, 127 at most",
        "c.yaml:6: topics.payments.topicFilterType: 'single_tag' cannot be: it has to be one of SINGLE_TAG,"
        " MULTI_TAG; did you mean SINGLE_TAG?",
        "c.yaml:7: topics.payments.attributes: this has to be a map of KEY: VALUE",
        "c.yaml:9: topics.payments.onlyOn[0]: 'broker a' is no broker name: write no blank, no : and no ;",
        "c.yaml:10: kvs is unknown; did you mean kv? (there are: version, cluster, topics, groups, orderConf, kv)",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "c.yaml:1: there is nothing in it: cluster is missing"),
        ("~", "c.yaml:1: there is nothing in it: cluster is missing"),
        ("topics: {}", "c.yaml:1: cluster is missing: name of the cluster"),
        ("- a", "c.yaml:1: this has to be a map of KEY: VALUE"),
        ("cluster: [a", "c.yaml:2: no YAML: did not find expected ',' or ']'"),
        ("cluster: c\nversion: 2", "c.yaml:2: version: '2' cannot be: it has to be 1"),
        ("cluster: c\nversion: [1]", "c.yaml:2: version: this has to be 1"),
        ("cluster: c\ntopics:\n  a: {}\n  a: {}", "c.yaml:4: topics.a: this is there twice"),
        (f"cluster: c\ntopics:\n  {'x' * 128}: {{}}", f"c.yaml:3: topics: '{'x' * 128}' is no topic: write letters, digits and % | _ -, 127 at most"),
        ("cluster: c\ntopics: {a: {onlyOn: b}}", "c.yaml:2: topics.a.onlyOn: this has to be a list, such as [a, b]"),
        ("cluster: c\norderConf: {a: b}", "c.yaml:2: orderConf.a: 'b' is no order configuration: write BROKER:QUEUES;BROKER:QUEUES"),
        ("cluster: c\nkv: {N: {k: }}", 'c.yaml:2: kv.N.k: this has to be a text: an empty one is ""'),
        ("cluster: c\ngroups: {g: {subscriptionDataSet: [{}]}}", "c.yaml:2: groups.g.subscriptionDataSet[0]: topic is missing: the topic"),
    ],
)  # fmt: skip
def test_one_mistake(text: str, problem: str) -> None:
    assert problems(text)[0] == problem


def test_what_cannot_be_true_together() -> None:
    text = """\
cluster: c
topics:
  a: {onlyOn: [x], notOn: [y]}
  b: {onlyOn: [x], perBroker: {y: {perm: 4}}}
  ordered: {order: false}
orderConf:
  ordered: broker-a:8
kv:
  ORDER_TOPIC_CONFIG: {}
"""
    assert problems(text) == [
        "c.yaml:3: topics.a: onlyOn and notOn exclude each other: leave one",
        "c.yaml:4: topics.b: perBroker speaks of y, which is not to have it",
        "c.yaml:5: topics.ordered: order: false cannot be: brokers make a topic ordered that has an orderConf",
        "c.yaml:9: kv: ORDER_TOPIC_CONFIG has a place of its own: write its keys under orderConf",
    ]


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_one_problem_each(name: str) -> None:
    program = """
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, read_desired_cluster
from tests.support.hostile_yaml import HOSTILE_YAML
try:
    read_desired_cluster("cluster: c\\nkv:\\n  n: " + HOSTILE_YAML[sys.argv[1]].replace("\\n", "\\n    "), "f")
except InvalidPlanFileError as error:
    print(error)
"""
    assert run_bounded(program, name).startswith("f:")


@pytest.mark.parametrize("merged", ["5", "[1]", "[[]]"])
def test_a_merge_key_without_a_map_is_a_mistake(merged: str) -> None:
    with pytest.raises(InvalidPlanFileError, match="<< has to be a map, or a list of maps"):
        read_desired_cluster(f"cluster: c\ntopics: {{<<: {merged}}}\n", "f")
