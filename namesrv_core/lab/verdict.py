"""Verdict: do the journals contain the truth, and nothing that it does not explain?"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core.history.records import Record
from namesrv_core.lab.truth import Deed, Expected

ALARMS = frozenset({
    "AddressConflict", "AddressForgotten", "BrokerRegistered", "BrokerUnregistered", "EventsLost",
    "HeartbeatGap", "JournalRepaired", "MinBrokerIdChanged", "RegistrationRefused", "ServerPaused",
    "ServerStarted", "ServerStopping", "TopicDeleted", "WritePermAdded", "WritePermWiped",
})  # fmt: skip
"""What does not happen by itself: records of these types need a reason in the truth."""

_SLACK = 5
"""Milliseconds by which clocks may be apart that show whole ones."""


class Finding(NamedTuple):
    """What was expected of one server, of one broker unless it is "", and after how many seconds it came."""

    deed: Deed
    expected: Expected
    server: str
    broker: str
    after: float | None

    @property
    def is_missed(self) -> bool:
        return self.after is None and self.expected.sure


class Verdict(NamedTuple):
    """`findings` are those that were due before the end; `unexplained` are alarms without a reason."""

    findings: list[Finding]
    unexplained: list[tuple[str, Record]]

    @property
    def missed(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.is_missed]


def judge(deeds: Sequence[Deed], journals: Mapping[str, Sequence[Record]]) -> Verdict:
    """Compare a run's deeds with the journals of its name servers, by their names."""
    began = next(deed.time for deed in deeds if deed.fault == "run" and deed.phase == "begin")
    ended = next((deed.time for deed in deeds if deed.fault == "run" and deed.phase == "end"), None)
    explained: set[tuple[str, int]] = set()
    findings = []
    for deed, expected, server, broker in _cases(deeds):
        due = deed.time + expected.within * 1000
        shift = _shift(deeds, server, deed.time)
        found = [
            record
            for record in journals.get(server, ())
            if deed.time + shift - _SLACK <= record.time <= due + shift + _SLACK
            and _matches(expected, broker, record)
        ]
        explained |= {(server, record.seq) for record in found}
        if ended is None or due <= ended or found:
            after = (found[0].time - shift - deed.time) / 1000 if found else None
            findings.append(Finding(deed, expected, server, broker, after))
    unexplained = [
        (server, record)
        for server, records in journals.items()
        for record in records
        if record.type in ALARMS
        and began + _SLACK < record.time - _shift(deeds, server, record.time) < (ended or math.inf)
        and (server, record.seq) not in explained
    ]
    return Verdict(findings, unexplained)


def _cases(deeds: Iterable[Deed]) -> Iterator[tuple[Deed, Expected, str, str]]:
    for deed in deeds:
        for expected in deed.expected:
            for server in expected.on:
                for broker in expected.each or ("",):
                    yield deed, expected, server, broker


def _shift(deeds: Iterable[Deed], server: str, until: int) -> int:
    """By how many ms the clock of a server had been set."""
    return sum(
        round(deed.details["seconds"] * 1000)
        for deed in deeds
        if deed.fault == "skew" and server in deed.on and deed.time < until
    )


def _matches(expected: Expected, broker: str, record: Record) -> bool:
    if record.type not in expected.types:
        return False
    if expected.causes and record.origin.cause not in expected.causes:
        return False
    wanted = dict(expected.where)
    if broker:
        name, _, number = broker.rpartition(":")
        wanted |= {"brokerName": name, "brokerId": int(number)}
    return all(
        any(_is(item, value) for item in _values(record.fields, path.split(".")))
        for path, value in wanted.items()
    )


def _values(value: Any, path: Sequence[str]) -> Iterator[Any]:
    """What stands at a path; of a list, all of it."""
    if isinstance(value, list):
        for item in value:
            yield from _values(item, path)
    elif not path:
        yield value
    elif isinstance(value, Mapping) and path[0] in value:
        yield from _values(value[path[0]], path[1:])


def _is(item: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return bool(wanted["min"] <= item <= wanted["max"])
    if isinstance(wanted, (list, tuple)):
        return item in wanted
    return bool(item == wanted)
