"""Comparing: what differs between pictures of name servers, and a hash of each part of each. Pure."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.pictures import Picture

SECTIONS = ("broker", "topic", "kv", "setting")
"""The parts of what a name server knows, by what their items are."""

OWN_SETTINGS = frozenset(
    {
        "bindAddress",
        "configStorePath",
        "journal",
        "journalDir",
        "journalServerId",
        "kvConfigPath",
        "listenPort",
        "rocketmqHome",
    }
)
"""Settings that name a place, and so are each name server's own."""

Value = Mapping[str, Any] | str


class Item(NamedTuple):
    """A thing that each name server should know alike.

    `place` is what the name is within: a broker's id, the broker name of a topic's queues ("" for a topic
    that has none anywhere), the namespace of a KV key.
    """

    what: str
    name: str
    place: str = ""


class Difference(NamedTuple):
    """A thing that they know differently: what each knows of it, in their order; None for nothing."""

    item: Item
    values: tuple[Value | None, ...]

    @property
    def missing(self) -> tuple[int, ...]:
        """Who knows nothing of it."""
        return tuple(at for at, value in enumerate(self.values) if value is None)

    @property
    def fields(self) -> tuple[tuple[str, tuple[Any, ...]], ...]:
        """What those that know it know differently: names and what each says; a text's name is ""."""
        known = [
            {"": value} if isinstance(value, str) else value for value in self.values if value is not None
        ]
        names = dict.fromkeys(name for value in known for name in value)
        told = {name: [value.get(name) for value in known] for name in names}
        return tuple(
            (name, tuple(None if value is None else _field(value, name) for value in self.values))
            for name, values in told.items()
            if any(value != values[0] for value in values)
        )


def _field(value: Value, name: str) -> Any:
    return value if isinstance(value, str) else value.get(name)


class Comparison(NamedTuple):
    """What differs between `servers`.

    `implied` are, by broker name, topics that differ only because the broker is not everywhere.
    """

    servers: tuple[str, ...]
    differences: tuple[Difference, ...]
    implied: Mapping[str, tuple[Difference, ...]]


def compare(pictures: Sequence[Picture], sections: Collection[str] = SECTIONS) -> Comparison:
    """What differs between these, of these sections, in the order of sections and names.

    Settings count that all of them have and that are no place (OWN_SETTINGS): which there are depends on the
    release. A KV value that is not there is the same as a namespace that is not.
    """
    tellers = {"broker": _brokers, "topic": _topics, "kv": _kv, "setting": _settings}
    found = [
        difference for section in SECTIONS if section in sections for difference in tellers[section](pictures)
    ]
    absent = _absent(pictures)
    kept: list[Difference] = []
    implied: dict[str, list[Difference]] = {}
    for difference in found:
        name = difference.item.place
        if _is_implied(difference, absent) and "broker" in sections:
            implied.setdefault(name, []).append(difference)
        else:
            kept.append(difference)
    servers = tuple(picture.source for picture in pictures)
    return Comparison(servers, tuple(kept), {name: tuple(topics) for name, topics in implied.items()})


def _absent(pictures: Sequence[Picture]) -> dict[str, tuple[int, ...]]:
    """Who knows nothing of a broker, by its name."""
    names = dict.fromkeys(name for picture in pictures for name in picture.brokers)
    return {
        name: tuple(at for at, picture in enumerate(pictures) if name not in picture.brokers)
        for name in names
    }


def _is_implied(difference: Difference, absent: Mapping[str, tuple[int, ...]]) -> bool:
    item = difference.item
    return (
        item.what == "topic"
        and bool(difference.missing)
        and absent.get(item.place) == difference.missing
        and not difference.fields
    )


def _differing(item: Item, values: list[Value | None]) -> Iterator[Difference]:
    if any(value != values[0] for value in values):
        yield Difference(item, tuple(values))


def _brokers(pictures: Sequence[Picture]) -> Iterator[Difference]:
    """Each member by itself: a slave may be known to one name server only."""
    for name in sorted({name for picture in pictures for name in picture.brokers}):
        groups = [picture.brokers.get(name, {}) for picture in pictures]
        ids = {broker_id for group in groups for broker_id in group.get("brokerAddrs", {})}
        for broker_id in sorted(ids, key=int):
            yield from _differing(
                Item("broker", name, broker_id), [_member(group, broker_id) for group in groups]
            )


def _member(group: Mapping[str, Any], broker_id: str) -> Value | None:
    addr = group.get("brokerAddrs", {}).get(broker_id)
    return None if addr is None else {"clusterName": group["clusterName"], "brokerAddr": addr}


def _topics(pictures: Sequence[Picture]) -> Iterator[Difference]:
    tables = [picture.topics for picture in pictures]
    for topic in sorted({name for table in tables for name in table}):
        brokers = [table.get(topic) for table in tables]
        if all(each == brokers[0] for each in brokers):
            continue
        names = sorted({name for each in brokers for name in each or ()})
        for name in names:
            yield from _differing(Item("topic", topic, name), [(each or {}).get(name) for each in brokers])
        if not names:
            yield from _differing(Item("topic", topic), list(brokers))


def _kv(pictures: Sequence[Picture]) -> Iterator[Difference]:
    for namespace in sorted({name for picture in pictures for name in picture.kv}):
        tables = [picture.kv.get(namespace, {}) for picture in pictures]
        for key in sorted({key for table in tables for key in table}):
            yield from _differing(Item("kv", key, namespace), [table.get(key) for table in tables])


def _settings(pictures: Sequence[Picture]) -> Iterator[Difference]:
    shared = set.intersection(*(set(picture.settings) for picture in pictures)) if pictures else set()
    for key in sorted(shared - OWN_SETTINGS):
        yield from _differing(Item("setting", key), [picture.settings[key] for picture in pictures])


def hashes(picture: Picture) -> dict[str, str]:
    """A hash of each section, equal where all that is in it is: 16 hexadecimal digits, the same everywhere.

    Of settings, those that name a place are left out; which others there are depends on the release.
    """
    settings = {key: value for key, value in picture.settings.items() if key not in OWN_SETTINGS}
    kv = {name: table for name, table in picture.kv.items() if table}
    parts = (_text(picture.brokers), _text_of_topics(picture), _text(kv), _text(settings))
    return {
        section: hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for section, text in zip(SECTIONS, parts, strict=True)
    }


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _text_of_topics(picture: Picture) -> str:
    # Tables of topics that are alike are one, see `pictures.of_each`.
    texts: dict[int, str] = {}
    lines = []
    for topic, brokers in sorted(picture.topics.items()):
        if id(brokers) not in texts:
            texts[id(brokers)] = _text(brokers)
        lines.append(f"{_text(topic)}:{texts[id(brokers)]}")
    return "\n".join(lines)
