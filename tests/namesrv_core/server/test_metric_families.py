"""Families of metrics from plain figures."""

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from namesrv_core.server import metric_families
from namesrv_core.server.counters import Histogram


def text(*metrics: Metric) -> list[str]:
    """The samples, as they are exported."""

    class Given(Collector):
        def collect(self) -> list[Metric]:
            return list(metrics)

    registry = CollectorRegistry()
    registry.register(Given())
    return [line for line in generate_latest(registry).decode().splitlines() if not line.startswith("#")]


def test_figures_of_one_series_have_our_prefix() -> None:
    assert text(metric_families.build_gauge("a", "?", 1), metric_families.build_counter("b", "?", 2)) == [
        "nsadmin_namesrv_a 1.0",
        "nsadmin_namesrv_b_total 2.0",
    ]


def test_those_with_labels_have_a_series_for_each_key() -> None:
    gauge = metric_families.build_labelled_gauge("a", "?", ("x", "y"), {("1", "2"): 3, ("1", 'q"\n'): 4})
    assert text(gauge) == ['nsadmin_namesrv_a{x="1",y="2"} 3.0', 'nsadmin_namesrv_a{x="1",y="q\\"\\n"} 4.0']
    assert text(metric_families.build_labelled_counter("b", "?", ("x",), {("1",): 3})) == [
        'nsadmin_namesrv_b_total{x="1"} 3.0'
    ]


def test_a_histogram_adds_up_its_buckets() -> None:
    histogram = Histogram((1.0, 2.5))
    for value in (0.5, 1.5, 2.0, 9.0):
        histogram.add_value(value)
    assert text(metric_families.build_labelled_histogram("h", "?", {("r",): histogram}, ("x",))) == [
        'nsadmin_namesrv_h_bucket{le="1.0",x="r"} 1.0',
        'nsadmin_namesrv_h_bucket{le="2.5",x="r"} 3.0',
        'nsadmin_namesrv_h_bucket{le="+Inf",x="r"} 4.0',
        'nsadmin_namesrv_h_count{x="r"} 4.0',
        'nsadmin_namesrv_h_sum{x="r"} 13.0',
    ]


def test_a_name_is_a_label_as_it_is_unless_it_is_too_long_or_no_text() -> None:
    assert metric_families.bounded_label("broker-a") == "broker-a"
    assert metric_families.bounded_label("ü" * 128) == "ü" * 128
    long, longer = metric_families.bounded_label("x" * 129), metric_families.bounded_label("x" * 130)
    assert long.startswith("x" * 128 + "#")
    assert long != longer
    assert metric_families.bounded_label("a\ud800").startswith("a?#")


def test_a_name_with_control_characters_is_escaped_and_still_differs_from_its_escaped_form() -> None:
    names = [
        "a\nb",
        r"a\nb",
        "a\x1b[2J",
        "a\x7f",
        "a\x85",
        "a\u202eb",
        "a\u2066b",
        "a\u2028b",
        "\n" * 128,
        'q"\\',
    ]
    labels = [metric_families.bounded_label(name) for name in names]
    assert labels[0].startswith(r"a\nb#")
    assert all(label.isprintable() and len(label) <= 128 + 9 for label in labels)
    assert len(set(labels)) == len(names)
    assert (labels[1], labels[-1]) == (names[1], names[-1])
    (line,) = text(metric_families.build_labelled_gauge("a", "?", ("x",), {(labels[0],): 1}))
    assert line.startswith(r'nsadmin_namesrv_a{x="a\\nb#')
