"""`admin.put_counts`: the number of messages that clients sent to a broker in the last minute.

A broker samples its counters every 10 seconds. So a count includes messages of up to 70 s ago, and misses the
first 10 s of a topic.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object
from nsadmin.client.results import ServerResult
from nsadmin.client.topics.topic_traffic import MessageCount, accept_uncounted, read_put_counts

_STATS_CODE = RequestCode.VIEW_BROKER_STATS_DATA
_USER_TOPICS_STATS = "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"


class MinuteStats(NamedTuple):
    """A counter of a broker over the last minute.

    Attributes:
        per_second: The mean per second.
        total: The sum.
    """

    per_second: float
    total: int


class PutCounts:
    """`admin.put_counts`: message counts of the last minute (VIEW_BROKER_STATS_DATA, 315)."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def count_user_messages(self, broker_addr: str, cluster_name: str) -> ServerResult[int | None]:
        """Count the messages of the last minute to all users' topics of a broker.

        Args:
            broker_addr: The broker address.
            cluster_name: The cluster of the broker, by which it keeps this count.

        Returns:
            The count; None if the broker never counted any, like brokers of 4.x.
        """
        [result] = self.get_minute_stats(broker_addr, [(_USER_TOPICS_STATS, cluster_name)])
        return result.then(lambda stats: stats and stats.total)

    def count_topic_messages(
        self, broker_addr: str, topics: Iterable[str]
    ) -> list[ServerResult[tuple[str, int]]]:
        """Count the messages of the last minute to topics on one broker.

        Args:
            broker_addr: The broker address.
            topics: The topics.

        Returns:
            One ServerResult per topic, in order: a pair of (topic, count); 0 for a topic without messages.
        """
        topic_names = list(topics)
        results = self.get_minute_stats(broker_addr, [("TOPIC_PUT_NUMS", name) for name in topic_names])
        return [
            ServerResult(addr, (name, stats.total if stats else 0) if error is None else None, error)
            for name, (addr, stats, error) in zip(topic_names, results, strict=True)
        ]

    def get_topic_counts(self, broker_addrs: Iterable[str], topic: str) -> list[ServerResult[MessageCount]]:
        """Return the message counts (last minute and 24 hours) of a topic on brokers.

        Args:
            broker_addrs: The broker addresses.
            topic: The topic.

        Returns:
            One ServerResult per address, in order; zeros for a broker without messages of the topic.
        """
        return read_put_counts(self._caller, topic, broker_addrs)

    def get_minute_stats(
        self, broker_addr: str, counters: Sequence[tuple[str, str]]
    ) -> list[ServerResult[MinuteStats | None]]:
        """Return counters of a broker over the last minute, with one request each.

        Args:
            broker_addr: The broker address.
            counters: Pairs of (statistics name, key), such as ("GROUP_GET_NUMS", "topic@group").

        Returns:
            One ServerResult per counter, in order; None for a counter that the broker does not have, because
            it never counted anything.
        """
        answers = self._caller.send_requests(
            (broker_addr, make_request(_STATS_CODE, broker_headers.ViewBrokerStats(*c))) for c in counters
        )
        return [decode_answer(accept_uncounted(answer), _parse_minute_stats) for answer in answers]


def _parse_minute_stats(response: RemotingCommand) -> MinuteStats | None:
    json_body = parse_json_object(response)
    if "statsMinute" not in json_body:
        return None
    minute_span = json_body.child("statsMinute")
    return MinuteStats(minute_span.number("tps", 0.0), minute_span.integer("sum", 0))
