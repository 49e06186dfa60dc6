"""Lists of topics and groups, as mqadmin's files and ours have them."""

import json

import pytest

from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.operations.plans.bulk_lists import ItemList, plan_list_steps, read_list
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError
from tests.nsadmin.operations.plans.states import broker, group, live, server, silent, topic

TOPICS = """\
[{"topicName": "a", "readQueueNums": 4, "attributes": {"+message.type": "FIFO"}, "order": null},
 {"topicName": "b", "perm": 4}]
"""


def outcomes(listed: ItemList, *parts: object) -> list[tuple[str, str, str]]:
    return [
        (item.step.server_name, item.step.item_name, item.result)
        for item in plan_list_steps(listed, live(*parts))  # type: ignore[arg-type]
    ]


def test_a_list_of_mqadmin_names_what_it_changes() -> None:
    listed = read_list("topic", TOPICS, "f")
    assert listed.item_names == ["a", "b"]
    have = {"b": topic(readQueueNums=3, attributes={"x": "1"})}
    wanted = listed.desired_settings("broker-a", have)
    assert wanted["a"] == topic(readQueueNums=4, writeQueueNums=16, attributes={"message.type": "FIFO"})
    assert wanted["b"] == {**have["b"], "perm": 4}


def test_attributes_come_and_go_with_signs_or_without() -> None:
    text = json.dumps([{"topicName": "a", "attributes": {"-x": "", "y": "2", "+z": "3"}}])
    listed = read_list("topic", text, "f")
    have = {"a": topic(attributes={"x": "1", "y": "1", "w": "0"})}
    wanted = listed.desired_settings("broker-a", have)["a"]
    assert wanted is not None
    assert wanted["attributes"] == {"w": "0", "y": "2", "z": "3"}


def test_groups_keep_what_is_not_named() -> None:
    listed = read_list("group", '[{"groupName": "g", "retryMaxTimes": 3}]', "f")
    have = {"g": group(consumeEnable=False)}
    assert listed.desired_settings("broker-a", have)["g"] == group(consumeEnable=False, retryMaxTimes=3)
    fresh = group(retryMaxTimes=3, consumeFromMinEnable=True, consumeBroadcastEnable=True)
    assert listed.desired_settings("broker-a", {})["g"] == fresh


def test_what_export_metadata_wrote() -> None:
    table = {"a": {"topicName": "a", "perm": 6}, "b": {"topicName": "b"}}
    assert read_list("topic", json.dumps({"topicConfigTable": table}), "f").item_names == ["a", "b"]
    summed = read_list("topic", json.dumps({"exportTime": 1, "topicConfigTable": table}), "f")
    assert (summed.is_sum, summed.specs) == (True, None)


def test_a_file_of_ours_says_all() -> None:
    text = "cluster: c\ntopics:\n  a: {readQueueNums: 2, notOn: [broker-b]}\n  b: {}\n"
    listed = read_list("topic", text, "f")
    assert listed.desired_settings("broker-a", {"a": topic(perm=4)}) == {
        "a": topic(readQueueNums=2),
        "b": topic(),
    }
    assert outcomes(listed, broker("broker-b", {"b": topic()})) == [
        ("broker-b", "a", "skipped"),
        ("broker-b", "b", "unchanged"),
    ]
    with pytest.raises(InvalidPlanFileError, match=r"f:1: no groups in the file"):
        read_list("group", text, "f")


def test_what_is_not_sent_is_told() -> None:
    text = json.dumps([{"topicName": name} for name in ("a", "TBW102", "%RETRY%g", "s")])
    listed = read_list("topic", text, "f")
    parts = (broker("broker-a", {"s": topic()}, static=frozenset({"s"})), silent("broker-b"))
    steps = plan_list_steps(listed, live(*parts))
    assert [(item.step.item_name, item.result) for item in steps] == [
        ("a", "planned"),
        ("TBW102", "skipped"),
        ("%RETRY%g", "unchanged"),
        ("s", "skipped"),
    ]
    assert [str(item.error)[:28] for item in steps if item.error] == [
        "system topic: brokers refuse",
        "static topic: `nsadmin updat",
    ]


def test_a_new_group_with_a_long_name_is_not_sent() -> None:
    long = "g" * 121
    listed = read_list("group", json.dumps([{"groupName": long}]), "f")
    assert outcomes(listed, broker("broker-a")) == [("broker-a", long, "skipped")]
    assert outcomes(listed, broker("broker-a", groups={long: {}})) == [("broker-a", long, "unchanged")]


def test_a_topic_with_an_order_configuration_is_ordered_anyway() -> None:
    listed = read_list("topic", '[{"topicName": "a", "order": false}, {"topicName": "b"}]', "f")
    parts = (broker("broker-a", {"a": topic(order=True)}), server(orders={"a": "broker-a:8", "b": "x:1"}))
    steps = plan_list_steps(listed, live(*parts))
    assert [(item.result, item.step.after["order"]) for item in steps] == [
        ("unchanged", True),
        ("planned", True),
    ]
    assert ORDER_CONF_NAMESPACE == "ORDER_TOPIC_CONFIG"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", r"f:1: not a list of topics"),
        ("text", r"f:1: not a list of topics"),
        ('{"a": 1}', r"f:1: not a list of topics"),
        ("[]", r"f:1: no topics in the file"),
        ("[{", r"f:\d: invalid YAML: "),
        ("[1]", r"f:1: item 1: must be a map"),
        ('[{"perm": 4}]', r'f:1: item 1: the key "topicName" is missing: add '),
        ('[{"topicName": "a"},\n {"topicName": "a"}]', r"f:2: duplicate a"),
        (
            '[{"topicName": "a", "perms": 4}]',
            r'f:1: item 1: unknown key "perms": did you mean "perm"\?',
        ),
        ('[{"topicName": "a", "perm": 9}]', r'f:1: item 1: perm: invalid value "9": use'),
    ],
)
def test_a_file_that_cannot_be_used(text: str, problem: str) -> None:
    with pytest.raises(InvalidPlanFileError, match=problem):
        read_list("topic", text, "f")


def test_a_broken_file_is_named_by_the_language_of_its_name() -> None:
    with pytest.raises(InvalidPlanFileError, match=r"^bad\.json:\d: invalid JSON: "):
        read_list("topic", "[{", "bad.json")


@pytest.mark.parametrize("text", ["? [a]\n: 1\n", "cluster: c\n? [x]\n: 2", "- {<<: 5}", "[" * 50_000])
def test_odd_yaml_is_a_mistake(text: str) -> None:
    with pytest.raises(InvalidPlanFileError):
        read_list("topic", text, "f")


def test_a_long_list_is_read_and_what_is_there_twice_is_told() -> None:
    names = [f"{{topicName: T{number}}}" for number in range(20_000)]
    assert len(read_list("topic", f"[{', '.join(names)}]", "f").items) == 20_000
    with pytest.raises(InvalidPlanFileError) as refused:
        read_list("topic", f"[{', '.join([*names, names[7]])}]", "f")
    assert refused.value.problem_lines == ("f:1: duplicate T7",)
