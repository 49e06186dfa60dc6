"""True facts: the lines of truth.jsonl, which say what really happened. Times are in true ms."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class TrueFault(NamedTuple):
    """A fault or a request of an operator, with its targets."""

    fault: str
    targets: tuple[str, ...]
    since: int
    until: int


class ServerRun(NamedTuple):
    """A run of a name server's process. `end` is stopped, killed or running.

    It worked until `active_until`: earlier than `until` if it was killed while it was frozen.
    """

    server: str
    since: int
    until: int
    end: str
    active_until: int


class ServerPause(NamedTuple):
    """The process of a name server was frozen."""

    server: str
    since: int
    until: int


class ClockStep(NamedTuple):
    """The wall clock of a name server changed by `change_ms`."""

    server: str
    at: int
    change_ms: int


class BrokerStay(NamedTuple):
    """A name server had a broker in its tables.

    `end` is unregistered, channel closed, expired, server ended, or empty at the end of the simulation.
    """

    server: str
    broker_name: str
    broker_id: int
    broker_addr: str
    since: int
    until: int
    end: str


class BrokerSilence(NamedTuple):
    """A broker in the tables was silent for more than 90 s. `end` is resumed, lost or open.

    `causes` are the reasons for which heartbeats did not arrive: broker, link, name server.
    """

    server: str
    broker_name: str
    broker_id: int
    since: int
    until: int
    end: str
    causes: tuple[str, ...]


class TopicQueues(NamedTuple):
    """A name server had these queues of a topic on a broker."""

    server: str
    topic: str
    broker_name: str
    read_queues: int
    write_queues: int
    perm: int
    sys_flag: int
    since: int
    until: int


class KvChange(NamedTuple):
    """A value of the KV config changed; None: no value."""

    server: str
    at: int
    namespace: str
    key: str
    before: str | None
    after: str | None


class TrueDrain(NamedTuple):
    """A name server had a broker closed to writes, until one of the closed topics was open again.

    `outcome` is holds, given back, undone, restarted or forgotten.
    """

    server: str
    broker_name: str
    method: str
    topics: int
    since: int
    until: int
    outcome: str


FACT_TYPES: dict[str, type[Any]] = {
    fact_type.__name__: fact_type
    for fact_type in (
        TrueFault, ServerRun, ServerPause, ClockStep, BrokerStay, BrokerSilence, TopicQueues, KvChange,
        TrueDrain,
    )
}  # fmt: skip


def write_facts(truth_path: Path, facts: Iterable[Any]) -> None:
    with truth_path.open("w", encoding="utf-8") as truth_file:
        for fact in facts:
            truth_file.write(json.dumps({"fact": type(fact).__name__, **fact._asdict()}) + "\n")


def read_facts(truth_path: Path) -> Sequence[Any]:
    """Read the facts of a file, in its order."""
    facts = []
    with truth_path.open(encoding="utf-8") as truth_file:
        for json_line in truth_file:
            fields = json.loads(json_line)
            fact_type = FACT_TYPES[fields.pop("fact")]
            facts.append(fact_type(**{n: tuple(v) if isinstance(v, list) else v for n, v in fields.items()}))
    return facts
