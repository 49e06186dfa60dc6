"""Topics deleted and registered beside the registrations of their brokers."""

import pytest

from namesrv_core.events import TopicChange, TopicDeleted, TopicsChanged, group_topic_changes
from namesrv_core.protocol.json_bodies import MappingInfo
from namesrv_core.state.routes import find_route
from namesrv_core.state.topics import delete_topic, register_topic_queues
from tests.support.brokers import TableHarness, make_queue


@pytest.fixture
def lab() -> TableHarness:
    """Topic T on a (cluster c) and b (cluster d), U on a, V on b."""
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"], mappings={"T": MappingInfo("T", bname="a")})
    lab.register_broker("b", 0, ["T", "V"], cluster="d", channel=2)
    return lab


def test_a_topic_is_deleted_in_all_clusters(lab: TableHarness) -> None:
    events = delete_topic(lab.tables, "T", None)
    assert events == [
        TopicDeleted(
            "T",
            None,
            group_topic_changes(
                [TopicChange("T", make_queue("a"), None), TopicChange("T", make_queue("b"), None)]
            ),
        )
    ]
    assert set(lab.tables.placements_by_topic) == {"U", "V"}
    assert find_route(lab.tables, "T") is None


def test_an_empty_cluster_name_is_all_clusters(lab: TableHarness) -> None:
    assert delete_topic(lab.tables, "T", "")[0].cluster_name is None
    assert "T" not in lab.tables.placements_by_topic


def test_a_topic_is_deleted_in_one_cluster(lab: TableHarness) -> None:
    assert delete_topic(lab.tables, "T", "d") == [
        TopicDeleted("T", "d", group_topic_changes([TopicChange("T", make_queue("b"), None)]))
    ]
    assert lab.tables.queues_of_topic("T") == {"a": make_queue("a")}
    delete_topic(lab.tables, "T", "c")
    assert "T" not in lab.tables.placements_by_topic


@pytest.mark.parametrize(("topic", "cluster"), [("X", None), (None, None), ("T", "elsewhere"), ("U", "d")])
def test_what_is_not_there_is_deleted_without_effect(
    lab: TableHarness, topic: str | None, cluster: str | None
) -> None:
    before = lab.copy_tables()
    assert delete_topic(lab.tables, topic, cluster) == []
    assert lab.copy_tables() == before


def test_deleting_moves_the_generation(lab: TableHarness) -> None:
    before = lab.tables.generation
    delete_topic(lab.tables, "T", "d")
    assert lab.tables.generation > before


def test_a_topic_is_registered_just_as_it_is_given(lab: TableHarness) -> None:
    before = lab.tables.generation
    events = register_topic_queues(lab.tables, "X", [make_queue("a", 4, 3), make_queue("b", 0, 1, 2)])
    assert lab.tables.queues_of_topic("X") == {"a": make_queue("a", 4, 3), "b": make_queue("b", 0, 1, 2)}
    assert lab.tables.generation > before
    assert events == [
        TopicsChanged(
            "a", "topic registration", group_topic_changes([TopicChange("X", None, make_queue("a", 4, 3))])
        ),
        TopicsChanged(
            "b", "topic registration", group_topic_changes([TopicChange("X", None, make_queue("b", 0, 1, 2))])
        ),
    ]


def test_a_new_topic_with_an_unknown_broker_is_not_registered_at_all(lab: TableHarness) -> None:
    before = lab.copy_tables()
    assert register_topic_queues(lab.tables, "X", [make_queue("a"), make_queue("z")]) == []
    assert lab.copy_tables() == before


def test_a_known_topic_is_registered_up_to_the_first_unknown_broker(lab: TableHarness) -> None:
    before = lab.tables.generation
    events = register_topic_queues(lab.tables, "T", [make_queue("a", 4), make_queue("z"), make_queue("b", 4)])
    change = TopicChange("T", make_queue("a"), make_queue("a", 4))
    assert events == [TopicsChanged("a", "topic registration", group_topic_changes([change]))]
    assert lab.tables.generation > before
    assert lab.tables.queues_of_topic("T") == {"a": make_queue("a", 4), "b": make_queue("b")}


@pytest.mark.parametrize("topic", ["X", "T", None])
def test_a_topic_without_queues_is_registered_without_effect(lab: TableHarness, topic: str | None) -> None:
    before = lab.copy_tables()
    assert register_topic_queues(lab.tables, topic, []) == []
    assert lab.copy_tables() == before


def test_a_topic_registered_again_as_it_is_changes_nothing(lab: TableHarness) -> None:
    before = lab.copy_tables()
    assert register_topic_queues(lab.tables, "T", [make_queue("a"), make_queue("b")]) == []
    assert lab.copy_tables() == before


def test_a_registered_topic_leaves_the_data_version_of_its_broker_alone(lab: TableHarness) -> None:
    before = lab.tables.live_brokers["c", "a0"].data_version
    register_topic_queues(lab.tables, "X", [make_queue("a")])
    assert lab.tables.live_brokers["c", "a0"].data_version == before
