"""Brokers coming and going: registrations of every kind, and unregistrations."""

import zlib
from typing import Any

from tests.interop.differential import registrations
from tests.interop.differential.dressing import Dresser
from tests.interop.differential.operations import Op
from tests.interop.differential.registrations import Broker

BODIES = {
    "broken body": registrations.BROKEN,
    "odd body": registrations.ODD,
    "no table": registrations.NO_TABLE,
    "malformed JSON": registrations.MALFORMED,
}
ODD_KINDS = {
    "broken body": 3,
    "odd body": 6,
    "no table": 1,
    "malformed JSON": 1,
    "throws inside": 1,
    "cut": 3,
    "crc": 3,
    "perhaps null": 3,
}


class Registering(Dresser):
    """Requests 103 and 104 of the sequence's brokers."""

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
            network = 9 if self.shares_addresses else int(broker.name[-1]) // 2
            broker.address = f"10.{network}.9.{self.rng.randrange(4)}:10911"
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
            # Brokers this old know no static topics. To Java the member is unknown then, and where it skips
            # an unknown member, fastjson 2 takes no integer keys without quotes.
            for info in wrapper.get("topicQueueMappingInfoMap", {}).values():
                info["currIdMap"] = {"0": 0}
        filters = rng.choice(([], [], None, ["10.0.0.9:1"], ["f1", "f2"]))
        ext = broker.ext() | self._optional_fields(broker)
        if compressed:
            tail = version >= 413 if self.chance(0.9) else version < 413
            body = registrations.compress(wrapper, filters, tail)
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
        """A registration with a body that no broker sends."""
        rng, ext, version = self.rng, broker.ext(), 513
        wrapper = self._wrapper(broker, 2)
        wrapper.pop("topicQueueMappingInfoMap", None)
        whole = registrations.body_text({"topicConfigSerializeWrapper": wrapper})
        kind = rng.choices(list(ODD_KINDS), list(ODD_KINDS.values()))[0]
        marks: tuple[str, ...] = ()
        if kind == "throws inside":
            return self._throwing_registration(broker)
        if kind in BODIES:
            body, marks = rng.choice(BODIES[kind]), (kind,)
        elif kind == "cut":
            body = whole[: rng.randrange(1, len(whole) - 1)]
            ext |= {"compressed": "true"} if self.chance(0.2) else {}
        else:
            body, version = rng.choice((b"", whole)), rng.choice(registrations.VERSIONS)
            ext |= {"bodyCrc32": "5"} if kind == "crc" else {}
        return self._op(103, ext, body, version, broker.connection, marks=marks)

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
            cluster = rng.choice((self.prefix + "none", *self.clusters * self.shares_addresses))
            wrong = {"brokerId": "5", "brokerAddr": "10.9.9.9:1", "clusterName": cluster}
            name = rng.choice(list(wrong))
            ext[name] = wrong[name]
        if self.chance(0.1):
            ext["brokerName"] = self.prefix + "none"
        return self._op(104, ext, connection=rng.choice((broker.connection, 50)), oneway=self.chance(0.1))
