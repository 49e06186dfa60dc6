"""The lag of groups on one broker."""

from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag, measure_delay
from nsadmin.client.message_queues import MessageQueue
from nsadmin.operations.exporter.figures import join_rows
from nsadmin.operations.exporter.group_figures import GROUP_TABLES, build_group_rows
from tests.support.exporter_series import BROKER

NOW = 1_700_000_100_000


def lag(
    queue: int, end: int, consumed: int, last: int | None = None, pulled: int | None = None
) -> GroupQueueLag:
    return GroupQueueLag("G", MessageQueue("T", "a", queue), end, consumed, pulled, last)


def test_the_lag_is_that_of_the_queues_with_a_committed_offset() -> None:
    stats = ConsumeStats(2.5, (lag(0, 100, 90, NOW - 60_000, 95), lag(1, 50, 0), lag(2, 7, 0)))
    rows = build_group_rows(BROKER, "G", stats, {"T@G": {0: 90, 2: 0}}, NOW, True)
    assert rows.lag_rows == [(("C", "a", "G", "T"), (17.0, 60.0, 5.0, 90.0, 1.0))]
    assert rows.unknown_rows == [(("C", "a", "G", "T", "never_committed"), (1.0,))]
    assert rows.rate_rows == [(("C", "a", "G"), (2.5,))]
    assert [(labels[-1], figures) for labels, figures in rows.queue_rows] == [
        ("0", (10.0, 60.0)),
        ("2", (7.0, None)),
    ]


def test_a_group_that_never_committed_has_no_lag() -> None:
    rows = build_group_rows(BROKER, "G", ConsumeStats(0, (lag(0, 100, 0),)), {}, NOW, False)
    assert rows.lag_rows == [(("C", "a", "G", "T"), (None, None, None, None, 1.0))]
    assert rows.queue_rows == []


def test_an_offset_beyond_the_end_has_no_lag() -> None:
    rows = build_group_rows(BROKER, "G", ConsumeStats(0, (lag(0, 5, 9),)), {}, NOW, False)
    assert rows.lag_rows[0][1] == (None, None, None, 9.0, 0.0)
    assert rows.unknown_rows == [(("C", "a", "G", "T", "beyond_end"), (1.0,))]
    popping = build_group_rows(BROKER, "G", ConsumeStats(0, (lag(0, 5, 9),)), {}, NOW, False, is_popping=True)
    assert popping.unknown_rows == [(("C", "a", "G", "T", "pop"), (1.0,))]


def test_a_group_that_broadcasts_has_no_lag() -> None:
    rows = build_group_rows(BROKER, "G", ConsumeStats(0, (lag(0, 100, 90),)), {}, NOW, True, True)
    assert rows.lag_rows[0][1] == (None, None, None, 90.0, 0.0)
    assert rows.unknown_rows == [(("C", "a", "G", "T", "broadcasting"), (1.0,))]
    assert rows.queue_rows == []


def test_the_delay_is_that_of_the_oldest_of_the_lagging_queues() -> None:
    caught_up, old, new = lag(0, 5, 5, NOW - 900_000), lag(1, 9, 1, NOW - 5000), lag(2, 9, 1, NOW - 1000)
    assert measure_delay([caught_up, old, new], NOW) == 5.0
    assert measure_delay([caught_up], NOW) == 0.0
    assert measure_delay([lag(0, 9, 1)], NOW) is None


def test_tables_of_all_groups() -> None:
    rows = build_group_rows(BROKER, "G", ConsumeStats(1, (lag(0, 5, 4),)), {}, NOW, True)
    tables = join_rows(GROUP_TABLES, {"G": rows, "H": rows})
    assert [len(table.rows) for table in tables] == [2, 0, 2, 2]
