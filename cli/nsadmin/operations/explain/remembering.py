"""Evidence from a name server's journal: who deleted a topic, took its write permission, or left with it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from namesrv_core.events import TopicDeleted
from namesrv_core.history.concerning import Concerning, Subject
from namesrv_core.history.records import Record
from namesrv_core.protocol.codes import Perm
from namesrv_core.storage import reading
from namesrv_core.storage.reading import Sieve
from nsadmin.operations.explain.facts import Deed, Memory


def remember(folder: Path, server: str, topic: str) -> Memory:
    """Read what the journal in a folder shows about the topic.

    Raises:
        BadSegment: a segment of the journal is damaged.
        OSError: the journal cannot be read.
    """
    concerning = Concerning(Subject("topic", topic))
    records = reading.records(folder, 0, Sieve(concerning.may_be, concerning.terms))
    memory = of_records(server, topic, records)
    return memory._replace(addrs={name: _last_addrs(folder, name) for name in memory.gone})


def of_records(server: str, topic: str, records: Iterable[Record]) -> Memory:
    """The changes that still hold after all records; the records must be in order."""
    concerning = Concerning(Subject("topic", topic))
    closed: dict[str, Deed] = {}
    gone: dict[str, Deed] = {}
    deleted: Deed | None = None
    for record in records:
        part = concerning.part(record)
        changes = part.get("changes", ()) if part is not None else ()
        for change in changes:
            before, after = change.get("before"), change.get("after")
            name = (after or before)["brokerName"]
            deed = _deed(record)
            if after is None:
                closed.pop(name, None)
                if record.type != TopicDeleted.__name__:
                    gone[name] = deed
                continue
            gone.pop(name, None)
            deleted = None
            if after["perm"] & Perm.WRITE:
                closed.pop(name, None)
            elif before is not None and before["perm"] & Perm.WRITE:
                closed[name] = deed
        if record.type == TopicDeleted.__name__ and part is not None:
            deleted, gone = _deed(record), {}
    return Memory(server, closed, gone, deleted)


def _deed(record: Record) -> Deed:
    origin = record.origin
    return Deed(record.server, record.time, origin.cause, origin.client, record.fields.get("reason"))


def _last_addrs(folder: Path, broker_name: str) -> tuple[str, ...]:
    """The last known addresses of a broker's processes, masters first."""
    concerning = Concerning(Subject("broker", broker_name))
    addrs: dict[int, str] = {}
    for record in reading.records(folder, 0, Sieve(concerning.may_be, concerning.terms)):
        fields: Mapping[str, Any] = concerning.part(record) or {}
        if "brokerAddr" in fields and "brokerId" in fields and fields.get("brokerName") == broker_name:
            addrs[fields["brokerId"]] = fields["brokerAddr"]
    return tuple(addrs[number] for number in sorted(addrs))
