"""The state of a drain and its JSON form. Pure.

Rule: a drain takes the snapshot of a name server once, before its first change there, and never again.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import QueuesByTopic

STATE_VERSION = 1
DrainPhase = Literal["snapshot", "wipe", "settle", "wait", "safe", "undrain"]
"""The phases: save queues, remove write permissions, let clients refresh routes, wait until writes stop.

Then the broker is safe to stop. The phase "undrain" restores the writes.
"""
_KNOWN_PHASES: tuple[str, ...] = get_args(DrainPhase)


class InvalidStateError(RocketMQError):
    """A file is not a valid state. The message gives the reason."""


class DrainState(NamedTuple):
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


def build_state_record(drain_state: DrainState) -> dict[str, Any]:
    """Return a state in its JSON form."""
    return {
        "version": STATE_VERSION,
        **{
            to_camel_case(field_name): field_value
            for field_name, field_value in drain_state._asdict().items()
        },
    }


def parse_state_record(state_json: Any) -> DrainState:
    """Parse the result of `build_state_record`. Raises InvalidStateError."""
    record_fields = {"puts": None, "reopens": {}, **_require_version(state_json)}
    try:
        drain_state = DrainState(
            **{
                field_name: record_fields[to_camel_case(field_name)]
                for field_name in DrainState._fields
                if field_name != "name_servers"
            },
            name_servers=tuple(record_fields["nameServers"]),
        )
    except KeyError as error:
        raise InvalidStateError(f"the field {error.args[0]} is missing") from None
    if drain_state.phase not in _KNOWN_PHASES:
        raise InvalidStateError(f'invalid phase "{drain_state.phase}"')
    return drain_state


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


def parse_snapshot_record(snapshot_json: Any, broker_name: str) -> QueueSnapshot:
    """Parse the result of `build_snapshot_record`. Raises InvalidStateError."""
    record_fields = _require_version(snapshot_json)
    try:
        own_numbers = record_fields["broker"]
        return QueueSnapshot(
            {
                namesrv_addr: _parse_queues(broker_name, numbers_by_topic)
                for namesrv_addr, numbers_by_topic in record_fields["nameServers"].items()
            },
            None if own_numbers is None else _parse_queues(broker_name, own_numbers),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidStateError(f"the queues of the broker are malformed ({error})") from None


def _require_version(json_record: Any) -> dict[str, Any]:
    if not isinstance(json_record, dict):
        raise InvalidStateError("not a JSON object")
    if json_record.get("version") != STATE_VERSION:
        raise InvalidStateError(
            f"version {json_record.get('version')} is not supported: this nsadmin reads version "
            f"{STATE_VERSION}"
        )
    return json_record


def _queue_numbers(queues_by_topic: QueuesByTopic) -> dict[str, list[int]]:
    return {
        topic: [int(queue_number) for queue_number in queue_data[1:]]
        for topic, queue_data in queues_by_topic.items()
    }


def _parse_queues(broker_name: str, numbers_by_topic: Mapping[str, Any]) -> dict[str, QueueData]:
    return {
        topic: QueueData(broker_name, *map(int, queue_numbers))
        for topic, queue_numbers in numbers_by_topic.items()
    }


def to_camel_case(snake_name: str) -> str:
    """Return the JSON name of a field."""
    first_word, *other_words = snake_name.split("_")
    return first_word + "".join(other_word.capitalize() for other_word in other_words)
