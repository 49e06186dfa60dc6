"""Figures of topics from the offsets of their queues."""

from nsadmin.client.topics.topic_stats import QueueStats, TopicStats
from nsadmin.operations.exporter.figures import join_rows
from nsadmin.operations.exporter.topic_figures import TOPIC_TABLES, build_topic_rows
from tests.support.exporter_series import BROKER

STATS = TopicStats((QueueStats(0, 10, 30, 1_700_000_000_500), QueueStats(1, None, 5, 0)), 2.5)


def test_sums_over_queues() -> None:
    rows = build_topic_rows(BROKER, "T", STATS, True)
    assert rows.topic_rows == [(("C", "a", "T"), (35.0, 25.0, 1_700_000_000.5, 2.5))]
    assert rows.queue_rows == [(("C", "a", "T", "0"), (30.0, 20.0)), (("C", "a", "T", "1"), (5.0, 5.0))]
    assert rows.dead_letter_rows == []


def test_the_messages_of_a_dead_letter_topic_are_those_of_its_group() -> None:
    rows = build_topic_rows(BROKER, "%DLQ%G", STATS, False)
    assert rows.dead_letter_rows == [(("C", "a", "G"), (25.0,))]
    assert rows.queue_rows == []


def test_an_empty_topic_has_no_newest_message() -> None:
    [(_, figures)] = build_topic_rows(
        BROKER, "T", TopicStats((QueueStats(0, 0, 0, 0),), None), False
    ).topic_rows
    assert figures == (0.0, 0.0, None, None)


def test_tables_of_all_topics() -> None:
    tables = join_rows(
        TOPIC_TABLES, {name: build_topic_rows(BROKER, name, STATS, True) for name in ("T", "%DLQ%G")}
    )
    assert [len(table.rows) for table in tables] == [2, 1, 4]
