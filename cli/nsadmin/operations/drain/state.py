"""The state of a drain and its JSON form. Pure.

Rule: a drain takes the snapshot of a name server once, before its first change there, and never again.
"""

from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple, Self, TypeVar

import msgspec

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import QueuesByTopic

STATE_VERSION = 1
DrainPhase = Literal["snapshot", "wipe", "settle", "wait", "safe", "undrain"]
"""The phases: save queues, remove write permissions, let clients refresh routes, wait until writes stop.

Then the broker is safe to stop. The phase "undrain" restores the writes.
"""


class InvalidStateError(RocketMQError):
    """A file is not a valid state. The message gives the reason."""


class SavedRecord(msgspec.Struct, frozen=True):
    """A record that a procedure saves as JSON."""

    def _replace(self, **changes: Any) -> Self:
        return msgspec.structs.replace(self, **changes)


RecordType = TypeVar("RecordType")


def build_state_record(saved_record: SavedRecord) -> dict[str, Any]:
    """Return a record in its JSON form."""
    return {"version": STATE_VERSION, **msgspec.to_builtins(saved_record)}


def parse_saved(
    json_value: Any, record_type: type[RecordType], optional_fields: Collection[str] = ()
) -> RecordType:
    """Parse the result of `build_state_record`, with the types of the record. Raises InvalidStateError."""
    if not isinstance(json_value, dict):
        raise InvalidStateError("not a JSON object")
    found_version = json_value.get("version")
    if found_version is None:
        raise InvalidStateError("the field version is missing")
    if found_version != STATE_VERSION:
        raise InvalidStateError(
            f"version {found_version} is not supported: this nsadmin reads version {STATE_VERSION}"
        )
    saved_record = convert_saved(json_value, record_type)
    missing_field = _find_missing(msgspec.to_builtins(saved_record), json_value, optional_fields)
    if missing_field is not None:
        raise InvalidStateError(f"the field {missing_field} is missing")
    return saved_record


def convert_saved(json_value: Any, record_type: type[RecordType]) -> RecordType:
    """Convert a JSON value strictly. Raises InvalidStateError, which says what is wrong where."""
    try:
        return msgspec.convert(json_value, record_type, str_keys=True)
    except ValueError as error:
        problem, _, place = str(error).replace("`", "").partition(" - at ")
        where = f" at {place.removeprefix('$.')}" if place else ""
        raise InvalidStateError(f"{problem[:1].lower()}{problem[1:]}{where}") from None


def _find_missing(whole_value: Any, json_value: Any, optional_fields: Collection[str] = ()) -> str | None:
    """The first field of a record, or of a record in it, that the file does not have."""
    if isinstance(whole_value, dict):
        pairs = []
        for name, whole_member in whole_value.items():
            if name in json_value:
                pairs.append((whole_member, json_value[name]))
            elif name not in optional_fields:
                return str(name)
    elif isinstance(whole_value, (list, tuple)):
        pairs = list(zip(whole_value, json_value, strict=True))
    else:
        return None
    return next((missing for pair in pairs if (missing := _find_missing(*pair)) is not None), None)


class DrainState(SavedRecord, frozen=True, rename="camel"):
    """The state of a drain. Times are in ms since 1970.

    Attributes:
        permission: The brokerPermission before a durable drain.
        wipes: How often each name server was asked to remove the write permission.
        reopened: How often registrations restored write permissions, on all name servers together.
        reopens: The same by name server; without the events of versions that kept only the sum.
        closed_since: When no name server that answered had a writable topic any more; None while one has.
        safe_since: When it became safe to stop the broker.
        puts: Messages per minute at the time `updated`, None if unknown.
    """

    cluster: str
    broker: str
    name_servers: tuple[str, ...]
    started: int
    updated: int
    by: str = ""
    phase: DrainPhase = "snapshot"
    durable: bool = False
    permission: int | None = None
    wipes: Mapping[str, int] = {}
    reopened: int = 0
    reopens: Mapping[str, int] = {}
    closed_since: int | None = None
    safe_since: int | None = None
    puts: int | None = None

    def count_reopens(self, namesrv_addr: str) -> int | None:
        """Return how often a registration restored write permissions there, None if only the sum is known."""
        if sum(self.reopens.values()) != self.reopened:
            return None
        return self.reopens.get(namesrv_addr, 0)


class QueueSnapshot(NamedTuple):
    """The broker's queues before the drain, at each name server by its address, and at the broker itself.

    `own_queues` is None if the broker did not answer.
    """

    queues_by_server: Mapping[str, QueuesByTopic] = {}
    own_queues: QueuesByTopic | None = None


def parse_state_record(state_json: Any) -> DrainState:
    """Parse the JSON form of a drain. Raises InvalidStateError."""
    return parse_saved(state_json, DrainState, optional_fields=("puts", "reopens"))


def build_snapshot_record(queue_snapshot: QueueSnapshot) -> dict[str, Any]:
    """Return a snapshot in its JSON form, with four numbers per topic."""
    return {
        "version": STATE_VERSION,
        "queues": ["readQueueNums", "writeQueueNums", "perm", "topicSysFlag"],
        "nameServers": {
            namesrv_addr: _queue_numbers(queues_by_topic)
            for namesrv_addr, queues_by_topic in queue_snapshot.queues_by_server.items()
        },
        "broker": None if queue_snapshot.own_queues is None else _queue_numbers(queue_snapshot.own_queues),
    }


class _SavedSnapshot(msgspec.Struct, rename="camel"):
    name_servers: dict[str, dict[str, tuple[int, int, int, int]]]
    broker: dict[str, tuple[int, int, int, int]] | None


def parse_snapshot_record(snapshot_json: Any, broker_name: str) -> QueueSnapshot:
    """Parse the result of `build_snapshot_record`. Raises InvalidStateError."""
    snapshot = parse_saved(snapshot_json, _SavedSnapshot)
    return QueueSnapshot(
        {
            namesrv_addr: _build_queues(broker_name, numbers_by_topic)
            for namesrv_addr, numbers_by_topic in snapshot.name_servers.items()
        },
        None if snapshot.broker is None else _build_queues(broker_name, snapshot.broker),
    )


def _queue_numbers(queues_by_topic: QueuesByTopic) -> dict[str, list[int]]:
    return {
        topic: [int(queue_number) for queue_number in queue_data[1:]]
        for topic, queue_data in queues_by_topic.items()
    }


def _build_queues(
    broker_name: str, numbers_by_topic: Mapping[str, tuple[int, int, int, int]]
) -> dict[str, QueueData]:
    return {topic: QueueData(broker_name, *numbers) for topic, numbers in numbers_by_topic.items()}


def to_camel_case(snake_name: str) -> str:
    """Return the JSON name of a field."""
    first_word, *other_words = snake_name.split("_")
    return first_word + "".join(other_word.capitalize() for other_word in other_words)
