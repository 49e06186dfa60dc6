"""Readings as metric families: labels, units, and the limit of series."""

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from namesrv_core.transport.metrics_renderer import render_metrics
from nsadmin.operations.exporter.exposition import ExporterMetrics, ShownCluster, build_registry
from nsadmin.operations.exporter.figures import FigureTable, Reading, ServerIdentity
from nsadmin.operations.exporter.reading_store import ReadingStore
from tests.support.exporter_series import BROKER, select_series, series_of

TOPICS = ("nsadmin_topic_put_messages_total", "nsadmin_topic_stored_messages")


def filled(topics: int = 3) -> ReadingStore:
    store = ReadingStore()
    up = FigureTable(("nsadmin_broker_up", "nsadmin_broker_answer_seconds"), [(("C", "a", "0"), (1.0, None))])
    store.put_reading(Reading("up", BROKER, 0.0, (up,)))
    rows = [(("C", "a", f"T{number}"), (float(number), 1.0)) for number in range(topics)]
    store.put_reading(Reading("topics", BROKER, 0.0, (FigureTable(TOPICS, rows),)))
    store.put_reading(Reading("tables", ServerIdentity("n:1"), 0.0))
    store.count_error("groups", BROKER)
    store.record_pass("brokers", 1.5, 2)
    return store


def test_figures_with_their_labels_and_none_for_what_is_not_known() -> None:
    series = series_of(filled())
    assert select_series(series, "nsadmin_broker_up") == {
        frozenset({("cluster", "C"), ("broker", "a"), ("id", "0")}): 1.0
    }
    assert select_series(series, "nsadmin_broker_answer_seconds") == {}
    assert sorted(select_series(series, "nsadmin_topic_put_messages_total").values()) == [0, 1, 2]
    assert list(select_series(series, "nsadmin_read_errors_total", source="groups", broker="a").values()) == [
        1
    ]
    assert len(select_series(series, "nsadmin_scrape_age_seconds")) == 3
    assert list(select_series(series, "nsadmin_pass_unfinished_servers", **{"pass": "brokers"}).values()) == [
        2
    ]


def test_series_of_a_context_have_its_name() -> None:
    series = series_of(filled(), "prod")
    assert select_series(series, "nsadmin_broker_up", context="prod")
    assert select_series(series, "nsadmin_scrape_age_seconds", context="prod", source="tables")
    assert list(select_series(series, "nsadmin_series")) == [frozenset()]


def test_the_last_series_are_left_out_and_counted() -> None:
    series = series_of(filled(topics=10), max_series=6)
    assert len(select_series(series, "nsadmin_broker_up")) == 1
    assert len(select_series(series, "nsadmin_topic_put_messages_total")) == 5
    assert select_series(series, "nsadmin_topic_stored_messages") == {}
    left_out = {
        dict(labels)["metric"]: count
        for labels, count in select_series(series, "nsadmin_series_left_out").items()
    }
    assert left_out == {"nsadmin_topic_put_messages_total": 5, "nsadmin_topic_stored_messages": 10}
    assert list(select_series(series, "nsadmin_series").values()) == [6]
    assert list(select_series(series, "nsadmin_series_limit").values()) == [6]


def test_a_figure_that_is_no_finite_number_is_skipped_and_counted() -> None:
    store = filled()
    rows = [((name,), (figure,)) for name, figure in (("a", 10**400), ("b", float("inf")), ("c", 1.5))]
    table = FigureTable(
        ("nsadmin_group_consumed_messages_per_second",), [(("C", "a", *n), f) for n, f in rows]
    )
    store.put_reading(Reading("groups", BROKER, 0.0, (table,)))
    series = series_of(store)
    assert list(select_series(series, "nsadmin_group_consumed_messages_per_second").values()) == [1.5]
    assert list(select_series(series, "nsadmin_series_invalid").items()) == [
        (frozenset({("metric", "nsadmin_group_consumed_messages_per_second")}), 2)
    ]


@pytest.mark.parametrize("context", ["", "prod"])
def test_openmetrics_has_units(context: str) -> None:
    metrics = ExporterMetrics([ShownCluster(context, filled())])
    body, content_type = render_metrics(
        build_registry(metrics), "application/openmetrics-text; version=1.0.0"
    )
    assert content_type.startswith("application/openmetrics-text")
    parsed = text_string_to_metric_families(body.decode())  # type: ignore[no-untyped-call]
    units = {family.name: family.unit for family in parsed}
    assert units["nsadmin_scrape_age_seconds"] == "seconds"
    assert units["nsadmin_topic_put_messages"] == ""
    assert units["process_resident_memory_bytes"] == ""
