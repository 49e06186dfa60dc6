"""The page of metrics: formats by the Accept header."""

import pytest
from prometheus_client import CollectorRegistry

from namesrv_core.transport.metrics_page import render_metrics


@pytest.mark.parametrize(
    "accept", ["application/openmetrics-text; version=x", "a;b;c", "\x00", "text/plain; version="]
)
def test_an_odd_accept_header_gets_the_usual_format(accept: str) -> None:
    _, content_type = render_metrics(CollectorRegistry(), accept)
    assert content_type.startswith("text/plain")
