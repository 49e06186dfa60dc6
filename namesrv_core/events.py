"""What can happen to a name server: frozen records, returned by whatever changes its tables.

Journal, metrics and log are fed the same records, so they cannot disagree. Times are not in here: whoever
is fed adds when, on which server and on whose request.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

SCHEMA_VERSION = 1


class QueueData(NamedTuple):
    """A topic's queues on one broker group."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    topic_sys_flag: int = 0


class TopicChange(NamedTuple):
    """The queues of one topic on one broker group; None before: added, None after: removed."""

    topic: str
    before: QueueData | None
    after: QueueData | None


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class BrokerRegistered(Event):
    """A broker took its place in its group: new, back again, or from another address (`replaced`)."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int
    replaced: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerChanged(Event):
    """A known broker registered with another data version."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    topics: int


@dataclass(frozen=True, slots=True)
class RegistrationRefused(Event):
    """A broker asked for a place that it did not get."""

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str


@dataclass(frozen=True, slots=True)
class BrokerUnregistered(Event):
    """A broker left: "unregistered" by a request, its "channel closed", or it "expired".

    `channel` is the number of the connection it was last heard on.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    reason: str
    channel: int | None


@dataclass(frozen=True, slots=True)
class TopicsChanged(Event):
    """Queues came, changed or went by a "registration", an "unregistration" or a "topic registration"."""

    broker_name: str
    reason: str
    changes: tuple[TopicChange, ...]


@dataclass(frozen=True, slots=True)
class TopicDeleted(Event):
    """A topic was deleted by request; `cluster_name` None: in all clusters."""

    topic: str
    cluster_name: str | None
    changes: tuple[TopicChange, ...]


@dataclass(frozen=True, slots=True)
class WritePermWiped(Event):
    broker_name: str
    topics: int
    changes: tuple[TopicChange, ...]


@dataclass(frozen=True, slots=True)
class WritePermAdded(Event):
    broker_name: str
    topics: int
    changes: tuple[TopicChange, ...]


@dataclass(frozen=True, slots=True)
class MinBrokerIdChanged(Event):
    """A group's smallest broker id is another one now; `recipients` are the addresses to be told."""

    broker_name: str
    min_broker_id: int
    min_broker_addr: str
    offline_broker_addr: str | None
    ha_broker_addr: str | None
    recipients: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KvPut(Event):
    """`before` is None where there was nothing, or a null."""

    namespace: str
    key: str
    before: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class KvDeleted(Event):
    namespace: str
    key: str
    before: str | None


@dataclass(frozen=True, slots=True)
class SettingsChanged(Event):
    """Keys with their values before and after, as the configuration file has them."""

    changes: Mapping[str, tuple[str | None, str]]
