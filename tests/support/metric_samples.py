"""What a name server exports, read as Prometheus reads it."""

from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from namesrv_core.server.metrics import METRIC_PREFIX, build_registry
from namesrv_core.server.name_server import NameServer
from namesrv_core.transport.metrics_renderer import render_metrics


def parse_families(text: str) -> dict[str, Metric]:
    """By the name that a family's lines of HELP and TYPE have."""
    return {family.name: family for family in text_string_to_metric_families(text)}


class ScrapedSamples:
    """The samples of one moment."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.values = {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in parse_families(text).values()
            for sample in family.samples
        }

    @classmethod
    def scrape_server(cls, server: NameServer) -> "ScrapedSamples":
        """Without its port."""
        return cls(render_metrics(build_registry(server), "")[0].decode())

    def __call__(self, name: str, **labels: str) -> float | None:
        """The value of a metric of ours, None where there is none."""
        return self.values.get((METRIC_PREFIX + name, frozenset(labels.items())))

    def series_of(self, name: str) -> dict[frozenset[tuple[str, str]], float]:
        """All series of a metric of ours, by their labels."""
        return {
            labels: value
            for (sample_name, labels), value in self.values.items()
            if sample_name == METRIC_PREFIX + name
        }
