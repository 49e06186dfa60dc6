"""Names of lite topics, from the names of their queues."""

from nsadmin.client.topics.lite_names import parse_lite_name, parse_parent_name


def test_names_of_queues() -> None:
    assert [parse_lite_name(name) for name in ("%LMQ%$P$x", "%LMQ%$P$x$y", "x")] == ["x", "x$y", "x"]
    assert [parse_parent_name(name) for name in ("%LMQ%$P$x", "%LMQ%$P$x$y", "x")] == ["P", "P", "x"]
