"""State: what a drain has to remember, and how a file has it. Pure.

Law: the snapshot of a name server is taken once, before anything is changed there, and never again.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from nsadmin.operations.drain.facts import Queues

VERSION = 1
Phase = Literal["snapshot", "wipe", "settle", "wait", "safe", "undrain"]
"""How far it has come: queues saved, writes taken away, clients told, writes stopped; or being undone."""
_PHASES: tuple[str, ...] = get_args(Phase)


class BadState(RocketMQError):
    """A file that is no state of a drain; the text says why."""


class State(NamedTuple):
    """A drain; times are ms since 1970.

    `closed_since` is when all name servers that answered were first seen without anything to write to, None
    while they are not; `safe_since` is when it became safe to stop the broker. `wipes` counts, for each name
    server, how often it was told. `permission` is what brokerPermission was before a durable drain.
    `puts` are messages a minute, as of when it was `updated`; None while unknown.
    """

    cluster: str
    broker: str
    name_servers: tuple[str, ...]
    started: int
    updated: int
    by: str = ""
    phase: Phase = "snapshot"
    durable: bool = False
    permission: int | None = None
    wipes: Mapping[str, int] = {}
    reopened: int = 0
    closed_since: int | None = None
    safe_since: int | None = None
    puts: int | None = None


class Snapshot(NamedTuple):
    """The broker's queues as each name server had them, by its address, and as the broker itself had them.

    `own` is None where the broker did not tell.
    """

    servers: Mapping[str, Queues] = {}
    own: Queues | None = None


def state_record(state: State) -> dict[str, Any]:
    """As a file has it."""
    return {"version": VERSION, **{camel(name): value for name, value in state._asdict().items()}}


def state_of(record: Any) -> State:
    """What `state_record` made. BadState."""
    fields = {"puts": None, **_versioned(record)}
    try:
        found = State(
            **{name: fields[camel(name)] for name in State._fields if name != "name_servers"},
            name_servers=tuple(fields["nameServers"]),
        )
    except KeyError as error:
        raise BadState(f"it has no {error.args[0]}") from None
    if found.phase not in _PHASES:
        raise BadState(f"it is in a phase {found.phase!r} that nobody knows")
    return found


def snapshot_record(snapshot: Snapshot) -> dict[str, Any]:
    """As a file has it: four numbers a topic."""
    return {
        "version": VERSION,
        "queues": ["readQueueNums", "writeQueueNums", "perm", "topicSysFlag"],
        "nameServers": {addr: _numbers(queues) for addr, queues in snapshot.servers.items()},
        "broker": None if snapshot.own is None else _numbers(snapshot.own),
    }


def snapshot_of(record: Any, broker: str) -> Snapshot:
    """What `snapshot_record` made. BadState."""
    fields = _versioned(record)
    try:
        own = fields["broker"]
        return Snapshot(
            {addr: _queues(broker, table) for addr, table in fields["nameServers"].items()},
            None if own is None else _queues(broker, own),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadState(f"it has not the queues of a broker ({error})") from None


def _versioned(record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise BadState("it is no object of JSON")
    if record.get("version") != VERSION:
        raise BadState(f"it is of version {record.get('version')}, and this program knows {VERSION}")
    return record


def _numbers(queues: Queues) -> dict[str, list[int]]:
    return {topic: [int(number) for number in queue[1:]] for topic, queue in queues.items()}


def _queues(broker: str, table: Mapping[str, Any]) -> dict[str, QueueData]:
    return {topic: QueueData(broker, *map(int, numbers)) for topic, numbers in table.items()}


def camel(name: str) -> str:
    """A field's name as JSON has it."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
