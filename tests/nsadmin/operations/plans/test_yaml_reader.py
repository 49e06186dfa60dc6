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
  "two\\nlines": {}
  payments:
    topicFilterType: single_tag
    attributes: [a]
    perBroker: {}
    onlyOn: [broker a]
kvs: {}
"""
    assert problems(text) == [
        'c.yaml:3: topics.orders.order: invalid value "maybe": use true or false',
        'c.yaml:3: topics.orders.perm: invalid value "9": use a whole number from 0 to 7',
        'c.yaml:3: unknown key "topics.orders.readQueuNums": did you mean "readQueueNums"?',
        'c.yaml:4: topics: invalid topic "two\nlines": use a name of 1 to 255 characters, in one line',
        'c.yaml:6: topics.payments.topicFilterType: invalid value "single_tag": use one of SINGLE_TAG,'
        ' MULTI_TAG; did you mean "SINGLE_TAG"?',
        "c.yaml:7: topics.payments.attributes: must be a map, such as {NAME: VALUE}",
        'c.yaml:9: topics.payments.onlyOn[0]: invalid broker name "broker a": use a name without blanks, '
        "colons and semicolons",
        'c.yaml:10: unknown key "kvs": did you mean "kv"?',
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", 'c.yaml:1: the file is empty: add a line "cluster: NAME"'),
        ("~", 'c.yaml:1: the file is empty: add a line "cluster: NAME"'),
        ("topics: {}", 'c.yaml:1: the key "cluster" is missing: add "cluster: VALUE" (name of the cluster)'),
        ("- a", "c.yaml:1: must be a map, such as {version: VALUE}"),
        ("cluster: [a", "c.yaml:1: invalid YAML: the [ here is not closed: add a ]"),
        ("cluster: c\nversion: 2", 'c.yaml:2: version: invalid value "2": use 1'),
        ("cluster: c\nversion: [1]", "c.yaml:2: version: must be 1"),
        ("cluster: c\ntopics:\n  a: {}\n  a: {}", "c.yaml:4: topics.a: duplicate key"),
        (f"cluster: c\ntopics:\n  {'x' * 256}: {{}}", 'c.yaml:3: topics: invalid topic "' + 'x' * 256 + '": use a name of 1 to 255 characters, in one line'),
        ("cluster: c\ntopics: {a: {onlyOn: b}}", "c.yaml:2: topics.a.onlyOn: must be a list, such as [a, b]"),
        ("cluster: c\norderConf: {a: b}", 'c.yaml:2: orderConf.a: invalid order configuration "b": use text such as broker-a:8;broker-b:8'),
        ("cluster: c\norderConf: {a: [b]}", "c.yaml:2: orderConf.a: must be text such as broker-a:8;broker-b:8"),
        ("cluster: c\nkv: {N: {k: }}", 'c.yaml:2: kv.N.k: must be a text: write "" for an empty text'),
        ("cluster: c\ngroups: {g: {subscriptionDataSet: [{}]}}", 'c.yaml:2: groups.g.subscriptionDataSet[0]: the key "topic" is missing: add "topic: VALUE" (the topic)'),
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
        "c.yaml:3: topics.a: onlyOn and notOn exclude each other: remove one of them",
        "c.yaml:4: topics.b: perBroker has settings for y, but onlyOn or notOn excludes these brokers",
        (
            "c.yaml:5: topics.ordered: order: false contradicts the orderConf: brokers make every topic "
            "with an orderConf ordered"
        ),
        "c.yaml:9: kv: write the keys of ORDER_TOPIC_CONFIG under orderConf",
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
    with pytest.raises(InvalidPlanFileError, match="<< must be a map, or a list of maps"):
        read_desired_cluster(f"cluster: c\ntopics: {{<<: {merged}}}\n", "f")
