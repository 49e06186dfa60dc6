"""Renders the metrics of a registry for an HTTP page, as text or as OpenMetrics."""

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder


def render_metrics(registry: CollectorRegistry, accept_header: str) -> tuple[bytes, str]:
    """Render all metrics in a format that the Accept header allows. Returns the body and its content type."""
    try:
        encode_metrics, content_type = choose_encoder(accept_header)
    except (TypeError, ValueError):
        # prometheus_client does not accept a version that is no number.
        encode_metrics, content_type = choose_encoder("")
    return encode_metrics(registry), content_type


def reduce_accept_header(accept_header: str) -> str:
    """Reduce an Accept header to one of two, so that peers cannot ask for one page in many formats."""
    try:
        is_openmetrics = "openmetrics" in choose_encoder(accept_header)[1]
    except (TypeError, ValueError):
        is_openmetrics = False
    return "application/openmetrics-text; version=1.0.0" if is_openmetrics else ""
