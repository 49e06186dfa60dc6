"""Registrations in an order that makes their effect visible: first a whole one that both servers take.

Each scenario returns its operations. A null topic table, for example, says something only of a known broker.
"""

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.interop.differential import registrations
from tests.interop.differential.operations import Op
from tests.interop.differential.registering import Registering
from tests.interop.differential.registrations import Broker

WRAPPER = "topicConfigSerializeWrapper"
KNOWN_FILTERS = ["k:1"]
# Both servers agree on what these are; some of them are refused.
FILTER_TEXTS = (
    "null", "", " ", "[]", "{}", '{"a":1}', '""', '"f:2"', "5", "true", "[null]", '["f:2"]', '["f:2"', "x",
)  # fmt: skip
LENIENT_FILTER_TEXTS = ("['f:2']", '["f:2",]', "/* c */[]")
FLAGS = ("true", '"TRUE"', '"1"', '"Y"', '"N"', '"yes"', '"T"', "null", "1", "5", "1.5", "[]", "[true]", "{}")
QUEUE_IDS = (
    "{0:0}",
    '{"1":1}',
    "{}",
    "[]",
    "false",
    "5",
    "{0:null}",
    '{0:""}',
    '{"":1}',
    '{"null":1}',
    '{"a":1}',
)
ODD_MAPPINGS = (
    '"currIdMap":null',
    '"currIdMap":""',
    '"currIdMap":{"0x1":1}',
    '"currIdMap":{"true":1}',
    '"bname":null',
)


class Scenarios(Registering):
    """Scenarios of one sequence."""

    def known_broker(self, numbers: Sequence[int] = range(4)) -> tuple[Broker, list[str], Op]:
        """A broker, its topics and its registration; no broker has a higher stateVersion."""
        broker = self.rng.choice(self.brokers)
        broker.counter += 1
        self._fresh += 1
        broker.state_version = self._fresh
        topics = [self.topics[number] for number in self.rng.sample(numbers, self.rng.choice((2, 3)))]
        return broker, topics, self._registration(broker, self._members(broker, topics), KNOWN_FILTERS)

    def _members(self, broker: Broker, topics: list[str]) -> dict[str, Any]:
        flags = {topic: registrations.unit_flags(self.topics.index(topic)) for topic in topics}
        table = {topic: {"topicName": topic, "topicSysFlag": flag} for topic, flag in flags.items()}
        return {"dataVersion": broker.data_version(), "topicConfigTable": table}

    def _registration(
        self,
        broker: Broker,
        wrapper: Any,
        filters: Any,
        marks: tuple[str, ...] = (),
        body: bytes | None = None,
    ) -> Op:
        if body is None:
            body = registrations.body_text({"filterServerList": filters, WRAPPER: wrapper})
        return self._op(103, broker.ext(), body, 513, broker.connection, marks=(*self._effects(), *marks))

    def _effects(self) -> tuple[str, ...]:
        return ("deletes topics",) if self.toggled else ()

    def _route(self, topics: list[str]) -> Op:
        return self._op(105, {"topic": self.rng.choice(topics)}, version=self.rng.choice((317, 513)))

    def null_tables(self) -> tuple[Op, ...]:
        """A wrapper or a topic table that is null, with filters and mappings beside it."""
        broker, topics, first = self.known_broker()
        broker.counter += 1
        wrapper: Any = self._members(broker, topics)
        wrapper["topicConfigTable"] = self.rng.choice((None, ""))
        if self.chance(0.4):
            wrapper["topicQueueMappingInfoMap"] = {
                topics[0]: registrations.mapping(self.rng, topics[0], broker.name)
            }
        if self.chance(0.3):
            wrapper = self.rng.choice((None, ""))
        again = self._registration(broker, wrapper, self.rng.choice((None, [], ["f:2"], {}, "f:2")))
        switch = self._op(318, None, b"deleteTopicWithBrokerRegistration=true\n")
        return (*((switch,) if self.toggled else ()), first, again, self._route(topics))

    def null_mappings(self) -> tuple[Op, ...]:
        broker, topics, first = self.known_broker()
        broker.counter += 1
        wrapper = self._members(broker, topics) | {"topicQueueMappingInfoMap": self.rng.choice((None, ""))}
        # A slave's tables are not looked at.
        marks = () if broker.id else ("null mappings",)
        return first, replace(
            self._registration(broker, wrapper, []), marks=frozenset((*self._effects(), *marks))
        )

    def odd_mapping(self) -> tuple[Op, ...]:
        """A queue mapping with members that no broker sends."""
        broker, topics, first = self.known_broker()
        broker.counter += 1
        odd = f'"dirty":{self.rng.choice(FLAGS)},"currIdMap":{self.rng.choice(QUEUE_IDS)}'
        marks: tuple[str, ...] = ()
        if self.chance(0.2):
            odd, marks = self.rng.choice(ODD_MAPPINGS), ("odd mapping",)
        info = f'{{"topic":"{topics[0]}","bname":"{broker.name}","epoch":5,"totalQueues":1,{odd}}}'
        wrapper = self._members(broker, topics) | {"topicQueueMappingInfoMap": {topics[0]: "#info"}}
        body = registrations.body_text({"filterServerList": [], WRAPPER: wrapper})
        body = body.replace(b'"#info"', info.encode())
        return first, self._registration(broker, None, None, marks, body), self._route(topics)

    def compressed(self) -> tuple[Op, ...]:
        """A compressed registration of a known broker: its filter list is odd, or its end is missing."""
        # The compressed form has no unit flags.
        broker, topics, first = self.known_broker((0, 4, 5))
        broker.counter += 1
        filters, cut, kind = self.rng.choice(FILTER_TEXTS), 0, self.rng.random()
        marks: tuple[str, ...] = ()
        if kind < 0.15:
            filters, marks = self.rng.choice(LENIENT_FILTER_TEXTS), ("lenient filter list",)
        elif kind < 0.35:
            # The checksum has four bytes.
            cut, marks = self.rng.randrange(1, 5), ("compressed without its end",)
        elif kind < 0.45:
            marks = ("compressed without saying so",)
        body = packed(broker, topics, filters)
        op = self._registration(broker, None, None, marks, body[: len(body) - cut])
        compression_ext = {} if "compressed without saying so" in marks else {"compressed": "true"}
        return first, replace(op, ext={**(op.ext or {}), **compression_ext}), self._route(topics)

    def refused_takeover(self) -> tuple[Op, ...]:
        """A slave claims the place of a master with a higher stateVersion, and comes back as a slave."""
        master, topics, first = self.known_broker()
        first = replace(first, ext={**(first.ext or {}), "brokerId": "0"})
        master.id, second = 0, self._second_at(master)
        as_slave, as_master = replace(second, id=9), second
        come, claim = (
            self._registration(broker, self._members(broker, topics), KNOWN_FILTERS)
            for broker in (as_slave, as_master)
        )
        back = self._registration(
            as_slave, self._members(as_slave, topics), self.rng.choice((None, None, {}, []))
        )
        return first, come, claim, self._route(topics), back, self._route(topics)

    def takeover_without_version(self) -> tuple[Op, ...]:
        """Another address registers as a broker, and one of the two has a data version that is null."""
        broker, topics, first = self.known_broker()
        second = self._second_at(broker)
        without = {**self._members(broker, topics), "dataVersion": None}
        marks = ("null data version in a takeover",)
        if self.chance(0.5):
            return first, self._registration(second, without, [], marks)
        return (
            first,
            self._registration(broker, without, []),
            self._registration(second, self._members(second, topics), [], marks),
        )

    def _second_at(self, broker: Broker) -> Broker:
        """A process of the same broker at an address of its own, with a low stateVersion."""
        address = broker.address.rpartition(":")[0] + f":{30_000 + self._new_connection()}"
        return replace(broker, address=address, connection=self._new_connection(), state_version=1)


def packed(broker: Broker, topics: list[str], filters: str) -> bytes:
    lines = [f"{topic} 8 8 6 SINGLE_TAG".encode() for topic in topics]
    parts = [_sized(json.dumps(broker.data_version()).encode()), struct.pack(">i", len(lines))]
    parts += [_sized(line) for line in lines]
    return zlib.compress(b"".join([*parts, _sized(filters.encode()), struct.pack(">i", 0)]))


def _sized(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data
