"""Polls: what one look at a server came to, as records that are shown, recorded and played again.

Law: everything that a screen shows came as one of these, so that a recording shows the same.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

Texts: TypeAlias = Mapping[str, str | None]
Words = Callable[[str, Mapping[str, Any]], str | None]
"""What an event of a journal changed, in words, by its type and fields."""


class Poll(msgspec.Struct, frozen=True, tag_field="poll", omit_defaults=True):
    """`at` is when the answer came, in ms since 1970."""

    at: int


class Group(msgspec.Struct, frozen=True, array_like=True):
    """A broker group as a name server lists it: addresses by broker id."""

    cluster_name: str
    broker_addrs: Mapping[int, str]


class NameServerPolled(Poll, frozen=True, tag="nameServer"):
    """A name server; with an `error` nothing else is set.

    `topics`, `settings` and `kv` (by namespace) are None where they are as in the poll before, or where
    the server does not tell them: `untold` then says why. `silences` are by address of a broker: for how
    many ms it was not heard, and how many it may be; Java's name servers do not tell. `perms` has the
    permission of a topic that every broker has, by broker name. `millis` is how long one request took.
    """

    addr: str
    millis: float = 0.0
    error: str | None = None
    groups: Mapping[str, Group] = {}
    topics: Sequence[str] | None = None
    settings: Mapping[str, str] | None = None
    kv: Mapping[str, Texts] | None = None
    perms: Mapping[str, int] = {}
    silences: Mapping[str, Sequence[int]] | None = None
    untold: Mapping[str, str] = {}


class BrokerPolled(Poll, frozen=True, tag="broker"):
    """A broker's own figures, as it names them; without, `error` in words and its `kind`.

    Kinds: "timeout" (connected, no answer), "refused" (an answer that is a refusal), "unreachable".
    """

    addr: str
    millis: float = 0.0
    table: Mapping[str, str] | None = None
    error: str | None = None
    kind: str | None = None


class Lag(msgspec.Struct, frozen=True, array_like=True):
    """A group on one queue; offsets count messages, None where nothing was ever committed."""

    topic: str
    broker_name: str
    queue_id: int
    broker_offset: int
    consumer_offset: int | None
    inflight: int | None
    last_timestamp: int | None

    @property
    def diff(self) -> int | None:
        return None if self.consumer_offset is None else self.broker_offset - self.consumer_offset


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A client of a group."""

    client_id: str
    addr: str
    language: str
    version: str


class GroupPolled(Poll, frozen=True, tag="group"):
    """A consumer group over all brokers."""

    group: str
    tps: float | None = None
    lags: Sequence[Lag] = ()
    members: Sequence[Member] = ()
    consume_type: str | None = None
    message_model: str | None = None
    error: str | None = None


class GroupsPolled(Poll, frozen=True, tag="groups"):
    """The names of all consumer groups; `errors` by address of the brokers that did not tell theirs."""

    names: Sequence[str]
    errors: Mapping[str, str] = {}


class Queues(msgspec.Struct, frozen=True, array_like=True):
    """A topic on one broker group, as a name server has it."""

    read: int
    write: int
    perm: int


class TopicPolled(Poll, frozen=True, tag="topic"):
    """A topic: queues by broker name for each name server (None: it has no such topic), who reads it.

    `errors` are of name servers that did not answer. `put_tps` is per second in the last minute, by broker.
    """

    topic: str
    routes: Mapping[str, Mapping[str, Queues] | None] = {}
    errors: Mapping[str, str] = {}
    groups: Sequence[str] | None = None
    put_tps: Mapping[str, float] | None = None


class ConfigPolled(Poll, frozen=True, tag="config"):
    """The settings in force on a broker."""

    addr: str
    config: Mapping[str, str] | None = None
    error: str | None = None


class BrokerTopicsPolled(Poll, frozen=True, tag="brokerTopics"):
    """The topics of a broker as it has them itself."""

    addr: str
    topics: Mapping[str, Queues] | None = None
    error: str | None = None


class Found(msgspec.Struct, frozen=True, array_like=True):
    """Things that name servers tell differently, and probably why: a finding of `divergence`.

    `state` is new, converging or drift; `age` is for how many ms it has been seen at least; `sides` is what
    each name server has of the first of them.
    """

    what: str
    name: str
    place: str
    count: int
    state: str
    age: int
    differs: str
    cause: str
    advice: str
    sides: Mapping[str, str]


class DivergencePolled(Poll, frozen=True, tag="divergence"):
    """A look at all that name servers tell, compared."""

    verdict: str | None = None
    found: Sequence[Found] = ()
    error: str | None = None


class ConnectionsPolled(Poll, frozen=True, tag="connections"):
    """Producers that are connected to a broker, by their group."""

    addr: str
    producers: Mapping[str, Sequence[Member]] | None = None
    error: str | None = None


class Drain(msgspec.Struct, frozen=True, array_like=True):
    """A drain that is not undone, as its folder on this machine has it; times are ms since 1970.

    `pid` is the process that is at it now; `last` is what happened last, in words; `puts` are messages a
    minute, as that process saw it when the folder was `updated`.
    """

    cluster: str
    broker_name: str
    phase: str
    started: int
    by: str
    pid: int | None
    durable: bool
    reopened: int
    safe_since: int | None
    last: str
    puts: int | None = None
    updated: int = 0


class DrainsPolled(Poll, frozen=True, tag="drains"):
    """All drains of this account; `errors` are of folders that make no sense."""

    drains: Sequence[Drain] = ()
    errors: Sequence[str] = ()


class EventSeen(Poll, frozen=True, tag="event"):
    """A record of a journal: `said` is what it changed in words; `names` are the objects it is about."""

    server: str
    kind: str
    said: str
    names: Sequence[str] = ()


AnyPoll: TypeAlias = (
    NameServerPolled
    | BrokerPolled
    | GroupPolled
    | GroupsPolled
    | TopicPolled
    | ConfigPolled
    | BrokerTopicsPolled
    | ConnectionsPolled
    | DivergencePolled
    | DrainsPolled
    | EventSeen
)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyPoll)


def to_line(poll: AnyPoll) -> bytes:
    """One line of JSON."""
    return _encoder.encode(poll) + b"\n"


def from_line(line: bytes) -> AnyPoll:
    """msgspec.DecodeError (a ValueError) for what is none."""
    found: AnyPoll = _decoder.decode(line)
    return found
