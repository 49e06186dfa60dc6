"""Sequences of operations out of a seed: the same seed gives the same bytes, whatever the servers answer."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from tests.interop.differential import odd_headers, registrations
from tests.interop.differential.operations import Kind, Op
from tests.interop.differential.scenarios import Scenarios

UNKNOWN_CODES = (0, 1, 17, 34, 99, 107, 905, 1003, 9999, 32767, -1, -5)
VALUES = ("v", "", " ", "broker-a:8;broker-b:8", "é/\\\"'", "\x00\x1f\x7f\x85", "\u2028\ufeff😀", "x" * 300)
TOGGLES = (
    "supportActingMaster",
    "orderMessageEnable",
    "deleteTopicWithBrokerRegistration",
    "enableTopicList",
    "enableAllTopicList",
    "returnOrderTopicConfigToBroker",
)
DEFAULTS = (
    "supportActingMaster=false\norderMessageEnable=false\ndeleteTopicWithBrokerRegistration=false\n"
    "enableTopicList=true\nenableAllTopicList=true\nreturnOrderTopicConfigToBroker=true\n"
    "productEnvName=center\nwaitSecondsForService=45\n"
)
OTHER_SETTINGS = (
    "",
    "# only a comment\n",
    "unknownKey=1\n",
    "enableTopicList=maybe\n",
    "waitSecondsForService=x\n",
    "waitSecondsForService=46\nproductEnvName=a\\u0041\\tb\n",
    "kvConfigPath=/nowhere\n",
    "configStorePath=/nowhere\nenableTopicList=false\n",
    "configBlackList=x\n",
    "rocketmqHome=/nowhere\n",
    "a\\uZZZZ=1\n",
    "productEnvName : center\nwaitSecondsForService 45\n",
    "productEnvName=é\u20ac\n",
)


class Generator(Scenarios):
    """One sequence: its names, its brokers, and what they would do next."""

    def __init__(self, seed: str) -> None:
        super().__init__(seed)
        self._makers: list[tuple[float, Callable[[], Op | tuple[Op, ...]]]] = [
            (20, self.register),
            (4, self.unregister),
            (12, self.route),
            (8, self.whole_server),
            (7, self.write_permission),
            (5, self.data_version),
            (4, self.topic_removal),
            (6, self.topic_registration),
            (14, self.kv),
            (3, self.by_cluster),
            (4, self.member_group),
            (2, self.heartbeat),
            (1.5, self.settings),
            (2, self.unknown),
            (4, self.odd),
            (2.5, self.end),
            (2, self.burst),
            (1, self.null_tables),
            (0.3, self.null_mappings),
            (0.7, self.odd_mapping),
            (1, self.compressed),
            (0.7, self.refused_takeover),
            (0.2, self.takeover_without_version),
        ]

    def operations(self, count: int) -> Iterator[Op]:
        """Some brokers come, then anything happens, then everything that can be seen is read."""
        if self.toggled:
            yield self._op(318, None, self._toggles())
        for broker in self.rng.sample(self.brokers, 3):
            yield self._plain_registration(broker)
        weights = [weight for weight, _ in self._makers]
        for _, make in self.rng.choices(self._makers, weights, k=count):
            operation = make()
            yield from operation if isinstance(operation, tuple) else (operation,)
        yield from self.look()

    def look(self) -> Iterator[Op]:
        """Reads that show the state of the whole sequence."""
        for code in (106, 206, 304, 311):
            yield self._op(code)
        for topic in self.topics:
            yield self._op(105, {"topic": topic}, version=self.rng.choice((317, 513)))
        for broker in self.brokers:
            yield self._op(322, broker.ext(), json.dumps(broker.data_version()).encode())
        for name in self.names:
            yield self._op(901, {"clusterName": self.clusters[0], "brokerName": name})

    def clean(self) -> Iterator[Op]:
        """What takes the sequence's traces out of both servers, outside the comparison."""
        for broker in self.brokers:
            yield self._op(104, broker.ext())
        for topic in self.topics:
            yield self._op(102, {"namespace": "ORDER_TOPIC_CONFIG", "key": topic})
        yield self._op(318, None, DEFAULTS.encode())

    # One method for each family of requests

    def route(self) -> Op:
        rng = self.rng
        ext: dict[str, Any] = {"topic": rng.choice((*self.topics, self.prefix + "none"))}
        if self.chance(0.15):
            ext["acceptStandardJsonOnly"] = rng.choice(("true", "TRUE", "false", "1", ""))
        if self.chance(0.2):
            ext["__ZONE_MODE"] = rng.choice(("true", "True", "false"))
            ext["__ZONE_NAME"] = rng.choice(("zA", "za", "zB", " ", "other"))
        return self._op(105, self._odd_ext(ext), connection=rng.choice((50, 51)), oneway=self.chance(0.02))

    def whole_server(self) -> Op:
        return self._op(self.rng.choice((106, 106, 206, 304, 311, 312, 313, 319)))

    def write_permission(self) -> Op:
        ext = {"brokerName": self.rng.choice((*self.names, self.prefix + "none"))}
        return self._op(self.rng.choice((205, 205, 327)), self._odd_ext(ext), oneway=self.chance(0.05))

    def data_version(self) -> Op:
        rng, broker = self.rng, self.rng.choice(self.brokers)
        version: dict[str, Any] = dict(broker.data_version())
        if self.chance(0.3):
            version["counter"] += 1
        if self.chance(0.1):
            version.pop(rng.choice(("stateVersion", "timestamp", "counter")))
        body = json.dumps(version).encode()
        if self.chance(0.2):
            body = rng.choice((b"", b"null", b'""', b"{}", b"[]", b" ", b"x", body[:-2]))
        return self._op(322, self._odd_ext(broker.ext()), body, oneway=self.chance(0.1))

    def topic_removal(self) -> Op:
        ext: dict[str, Any] = {"topic": self.rng.choice(self.topics)}
        if self.chance(0.5):
            ext["clusterName"] = self.rng.choice((*self.clusters, "", self.prefix + "none"))
        return self._op(216, self._odd_ext(ext), oneway=self.chance(0.05))

    def topic_registration(self) -> Op:
        rng = self.rng
        names = rng.sample((*self.names, self.prefix + "none"), rng.choice((0, 1, 1, 2)))
        topic = rng.choice((*self.topics, self.prefix + "t9"))
        queues = [self._queue_data(name, topic) for name in names]
        body = json.dumps({"brokerDatas": [], "filterServerTable": {}, "queueDatas": queues}).encode()
        if self.chance(0.2):
            odd = (
                b"null",
                b"",
                b"{}",
                b'{"queueDatas":null}',
                b'{"queueDatas":{}}',
                b"[]",
                b" ",
                b"x",
                body[:-3],
            )
            body = rng.choice((*odd, b'{"queueDatas":"x"}'))
        return self._op(217, {} if self.chance(0.02) else {"topic": topic}, body)

    def _queue_data(self, broker: str, topic: str) -> dict[str, Any]:
        flag = registrations.unit_flags(self.topics.index(topic)) if topic in self.topics else 0
        nums = {"readQueueNums": self.rng.choice((1, 8)), "writeQueueNums": self.rng.choice((1, 8))}
        return {
            "brokerName": broker,
            "perm": self.rng.choice(registrations.PERMS),
            "topicSysFlag": flag,
        } | nums

    def kv(self) -> Op:
        rng = self.rng
        namespace = rng.choice((self.prefix + "n1", self.prefix + "n2", "ORDER_TOPIC_CONFIG"))
        key = rng.choice(self.topics)
        code = rng.choice((100, 100, 101, 101, 102, 219))
        ext: dict[str, Any] = {"namespace": namespace}
        if code != 219:
            ext["key"] = key
        if code == 100:
            ext["value"] = rng.choice(VALUES)
        # A broken name of a put would leave traces that the other sequences see.
        spare = ("namespace", "key") if code == 100 else ()
        return self._op(code, self._odd_ext(ext, 0.08, spare), oneway=self.chance(0.05))

    def by_cluster(self) -> Op:
        ext = {"cluster": self.rng.choice((*self.clusters, self.prefix + "none"))}
        return self._op(224, self._odd_ext(ext))

    def member_group(self) -> Op:
        ext = {"clusterName": self.rng.choice(self.clusters), "brokerName": self.rng.choice(self.names)}
        return self._op(901, self._odd_ext(ext))

    def heartbeat(self) -> Op:
        broker = self.rng.choice(self.brokers)
        ext = broker.ext() | {"epoch": "1", "maxOffset": "x"}
        return self._op(904, self._odd_ext(ext), oneway=self.chance(0.5))

    def settings(self) -> Op:
        if self.toggled and self.chance(0.4):
            return self._op(318, None, self._toggles())
        return self._op(318, None, self.rng.choice(OTHER_SETTINGS).encode())

    def _toggles(self) -> bytes:
        chosen = self.rng.sample(TOGGLES, self.rng.choice((1, 2, 3)))
        return "".join(f"{name}={self.rng.choice(('true', 'false'))}\n" for name in chosen).encode()

    def unknown(self) -> Op:
        ext = self.rng.choice((None, {}, {"a": "b"}, {"topic": self.topics[0]}))
        return self._op(self.rng.choice(UNKNOWN_CODES), ext, oneway=self.chance(0.1))

    def odd(self) -> Op:
        rng, connection, choice = self.rng, self._new_connection(), self.rng.randrange(10)
        if choice < 3:
            return odd_headers.odd_header(rng, connection, self.prefix)
        if choice < 5:
            return odd_headers.odd_ext(rng, connection, self.prefix)
        if choice < 7:
            return odd_headers.odd_binary(rng, connection, self.prefix)
        if choice == 9:
            return rng.choice((odd_headers.odd_utf8, odd_headers.good_and_bad))(rng, connection, self.prefix)
        if self.chance(0.2):
            connection = rng.choice(self.brokers).connection
        return odd_headers.garbage(rng, connection) if choice == 7 else odd_headers.cut_frame(rng, connection)

    def end(self) -> Op:
        kind = Kind.CLOSE if self.chance(0.7) else Kind.RESET
        return Op(kind, self.rng.choice(self.brokers).connection)

    def burst(self) -> Op:
        """Several reads in one write; their answers may come in any order."""
        makers = (self.route, self.whole_server, self.member_group, self.by_cluster)
        parts = tuple(self._two_way(self.rng.choice(makers)()) for _ in range(self.rng.randrange(2, 6)))
        return Op(Kind.BURST, 52, parts=parts)

    @staticmethod
    def _two_way(op: Op) -> Op:
        return replace(op, oneway=False)
