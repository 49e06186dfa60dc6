"""Topic lists: which topics are in them, and in how many steps they are encoded."""

import json

import pytest

from namesrv_core.protocol import json_bodies
from namesrv_core.state import topic_lists
from namesrv_core.state.list_cache import BodySteps, ListCache
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.topic_lists import PlacementTest, encode_topics_in_steps
from tests.support.brokers import TableHarness, make_queue, make_topic


def count_steps(steps: BodySteps) -> tuple[bytes, int]:
    """The body, and in how many steps it was encoded."""
    step_count = 0
    while True:
        try:
            next(steps)
            step_count += 1
        except StopIteration as ended:
            return ended.value, step_count


def listed(tables: RouteTables, is_listed: PlacementTest | None = None) -> list[str]:
    body = ListCache(tables).compute_at_once("key", encode_topics_in_steps(tables, is_listed))
    names: list[str] = json.loads(body)["topicList"]
    assert body == json_bodies.encode_topic_list(names)
    return names


def test_topics_of_a_cluster_are_those_that_one_of_its_brokers_has() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("b", 0, ["U", "V"], cluster="d")
    for cluster, names in (("d", ["U", "V"]), ("x", []), (None, [])):
        assert listed(lab.tables, topic_lists.build_cluster_test(lab.tables, cluster)) == names


def test_unit_topics_go_by_the_flags_of_their_first_broker() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, [make_topic(f"T{flag}", sys_flag=flag) for flag in range(4)])
    lab.register_broker("b", 0, [make_topic("T0", sys_flag=3), make_topic("T3")])
    assert listed(lab.tables, topic_lists.is_unit_topic) == ["T1", "T3"]
    assert listed(lab.tables, topic_lists.is_unit_sub_topic) == ["T2", "T3"]
    assert listed(lab.tables, topic_lists.is_unit_sub_ununit_topic) == ["T2"]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 10])
def test_all_topics_are_listed_in_order_and_a_few_in_each_step(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_lists, "_TOPICS_PER_STEP", 3)
    tables = RouteTables()
    names = [f'T"{number}\u00e9' for number in range(count)]
    for name in names:
        tables.set_queue(name, make_queue("a", queues=len(name)))
    assert listed(tables) == names
    body, step_count = count_steps(encode_topics_in_steps(tables))
    assert (json.loads(body), step_count) == ({"topicList": names}, (count + 2) // 3)


def test_a_list_leaves_out_topics_that_no_longer_belong_to_it_when_their_step_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topic_lists, "_TOPICS_PER_STEP", 1)
    tables = RouteTables()
    for name in "TUVW":
        tables.set_queue(name, make_queue("a", sys_flag=1))
    steps = encode_topics_in_steps(tables, topic_lists.is_unit_topic)
    next(steps)
    tables.drop_queue("U", "a")
    tables.set_queue("V", make_queue("a", sys_flag=0))
    tables.set_queue("X", make_queue("a", sys_flag=1))
    assert json.loads(count_steps(steps)[0]) == {"topicList": ["T", "W"]}
