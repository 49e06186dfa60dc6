"""Reads which brokers an operator expects: from names, a file, a plan file or a journal."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.operations.inventory.records import RETENTION_MS, ExpectedBroker

_LABEL_PATTERN = re.compile(r"(?P<name>[^\s:,/]+)([:/](?P<id>\d+))?")
_ADDRESS_PATTERN = re.compile(r".+:\d+")


class InvalidExpectationError(RocketMQError):
    """The text or file names no brokers; the message says why."""


class BrokerLabel(NamedTuple):
    """A broker as an operator types it. `broker_id` is None if none was given."""

    broker_name: str
    broker_id: int | None

    def is_of(self, broker: ExpectedBroker) -> bool:
        """Whether the label means this broker; without an id it means every process of the name."""
        return broker.broker_name == self.broker_name and self.broker_id in (None, broker.broker_id)


def parse_labels(labels_text: str, problem: str = "not a broker name") -> list[BrokerLabel]:
    """Parse `broker-a,broker-b:1`; `problem` says what a part is not.

    Raises:
        InvalidExpectationError: a part is not a broker name.
    """
    labels = [label.strip() for label in labels_text.split(",") if label.strip()]
    if not labels:
        raise InvalidExpectationError(f'no broker name in "{labels_text}": use broker-a,broker-b:1')
    return [_parse_label(label, problem) for label in dict.fromkeys(labels)]


def _parse_label(label: str, problem: str) -> BrokerLabel:
    label_match = _LABEL_PATTERN.fullmatch(label)
    if label_match is None:
        raise InvalidExpectationError(f'"{label}" is {problem}: use broker-a or broker-a:1')
    return BrokerLabel(label_match["name"], None if label_match["id"] is None else int(label_match["id"]))


def _expect_labels(labels_text: str, problem: str = "not a broker name") -> list[ExpectedBroker]:
    """Expect the brokers of these labels. A name without an id stands for the master."""
    return [
        ExpectedBroker("", name, broker_id or MASTER_BROKER_ID, "", is_pinned=True)
        for name, broker_id in parse_labels(labels_text, problem)
    ]


def read_expectation(source_text: str, now_ms: int) -> list[ExpectedBroker]:
    """Read the expected brokers from names, or from the file or folder of this name.

    A folder is a journal, or the folder of `collect`. A file is a plan, or has a broker in each line.

    Raises:
        InvalidExpectationError: the text is not a name, and not a readable file or folder.
    """
    source_path = Path(source_text).expanduser()
    try:
        if source_path.is_dir():
            return list(_read_journals(source_path, now_ms))
        if source_path.is_file():
            return _read_file(source_path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidExpectationError(f'"{source_text}" is not readable: {reason}') from None
    return _expect_labels(source_text, "neither a file nor a broker name")


def _read_file(file_path: Path) -> list[ExpectedBroker]:
    from nsadmin.operations.plans.plan_file import parse_plan

    file_text = file_path.read_text("utf-8")
    saved_plan = parse_plan(file_text, file_path.name)
    if saved_plan is not None:
        # A plan names brokers and the addresses of name servers.
        broker_names = [name for name in saved_plan.server_names if not _ADDRESS_PATTERN.fullmatch(name)]
        return _expect_labels(",".join(broker_names))
    lines = (line.partition("#")[0].strip() for line in file_text.splitlines())
    return _expect_labels(",".join(line for line in lines if line))


def _read_journals(folder: Path, now_ms: int) -> Iterator[ExpectedBroker]:
    from namesrv_core.storage.journal import reader, segments

    found_brokers: dict[str, ExpectedBroker] = {}
    for journal_folder in segments.find_journals(folder):
        if not segments.list_segments(journal_folder):
            raise InvalidExpectationError(f'no journal in "{folder}"')
        for journal_record in reader.read_records(journal_folder, now_ms - RETENTION_MS):
            for broker in _brokers_of_record(journal_record.event_fields, journal_record.time_ms):
                found_brokers[broker.label] = broker
    yield from found_brokers.values()


def _brokers_of_record(event_fields: Mapping[str, Any], time_ms: int) -> Iterable[ExpectedBroker]:
    """Return the registered brokers of a record: that of an event, or the groups of a snapshot."""
    broker_places = [
        (group["clusterName"], group["brokerName"], member["brokerId"], member["brokerAddr"])
        for group in event_fields.get("groups", ())
        for member in group["members"]
    ]
    if "brokerAddr" in event_fields and "brokerId" in event_fields and "brokerName" in event_fields:
        broker_places.append(
            tuple(event_fields[key] for key in ("clusterName", "brokerName", "brokerId", "brokerAddr"))
        )
    return [ExpectedBroker(*place, last_seen_ms=time_ms, is_pinned=True) for place in broker_places]
