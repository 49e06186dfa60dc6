"""The samples of all topics' put rates, a few topics at a time. Those that waited longest come first.

No request of a broker returns the rates of all its topics, so each topic takes a request to each of its
masters (VIEW_BROKER_STATS_DATA, 315).
"""

from collections.abc import Sequence
from heapq import nsmallest
from time import monotonic

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.topics.topics import SYSTEM_TOPICS, list_own_names
from nsadmin.operations.topic_kinds import is_user_topic
from nsadmin.tui.model.server_states import is_number
from nsadmin.tui.polling.poll_records import NameServerPolled, TopicRatesPolled
from nsadmin.tui.polling.server_polls import ServerProbe

_TOPICS_PER_TURN = 20
_SYSTEM_TOPICS = frozenset(SYSTEM_TOPICS)


class TopicRateSampler:
    """Remembers when each topic was sampled. `interval` is the time (s) after which a topic is due again."""

    def __init__(self, interval: float) -> None:
        self.interval = interval
        self._sampled_seconds: dict[str, float] = {}

    def sample_next(
        self, probe: ServerProbe, server_polls: Sequence[NameServerPolled]
    ) -> TopicRatesPolled | None:
        """Sample the next topics. None: no topic is due, or no name server answers."""
        server_poll = next((poll for poll in server_polls if poll.error is None), None)
        if server_poll is None:
            return None
        groups = server_poll.groups.items()
        own_topics = _SYSTEM_TOPICS.union(*(list_own_names(name, g.cluster_name) for name, g in groups))
        all_topics = set().union(*(poll.topics or () for poll in server_polls))
        topics = self._choose_topics(all_topics, own_topics)
        if not topics:
            return None
        with probe.pace.reserve_requests(len(topics)):
            route_results = probe.admin.name_server_tables.get_route_bodies(server_poll.addr, topics)
        rate_by_topic: dict[str, float | None] = {}
        for topic, route_result in zip(topics, route_results, strict=True):
            masters = _find_masters(route_result.result, server_poll)
            with probe.pace.reserve_requests(len(masters)):
                rate_results = probe.admin.topics.get_put_rates(topic, masters)
            rates = [result.result for result in rate_results if is_number(result.result)]
            rate_by_topic[topic] = round(sum(rates), 3) if rates else None
            self._sampled_seconds[topic] = monotonic()
        return TopicRatesPolled(probe.clock(), rate_by_topic)

    def _choose_topics(self, topics: set[str], own_topics: frozenset[str]) -> list[str]:
        """The topics that are due. At the same age, the topics of users come before others."""
        for vanished_topic in self._sampled_seconds.keys() - topics:
            del self._sampled_seconds[vanished_topic]
        latest_due = monotonic() - self.interval
        sampled = {topic: self._sampled_seconds.get(topic, float("-inf")) for topic in topics}
        due = [topic for topic in topics if sampled[topic] <= latest_due]
        due_ranks = ((sampled[topic], not is_user_topic(topic, own_topics), topic) for topic in due)
        return [topic for _, _, topic in nsmallest(_TOPICS_PER_TURN, due_ranks)]


def _find_masters(body: bytes | None, poll: NameServerPolled) -> list[str]:
    """The addresses of the masters in a route; empty for a topic without a route."""
    from nsadmin.client.name_servers.name_server_tables import parse_topic_queues

    if body is None:
        return []
    try:
        brokers = parse_topic_queues(body).queues
    except ValueError:
        return []
    listings = [poll.groups[broker] for broker in brokers if broker in poll.groups]
    addrs = [listing.broker_addrs.get(MASTER_BROKER_ID) for listing in listings]
    return [addr for addr in addrs if addr is not None]
