"""The verdict of a run: whether the journals have all expected events and no unexplained ones."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from namesrv_core.history.records import JournalRecord
from namesrv_core.lab.truth_log import Deed, ExpectedEvent

ALARM_TYPES = frozenset({
    "AddressConflict", "AddressForgotten", "BrokerRegistered", "BrokerUnregistered", "EventsLost",
    "HeartbeatGap", "JournalRepaired", "MinBrokerIdChanged", "RegistrationRefused", "ServerPaused",
    "ServerStarted", "ServerStopping", "TopicDeleted", "WritePermAdded", "WritePermWiped",
})  # fmt: skip
"""The types of records that need an explanation in the truth log."""

_CLOCK_SLACK_MS = 5
"""The largest difference in ms between two clocks with a resolution of 1 ms."""


class ExpectationFinding(NamedTuple):
    """An event expected on one server (about one broker unless it is ""), and the seconds until it came."""

    deed: Deed
    expected: ExpectedEvent
    server_name: str
    broker_id_text: str
    after_seconds: float | None

    @property
    def is_missed(self) -> bool:
        return self.after_seconds is None and self.expected.is_sure


class RunVerdict(NamedTuple):
    """`findings` are the events due before the end; `unexplained` are records without an explanation."""

    findings: list[ExpectationFinding]
    unexplained: list[tuple[str, JournalRecord]]

    @property
    def missed_findings(self) -> list[ExpectationFinding]:
        return [finding for finding in self.findings if finding.is_missed]


def judge_journals(
    deeds: Sequence[Deed], records_by_server: Mapping[str, Sequence[JournalRecord]]
) -> RunVerdict:
    """Compare the deeds of a run with the journals of its name servers, by server name."""
    began_ms = next(deed.time_ms for deed in deeds if deed.fault == "run" and deed.phase == "begin")
    ended_ms = next((deed.time_ms for deed in deeds if deed.fault == "run" and deed.phase == "end"), None)

    @cache
    def list_records(server_name: str, types: tuple[str, ...]) -> list[JournalRecord]:
        return [record for record in records_by_server.get(server_name, ()) if record.event_type in types]

    explained_records: set[tuple[str, int]] = set()
    findings = []
    for deed, expected_event, server_name, text in _list_cases(deeds):
        due_ms = deed.time_ms + expected_event.within_seconds * 1000
        shift_ms = _clock_shift_ms(deeds, server_name, deed.time_ms)
        matching_records = [
            r
            for r in list_records(server_name, expected_event.types)
            if deed.time_ms + shift_ms - _CLOCK_SLACK_MS <= r.time_ms <= due_ms + shift_ms + _CLOCK_SLACK_MS
            and _matches_expectation(expected_event, text, r)
        ]
        explained_records |= {(server_name, record.seq) for record in matching_records}
        if ended_ms is None or due_ms <= ended_ms or matching_records:
            after_seconds = (
                (matching_records[0].time_ms - shift_ms - deed.time_ms) / 1000 if matching_records else None
            )
            findings.append(ExpectationFinding(deed, expected_event, server_name, text, after_seconds))
    unexplained_records = [
        (server_name, record)
        for server_name, records in records_by_server.items()
        for record in records
        if record.event_type in ALARM_TYPES
        and began_ms + _CLOCK_SLACK_MS
        < record.time_ms - _clock_shift_ms(deeds, server_name, record.time_ms)
        < (ended_ms or math.inf)
        and (server_name, record.seq) not in explained_records
    ]
    return RunVerdict(findings, unexplained_records)


def _list_cases(deeds: Iterable[Deed]) -> Iterator[tuple[Deed, ExpectedEvent, str, str]]:
    for deed in deeds:
        for expected_event in deed.expected:
            for server_name in expected_event.server_names:
                for broker_id_text in expected_event.broker_id_texts or ("",):
                    yield deed, expected_event, server_name, broker_id_text


def _clock_shift_ms(deeds: Iterable[Deed], server_name: str, until_ms: int) -> int:
    """The change of a server's clock in ms."""
    return sum(
        round(deed.details["seconds"] * 1000)
        for deed in deeds
        if deed.fault == "skew" and server_name in deed.target_names and deed.time_ms < until_ms
    )


def _matches_expectation(expected_event: ExpectedEvent, broker_id_text: str, record: JournalRecord) -> bool:
    if expected_event.causes and record.origin.cause not in expected_event.causes:
        return False
    wanted_values = dict(expected_event.field_values)
    if broker_id_text:
        broker_name, _, broker_id = broker_id_text.rpartition(":")
        wanted_values |= {"brokerName": broker_name, "brokerId": int(broker_id)}
    return all(
        any(
            _equals_wanted(field_value, wanted_value)
            for field_value in _values_at_path(record.event_fields, field_path.split("."))
        )
        for field_path, wanted_value in wanted_values.items()
    )


def _values_at_path(json_value: Any, field_path: Sequence[str]) -> Iterator[Any]:
    """The values at a path; for a list, those of all its items."""
    if isinstance(json_value, list):
        for item in json_value:
            yield from _values_at_path(item, field_path)
    elif not field_path:
        yield json_value
    elif isinstance(json_value, Mapping) and field_path[0] in json_value:
        yield from _values_at_path(json_value[field_path[0]], field_path[1:])


def _equals_wanted(field_value: Any, wanted_value: Any) -> bool:
    if isinstance(wanted_value, Mapping):
        return bool(wanted_value["min"] <= field_value <= wanted_value["max"])
    if isinstance(wanted_value, (list, tuple)):
        return field_value in wanted_value
    return bool(field_value == wanted_value)
