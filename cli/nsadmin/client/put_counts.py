"""`admin.put_counts`: the number of messages that clients sent to a broker in the last minute.

A broker samples its counters every 10 seconds. So a count includes messages of up to 70 s ago, and misses the
first 10 s of a topic.
"""

from collections.abc import Iterable
from functools import partial

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded
from nsadmin.client.traffic import Count, idle, put_counts

_CODE = RequestCode.VIEW_BROKER_STATS_DATA
_USERS = "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC"


class PutCounts:
    """`admin.put_counts`: message counts of the last minute (VIEW_BROKER_STATS_DATA, 315)."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def of_users(self, broker_addr: str, cluster_name: str) -> ServerResult[int | None]:
        """Count the messages of the last minute to all users' topics of a broker.

        Returns:
            The count; None if the broker never counted any, like brokers of 4.x.
        """
        ext = headers.write(broker_headers.ViewBrokerStats(_USERS, cluster_name))
        [answer] = self._caller.ask_each([broker_addr], _CODE, ext)
        return decoded(idle(answer), partial(_minute, absent=None))

    def of_topics(self, broker_addr: str, topics: Iterable[str]) -> list[ServerResult[tuple[str, int]]]:
        """Count the messages of the last minute to topics on one broker.

        Returns:
            One ServerResult per topic, in order: a pair of (topic, count); 0 for a topic without messages.
        """
        names = list(topics)
        calls = [
            (
                broker_addr,
                request(_CODE, headers.write(broker_headers.ViewBrokerStats("TOPIC_PUT_NUMS", name))),
            )
            for name in names
        ]
        answers = self._caller.ask(calls)
        return [
            decoded(idle(answer), partial(_named, name)) for name, answer in zip(names, answers, strict=True)
        ]

    def of_topic_each(self, addrs: Iterable[str], topic: str) -> list[ServerResult[Count]]:
        """Return the message counts (last minute and 24 hours) of a topic on brokers.

        Returns:
            One ServerResult per address, in order; zeros for a broker without messages of the topic.
        """
        return put_counts(self._caller, topic, addrs)


def _named(name: str, command: Command) -> tuple[str, int]:
    return name, _minute(command, absent=0) or 0


def _minute(command: Command, absent: int | None) -> int | None:
    minute = json_object(command).get("statsMinute")
    return absent if minute is None else int(minute.get("sum") or 0)
