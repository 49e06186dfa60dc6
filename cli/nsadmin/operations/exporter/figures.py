"""Records of the exporter: the declarations of metrics, and figures of one server.

Both are tables of metrics with the same labels. The file that reads figures declares their metrics, and
`metric_registry` lists the tables.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from namesrv_core.printable_text import escape_unsafe

LabelValues = tuple[str, ...]
FigureRow = tuple[LabelValues, tuple[float | None, ...]]
"""The values of the labels, and one figure per metric. None stands for a figure that is not known."""

_MAX_LABEL_LENGTH = 512


MetricKind = Literal["gauge", "counter"]
Subject = Literal[
    "name servers", "brokers", "proxies", "groups", "topics", "clients", "cluster", "queues", "exporter"
]


class MetricDefinition(NamedTuple):
    """One metric.

    `name` is the full name. `unit` is that of the figures. `labels` do not contain `context`. `source` is the
    kind of request that gives the figures.
    """

    name: str
    kind: MetricKind
    unit: str
    subject: Subject
    source: str
    labels: tuple[str, ...]
    help: str


NAME_SERVER_LABELS = ("namesrv",)
BROKER_LABELS = ("cluster", "broker", "id")
GROUP_LABELS = ("cluster", "broker", "group", "topic")
TOPIC_LABELS = ("cluster", "broker", "topic")


class MetricTable:
    """Metrics with the same labels that are read together: each a name without "nsadmin_", a unit and a help.

    The name of a counter ends with "_total".
    """

    def __init__(
        self, subject: Subject, source: str, labels: tuple[str, ...], *rows: tuple[str, str, str]
    ) -> None:
        self.metrics = tuple(
            MetricDefinition(
                f"nsadmin_{name}",
                "counter" if name.endswith("_total") else "gauge",
                unit,
                subject,
                source,
                labels,
                text,
            )
            for name, unit, text in rows
        )
        self.names = tuple(metric.name for metric in self.metrics)

    def with_rows(self, rows: "Sequence[FigureRow]") -> "FigureTable":
        """Return figures of these metrics, in their order."""
        return FigureTable(self.names, rows)


class FigureTable(NamedTuple):
    """Figures of several metrics that have the same labels, in the order of `metric_names`."""

    metric_names: tuple[str, ...]
    rows: Sequence[FigureRow]


class ServerIdentity(NamedTuple):
    """The server that a reading is about. A name server has only an address."""

    address: str
    cluster_name: str = ""
    broker_name: str = ""
    broker_id: str = ""

    @property
    def broker_labels(self) -> LabelValues:
        """The values of the labels cluster, broker and id."""
        return self.cluster_name, self.broker_name, self.broker_id


class Reading(NamedTuple):
    """The figures that one kind of request gave for one server.

    `read_at` is in seconds of a steady clock. `facts` has values from which other figures are derived.
    """

    source: str
    server: ServerIdentity
    read_at: float
    tables: tuple[FigureTable, ...] = ()
    facts: Any = None


def clean_label(name: str) -> str:
    """Make a label value from a name that a server reported: printable, valid UTF-8 and of bounded length."""
    if name.isascii() and name.isprintable() and len(name) <= _MAX_LABEL_LENGTH:
        return name
    return escape_unsafe(name[:_MAX_LABEL_LENGTH].encode("utf-8", "replace").decode())


NameRows = tuple[Sequence[FigureRow], ...]
"""The rows of one topic or group: those of several tables, in the order of the tables."""


def join_rows(
    metric_tables: Sequence[MetricTable], rows_by_name: Mapping[str, NameRows]
) -> tuple[FigureTable, ...]:
    """Return the figures of each table, with the rows of all names."""
    return tuple(
        table.with_rows([row for name_rows in rows_by_name.values() for row in name_rows[position]])
        for position, table in enumerate(metric_tables)
    )
