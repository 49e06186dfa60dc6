"""Put counts: messages that clients put to one broker in the last minute, as it counts them.

A broker looks at its counters every 10 seconds, so a count still has what was put up to 70 s ago, and lacks
what came in the first 10 s of a topic.
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
    """`admin.put_counts`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def of_users(self, broker_addr: str, cluster_name: str) -> ServerResult[int | None]:
        """Messages to all topics but the system's; None where it never counted any, as 4.x does not."""
        ext = headers.write(broker_headers.ViewBrokerStats(_USERS, cluster_name))
        [answer] = self._caller.ask_each([broker_addr], _CODE, ext)
        return decoded(idle(answer), partial(_minute, absent=None))

    def of_topics(self, broker_addr: str, topics: Iterable[str]) -> list[ServerResult[tuple[str, int]]]:
        """Each topic with its messages, 0 for one that never had any."""
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
        """A topic's messages of the last minute and of 24 hours on each of these brokers; 0 for none ever."""
        return put_counts(self._caller, topic, addrs)


def _named(name: str, command: Command) -> tuple[str, int]:
    return name, _minute(command, absent=0) or 0


def _minute(command: Command, absent: int | None) -> int | None:
    minute = json_object(command).get("statsMinute")
    return absent if minute is None else int(minute.get("sum") or 0)
