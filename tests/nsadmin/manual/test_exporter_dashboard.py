"""The dashboard of the exporter: a panel for each metric, side by side."""

import json

from nsadmin.manual.exporter_dashboard import build_expression, render_dashboard
from nsadmin.operations.exporter.metric_registry import EXPORTER_METRICS, METRICS, METRICS_BY_NAME

BOARD = json.loads(render_dashboard())


def test_each_metric_but_those_per_queue_has_a_panel() -> None:
    expressions = [target["expr"] for panel in BOARD["panels"] for target in panel.get("targets", ())]
    undrawn_metrics = [metric for metric in (*METRICS, *EXPORTER_METRICS) if metric.subject != "queues"]
    assert len(expressions) == len(undrawn_metrics)
    for metric in undrawn_metrics:
        assert any(f"{metric.name}{{" in expression for expression in expressions), metric.name


def test_counters_are_rates_and_topics_are_the_largest() -> None:
    counter = METRICS_BY_NAME["nsadmin_topic_put_messages_total"]
    matchers = 'job="$job",cluster=~"$cluster",broker=~"$broker",topic=~"$topic"'
    assert build_expression(counter) == f"topk(15, rate({counter.name}{{{matchers}}}[$__rate_interval]))"
    gauge = METRICS_BY_NAME["nsadmin_namesrv_up"]
    assert build_expression(gauge) == 'nsadmin_namesrv_up{job="$job"}'


def test_panels_do_not_overlap() -> None:
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in BOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) == 23
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])


def test_a_variable_for_each_label_that_a_panel_filters_by() -> None:
    names = {variable["name"] for variable in BOARD["templating"]["list"]}
    assert names == {"datasource", "job", "cluster", "broker", "group", "topic"}
