"""The list of topics of all name servers, with routes and rates of the visible rows. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import perm_text
from namesrv_core.protocol.resource_names import DLQ_PREFIX, RETRY_PREFIX
from nsadmin.client.topics.topics import SYSTEM_TOPIC_PREFIX, SYSTEM_TOPICS, list_own_names
from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import QueueCounts, TopicPolled
from nsadmin.tui.views import display_states, units
from nsadmin.tui.views.base_view import NO_PROBLEM, CellLine, View, open_topic, open_view
from nsadmin.tui.views.table import Cell, Column

_MAX_QUERIES = 60


class TopicRow(NamedTuple):
    """A row of the list. nsadmin queries the topic's routes only while the row is visible."""

    topic: str
    model: ClusterModel
    kind: str

    @property
    def poll(self) -> TopicPolled | None:
        return self.model.topic_polls.get(self.topic)

    @property
    def listings(self) -> list[bool]:
        """Whether each name server that reports its topics lists this one."""
        servers = self.model.list_fresh_servers()
        return [self.topic in server.topic_set for server in servers if "topics" not in server.unreported]

    @property
    def routes(self) -> list[Mapping[str, QueueCounts]]:
        """The queues by broker, of each name server that has a route."""
        routes = self.poll.routes.values() if self.poll is not None else ()
        return [route for route in routes if route]

    @property
    def only_cluster(self) -> str | None:
        """The cluster whose brokers have the topic; None if it is unknown or not unique."""
        names = {name for route in self.routes for name in route}
        brokers = self.model.brokers.values()
        clusters = {broker.cluster_name for broker in brokers if broker.key.name in names}
        return clusters.pop() if len(clusters) == 1 else None

    @property
    def perms(self) -> list[int]:
        """The different permissions of the topic over all brokers and name servers."""
        return sorted({queues.perm for route in self.routes for queues in route.values()})

    @property
    def broker_count(self) -> int | None:
        if self.poll is None or not self.poll.routes:
            return None
        return len({name for route in self.routes for name in route})

    @property
    def write_queue_count(self) -> int | None:
        """The number of write queues on the first name server that has a route."""
        return sum(queues.write for queues in self.routes[0].values()) if self.routes else None

    @property
    def put_rate(self) -> float | None:
        return self.model.topic_rates.get(self.topic)

    @property
    def has_difference(self) -> bool | None:
        """Whether name servers have different routes; None if fewer than two have one, or one is silent."""
        if self.poll is None:
            return None
        routes = list(self.poll.routes.values())
        if any(route != routes[0] for route in routes):
            return True
        is_unknown = len(routes) < 2 or self.poll.errors or self.model.list_silent_servers()
        return None if is_unknown else False


def kind_of_topic(topic: str, own_names: Set[str] = frozenset()) -> str:
    """The kind of a topic, derived from its name: "retry", "dead letters", "system" or "".

    `own_names` are topics that brokers create themselves.
    """
    if topic.startswith(RETRY_PREFIX):
        return "retry"
    if topic.startswith(DLQ_PREFIX):
        return "dead letters"
    is_system = topic in SYSTEM_TOPICS or topic in own_names or topic.lower().startswith(SYSTEM_TOPIC_PREFIX)
    return "system" if is_system else ""


def _perms_cell(row: TopicRow) -> Cell:
    perms = row.perms
    if not perms:
        has_routes = row.poll is not None and bool(row.poll.routes)
        return Cell("none", "bad") if has_routes else Cell(units.UNKNOWN_MARK, "dim")
    perms_text = "/".join(perm_text(perm) for perm in perms)
    return Cell(perms_text, "" if all(perm & 2 for perm in perms) else "warn")


def _listing_cell(row: TopicRow) -> Cell:
    listings, model = row.listings, row.model
    server_count = len(model.list_fresh_servers()) + len(model.list_silent_servers())
    return display_states.draw_listing(sum(listings), len(listings), server_count - len(listings), "bad")


def _routes_cell(row: TopicRow) -> Cell:
    if row.poll is None:
        return Cell("", "dim")
    if row.has_difference is None:
        return Cell(units.UNKNOWN_MARK, "dim")
    return Cell("≠", "bad") if row.has_difference else Cell("equal", "dim")


TOPIC_COLUMNS: Sequence[Column[TopicRow]] = (
    Column("topic", "TOPIC", 24, "", lambda row: row.topic, tone="strong", grow=True),
    Column("kind", "KIND", 12, "system, retry, dead letters; empty for application topics",
           lambda row: row.kind, tone="dim", drop=3),
    Column("known", "NS", 4, "name servers that list it, out of all; ? if one does not answer",
           lambda row: sum(row.listings), cell=_listing_cell, right=True, drop=1, flash=True),
    Column("brokers", "BROKERS", 7, "number of broker groups with the topic",
           lambda row: row.broker_count, show=units.format_count, right=True, flash=True),
    Column("queues", "QUEUES", 7, "number of write queues on all brokers",
           lambda row: row.write_queue_count, show=units.format_count, right=True, drop=2, flash=True),
    Column("perm", "PERM", 9, "its permissions on all brokers and name servers",
           lambda row: row.perms, cell=_perms_cell, flash=True),
    Column("same", "ROUTES", 7,
           "≠ if name servers have different routes, – with fewer than two or if one is silent",
           lambda row: None if row.has_difference is None else not row.has_difference, cell=_routes_cell,
           drop=4, flash=True),
    Column("rate", "IN/s", 7,
           "messages put per second, over a minute; sorting by it reads the rates of all topics",
           lambda row: row.put_rate, show=units.format_rate, right=True),
)  # fmt: skip


class TopicsView(View):
    """All topics. Only the visible ones are queried, because there may be tens of thousands."""

    name = "topics"
    key_fields = ("topic",)
    filter_fields = ("topic", "kind")
    needs_name_servers = True
    has_messages = True
    title = "Topics"
    columns = TOPIC_COLUMNS
    empty_text = "no name server lists a topic"

    def build_rows(self, model: ClusterModel) -> Sequence[TopicRow]:
        topics = model.list_topic_names()
        brokers = {(broker.key.name, broker.cluster_name) for broker in model.brokers.values()}
        own_names = frozenset(name for broker in brokers for name in list_own_names(*broker))
        return model.compute_once(
            "topic rows",
            (topics, own_names),
            lambda: [TopicRow(topic, model, kind_of_topic(topic, own_names)) for topic in topics],
        )

    def is_hidden(self, row: TopicRow) -> bool:
        """Only the topics of applications are shown at first."""
        return bool(row.kind)

    def rank_problems(self, model: ClusterModel, rows: Sequence[TopicRow]) -> list[int]:
        """Only topics that were polled, and topics that a name server lacks, can have a problem."""
        partial_topics, polled_topics = model.list_partial_topics(), model.topic_polls
        suspects = polled_topics.keys() | partial_topics
        return [self.problem_rank(row) if row.topic in suspects else NO_PROBLEM for row in rows]

    def subject_of_row(self, row: TopicRow) -> RowSubject:
        return RowSubject(topic=row.topic, cluster=row.only_cluster)

    def list_queries(self, model: ClusterModel, rows: Sequence[Any]) -> list[DetailQuery]:
        topics = dict.fromkeys(row.topic for row in rows)
        return [DetailQuery("topicRow", topic) for topic in list(topics)[:_MAX_QUERIES]]

    def list_sort_queries(self, sort_key: str | None) -> list[DetailQuery]:
        """An order by rate needs the rates of all topics, not only of the visible ones."""
        return [DetailQuery("topicRates")] if sort_key == "rate" else []

    def open_row(self, row: TopicRow) -> View:
        """A dead-letter topic is only interesting for its messages."""
        if row.kind == "dead letters":
            return open_view("messages.message_table:MessagesView.of_topic", row.topic)
        return open_topic(row.topic)

    def render_headline(self, model: ClusterModel) -> CellLine:
        topics = model.list_topic_names()
        if not topics and model.find_silence() is not None:
            return [Cell(f"{units.UNKNOWN_MARK} topics", "strong")]
        topic_rows = self.build_rows(model)
        applications = model.compute_once(
            "topics of users", (topic_rows,), lambda: {row.topic for row in topic_rows if not row.kind}
        )
        rated_count = len(applications & model.topic_rates.keys())
        rated_text = "all" if rated_count == len(applications) else str(rated_count)
        return [
            Cell(count_noun(len(topics), "topic"), "strong"),
            Cell(f"  {count_noun(len(applications), 'application topic')}", "dim"),
            Cell(f"  rates of {rated_text} of them" if rated_count else "", "dim"),
        ]
