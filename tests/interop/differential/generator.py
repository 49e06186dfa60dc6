"""Sequences of operations out of a seed: the same seed gives the same bytes, whatever the servers answer."""

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Any

from tests.interop import wire
from tests.interop.differential import odd_headers, registrations
from tests.interop.differential.operations import Kind, Op
from tests.interop.differential.registrations import Broker

UNKNOWN_CODES = (0, 1, 17, 34, 99, 107, 905, 1003, 9999, 32767, -1, -5)
VALUES = ("v", "", " ", "broker-a:8;broker-b:8", "é/\\\"'", "\x00\x1f\x7f\x85", "\u2028\ufeff😀", "x" * 300)
ODD_EXT: tuple[Any, ...] = (None, "", " ", "x", 5, -1.5, True, {"a": 1}, [1, "2"])
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
)
LANGUAGES = ("JAVA", "JAVA", "JAVA", "GO", "CPP", "PYTHON", "NODE_JS")


class Generator:
    """One sequence: its names, its brokers, and what they would do next."""

    def __init__(self, seed: str) -> None:
        self.rng = Random(seed)
        self.prefix = f"d{zlib.crc32(seed.encode()):08x}-"
        self.topics = [f"{self.prefix}t{number}" for number in range(5)] + [f"{self.prefix}Ünï/{{x}}"]
        self.topics.append(f"rmq_sys_SYNC_BROKER_MEMBER_{self.prefix}b0")
        self.clusters = [f"{self.prefix}c{number}" for number in range(2)]
        self.brokers = [self._broker(number) for number in range(6)]
        self.names = list(dict.fromkeys(broker.name for broker in self.brokers))
        self.mixes_clusters = self.chance(0.08)
        self.toggled = self.chance(0.35)
        self._fresh = 100
        self._makers: list[tuple[float, Callable[[], Op]]] = [
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
        ]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def operations(self, count: int) -> Iterator[Op]:
        """Some brokers come, then anything happens, then everything that can be seen is read."""
        if self.toggled:
            yield self._op(318, None, self._toggles())
        for broker in self.rng.sample(self.brokers, 3):
            yield self._plain_registration(broker)
        weights = [weight for weight, _ in self._makers]
        for _, make in self.rng.choices(self._makers, weights, k=count):
            yield make()
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

    def _broker(self, number: int) -> Broker:
        group, member = divmod(number, 2)
        cluster, name = self.clusters[group // 2], f"{self.prefix}b{group}"
        return Broker(cluster, name, member, f"10.0.{group}.{member}:10911", connection=number)

    # How a request is dressed

    def _op(
        self,
        code: int,
        ext: dict[str, Any] | None = None,
        body: bytes = b"",
        version: int | None = None,
        connection: int = 50,
        oneway: bool = False,
        marks: tuple[str, ...] = (),
    ) -> Op:
        """A request in one of the two encodings; odd values need JSON, null ones disappear in binary."""
        rng = self.rng
        version = rng.choice(registrations.VERSIONS) if version is None else version
        plain = all(isinstance(value, str) for value in (ext or {}).values())
        binary = plain and -32768 <= code <= 32767 and rng.random() < 0.4
        encoding = wire.BINARY if binary else wire.JSON
        language = rng.choice(LANGUAGES)
        request = Op(Kind.REQUEST, connection, code, ext, body, encoding, version)
        return replace(request, oneway=oneway, language=language, marks=frozenset(marks))

    def _odd_ext(
        self, ext: dict[str, Any], probability: float = 0.06, spare: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Sometimes one field is missing or of an odd type."""
        names = [name for name in ext if name not in spare]
        if names and self.chance(probability):
            name = self.rng.choice(names)
            if self.chance(0.4):
                return {key: value for key, value in ext.items() if key != name}
            return ext | {name: self.rng.choice(ODD_EXT)}
        return ext

    def _new_connection(self) -> int:
        self._fresh += 1
        return self._fresh

    # One method for each family of requests

    def register(self) -> Op:
        rng, broker = self.rng, self.rng.choice(self.brokers)
        self._evolve(broker)
        if self.chance(0.12):
            return self._odd_registration(broker)
        return self._plain_registration(broker, topics=rng.choice((0, 1, 2, 2, 2, 3, 4, 5)))

    def _evolve(self, broker: Broker) -> None:
        """Between two registrations a broker may have changed its version, place, role or connection."""
        if self.chance(0.5):
            broker.counter += 1
        if self.chance(0.12):
            broker.connection = self._new_connection()
        if self.chance(0.03):
            broker.connection = self.rng.choice(self.brokers).connection
        if self.chance(0.08):
            # Not one address in two clusters: which filter list a route then shows is left to Java's hashing.
            broker.address = f"10.{int(broker.name[-1]) // 2}.9.{self.rng.randrange(4)}:10911"
            broker.connection = self._new_connection()
        if self.chance(0.1):
            broker.state_version = self.rng.randrange(4)
        if self.chance(0.06):
            broker.id = self.rng.choice((0, 1, 2, 7, -1))
        if self.mixes_clusters and self.chance(0.3):
            broker.cluster = self.rng.choice(self.clusters)

    def _plain_registration(self, broker: Broker, topics: int | None = None) -> Op:
        rng = self.rng
        count = rng.choice((2, 3, 4)) if topics is None else topics
        version = rng.choice(registrations.VERSIONS)
        compressed = self.chance(0.15)
        wrapper = self._wrapper(broker, count, compressed)
        if version < 37:
            # Brokers this old know no static topics, and Java reads their bodies with stricter rules.
            wrapper.pop("topicQueueMappingInfoMap", None)
        filters = rng.choice(([], [], None, ["10.0.0.9:1"], ["f1", "f2"]))
        ext = broker.ext() | self._optional_fields(broker)
        if compressed:
            tail = version >= 413 if self.chance(0.9) else version < 413
            body = registrations.compress(wrapper, filters or [], tail)
            ext["compressed"] = "true"
        elif version < 37:
            body = registrations.body_text(wrapper)
        else:
            whole = {"filterServerList": filters, "topicConfigSerializeWrapper": wrapper}
            body = registrations.body_text(whole)
        if self.chance(0.3):
            right = zlib.crc32(body) & 0x7FFFFFFF
            ext["bodyCrc32"] = str(right if self.chance(0.8) else right ^ 1)
        oneway = count != 1 and self.chance(0.1)
        marks = ("deletes topics",) if self.toggled else ()
        ext, extra = self._broken_fields(ext)
        return self._op(103, ext, body, version, broker.connection, oneway and not extra, marks + extra)

    def _wrapper(self, broker: Broker, count: int, compressed: bool = False) -> dict[str, Any]:
        """Some topics of the broker. The compressed form has no unit flags, so it takes topics without."""
        rng = self.rng
        numbers = [n for n in range(len(self.topics)) if not (compressed and registrations.unit_flags(n))]
        chosen = rng.sample(numbers, min(count, len(numbers)))
        odd = self.chance(0.1)
        table = {
            self.topics[number]: registrations.topic_config(rng, self.topics[number], number, odd)
            for number in chosen
        }
        wrapper: dict[str, Any] = {"dataVersion": broker.data_version(), "topicConfigTable": table}
        if chosen and self.chance(0.2):
            names = [self.topics[number] for number in chosen[:2]]
            infos = {name: registrations.mapping(rng, name, broker.name) for name in names}
            wrapper["topicQueueMappingInfoMap"] = infos
        return wrapper

    def _optional_fields(self, broker: Broker) -> dict[str, Any]:
        rng, fields = self.rng, {}
        acting = rng.choice((None, "false", "true", "true"))
        if acting is not None:
            fields["enableActingMaster"] = acting
        if self.chance(0.25):
            fields["__ZONE_NAME"] = rng.choice(("zA", "zB", "ZA"))
        if self.chance(0.2):
            fields["heartbeatTimeoutMillis"] = rng.choice(("60000", "x", " 5", "3000000"))
        return fields

    def _broken_fields(self, ext: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """A field is missing, but not the broker's name or address.

        The nulls that those leave in Java's tables break requests of every later sequence, so
        test_edges.py sends them to servers of their own.
        """
        if self.chance(0.97):
            return ext, ()
        name = self.rng.choice(("clusterName", "brokerId", "haServerAddr", "bodyCrc32"))
        marks = ("Java throws inside",) if name == "clusterName" else ()
        kept = {key: value for key, value in ext.items() if key != name}
        if name in ("brokerId", "bodyCrc32") and self.chance(0.5):
            kept[name] = self.rng.choice(("x", "", " 1", "99999999999999999999"))
        return kept, marks

    def _odd_registration(self, broker: Broker) -> Op:
        rng, ext = self.rng, broker.ext()
        source = rng.choice(
            (registrations.BROKEN, registrations.ODD, registrations.ODD, "cut", "crc", "null")
        )
        if self.chance(0.04):
            return self._op(
                103,
                ext,
                rng.choice(registrations.MALFORMED),
                513,
                broker.connection,
                marks=("malformed JSON",),
            )
        if self.chance(0.04):
            return self._throwing_registration(broker)
        whole = registrations.body_text({"topicConfigSerializeWrapper": self._wrapper(broker, 2)})
        if self.chance(0.05):
            return self._op(
                103, ext, rng.choice(registrations.NO_TABLE), 513, broker.connection, marks=("no table",)
            )
        if source == "null":
            return self._op(103, ext, b"", None, broker.connection)
        if source == "crc":
            return self._op(103, ext | {"bodyCrc32": "5"}, rng.choice((b"", whole)), None, broker.connection)
        if source == "cut":
            body = whole[: rng.randrange(1, len(whole) - 1)]
            compressed = {"compressed": "true"} if self.chance(0.2) else {}
            return self._op(103, ext | compressed, body, 513, broker.connection)
        return self._op(103, ext, rng.choice(source), 513, broker.connection)  # type: ignore[arg-type]

    def _throwing_registration(self, broker: Broker) -> Op:
        wrapper = self._wrapper(broker, 3)
        table = wrapper["topicConfigTable"]
        if self.chance(0.5):
            table[next(iter(table))]["topicName"] = None
        else:
            wrapper["topicQueueMappingInfoMap"] = {next(iter(table)): None}
        body = registrations.body_text({"topicConfigSerializeWrapper": wrapper})
        return self._op(103, broker.ext(), body, 513, broker.connection, marks=("Java throws inside",))

    def unregister(self) -> Op:
        rng, broker = self.rng, self.rng.choice(self.brokers)
        ext = broker.ext()
        del ext["haServerAddr"]
        if self.chance(0.3):
            wrong = {"brokerId": "5", "brokerAddr": "10.9.9.9:1", "clusterName": self.prefix + "none"}
            name = rng.choice(list(wrong))
            ext[name] = wrong[name]
        if self.chance(0.1):
            ext["brokerName"] = self.prefix + "none"
        return self._op(104, ext, connection=rng.choice((broker.connection, 50)), oneway=self.chance(0.1))

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
        rng, connection, choice = self.rng, self._new_connection(), self.rng.randrange(9)
        if choice < 3:
            return odd_headers.odd_header(rng, connection, self.prefix)
        if choice < 5:
            return odd_headers.odd_ext(rng, connection, self.prefix)
        if choice < 7:
            return odd_headers.odd_binary(rng, connection, self.prefix)
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
