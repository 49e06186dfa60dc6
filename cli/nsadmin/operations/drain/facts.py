"""Facts: what name servers and the broker were seen to be like at one moment. Only records."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm

Queues = Mapping[str, QueueData]
"""By topic."""


class Place(NamedTuple):
    """A topic as one name server has it, seen from one broker.

    `queue` is the broker's own; `writable_elsewhere` are the queues that clients may write to on other
    brokers, `masters_elsewhere` the other brokers with a master. To a topic with `order_conf`, or one that
    `is_static`, clients write whatever the permission says.
    """

    queue: QueueData
    writable_elsewhere: int = 0
    masters_elsewhere: int = 0
    order_conf: str | None = None
    is_static: bool = False

    @property
    def is_open(self) -> bool:
        """Whether clients may write to the broker."""
        return bool(self.queue.perm & Perm.WRITE)


class Server(NamedTuple):
    """A name server; with an `error` nothing else is known of it.

    `members` are the addresses of the broker by id as it is registered there, none where it is not.
    `may_put_back` says whether queues can be written there topic by topic, which 4.x does not know.
    """

    addr: str
    error: str | None = None
    cluster: str | None = None
    members: Mapping[int, str] = {}
    topics: Mapping[str, Place] = {}
    may_put_back: bool = True

    @property
    def is_registered(self) -> bool:
        """Whether it is known that the broker is registered there."""
        return self.error is None and bool(self.members)

    @property
    def queues(self) -> dict[str, QueueData]:
        return {topic: place.queue for topic, place in self.topics.items()}

    @property
    def open_topics(self) -> list[str]:
        """Topics that clients may write to on this broker, in order."""
        return sorted(topic for topic, place in self.topics.items() if place.is_open)


class Slave(NamedTuple):
    """A slave: how far its commit log goes, in bytes; None where it did not say."""

    addr: str
    end: int | None


class Broker(NamedTuple):
    """The master; with an `error` nothing else is known of it.

    `puts` counts messages since `boot` (ms): from 5.0 on those that were put to topics of users, before all
    that were stored. `end` is where its commit log ends, in bytes. `residue` are topics of users that got
    messages in the last minute, `user_puts` is the broker's own sum of that; both are None where nobody
    asked, and the sum before 5.0. `delayed` messages wait to be delivered. `lag` is how many messages each
    group has not consumed; None where nobody asked.
    """

    addr: str | None
    error: str | None = None
    boot: int | None = None
    puts: int | None = None
    end: int | None = None
    residue: Mapping[str, int] | None = None
    user_puts: int | None = None
    delayed: int = 0
    has_transactions: bool = False
    lag: Mapping[str, int] | None = None
    slaves: tuple[Slave, ...] = ()


class Look(NamedTuple):
    """All of it, at a `time` (ms)."""

    time: int
    servers: tuple[Server, ...]
    broker: Broker


class World(Protocol):
    """What a drain can see and do; errors of what it does are texts, None for none."""

    def servers(self) -> tuple[Server, ...]:
        """Every name server."""

    def broker(
        self, master: str | None, slaves: Mapping[int, str], before: Broker | None, lag: bool
    ) -> Broker:
        """The master and its slaves. Topics are asked for where the counter moved since `before`."""

    def own_queues(self, master: str) -> Queues | str:
        """All topics as the broker itself has them, or why that is not known."""

    def wipe(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        """Take the write permission from all topics of the broker on these name servers."""

    def put_back(self, addr: str, queues: Queues) -> Mapping[str, str | None]:
        """Have a name server give clients these queues; by topic."""

    def add(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        """Give all topics of the broker the permission rw- on these name servers."""

    def register_anew(self, master: str) -> str | None:
        """Have the broker register all that it has."""

    def permission(self, master: str) -> int | str:
        """The broker's own permission, or why that is not known."""

    def set_permission(self, master: str, perm: int) -> str | None:
        """Change the broker's own permission."""
