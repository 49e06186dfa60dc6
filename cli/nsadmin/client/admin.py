"""AdminClient: the library's front door, whose rooms are the nouns of the protocol."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING

from namesrv_core.transport.calls import CallError
from nsadmin.client.addresses import NameServers, name_servers
from nsadmin.client.broker_configs import BrokerConfigs
from nsadmin.client.brokers import Brokers
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.consumers import Consumers
from nsadmin.client.groups import Groups
from nsadmin.client.kv import Kv
from nsadmin.client.name_servers import NameServerConfigs
from nsadmin.client.offsets import Offsets
from nsadmin.client.order_conf import OrderConfs
from nsadmin.client.producers import Producers
from nsadmin.client.replication import Replication
from nsadmin.client.retry import Reader
from nsadmin.client.running import Running
from nsadmin.client.topic_configs import TopicConfigs
from nsadmin.client.topics import Topics
from nsadmin.client.upkeep import Upkeep

if TYPE_CHECKING:
    from nsadmin.client.messages import Messages
    from nsadmin.client.queue_reading import QueueReading
    from nsadmin.client.sending import Sending
    from nsadmin.client.traces import Traces


class AdminClient:
    """Asks name servers and brokers, blocking, from one thread.

    `namesrv_addr` is a list like "a:9876;b:9876" or several of them; left out, NAMESRV_ADDR counts, else
    127.0.0.1:9876 (`addresses.source` says which). `timeout` is in seconds, for each request on each server.

    What reads asks one name server, and the next when that one cannot be reached; with `ask_all` it asks
    every one each time, which fills `unreachable` and `disagreements`. What changes something does so on
    every name server and returns a ServerResult for each. Failures are `namesrv_core.errors.RocketMQError`.
    """

    def __init__(
        self,
        namesrv_addr: str | Iterable[str] | None = None,
        *,
        timeout: float = 3.0,
        ask_all: bool = False,
    ) -> None:
        self._caller = Caller(name_servers(namesrv_addr), timeout)
        self._reader = Reader(self._caller, ask_all)
        self.brokers = Brokers(self._caller, self._reader)
        self.clusters = Clusters(self._reader, self.brokers)
        self.broker_configs = BrokerConfigs(self._caller)
        self.replication = Replication(self._caller)
        self.topics = Topics(self._caller, self._reader, self.clusters)
        self.topic_configs = TopicConfigs(self._caller)
        self.upkeep = Upkeep(self._caller)
        self.groups = Groups(self._caller, self.clusters)
        self.consumers = Consumers(self._caller, self.clusters, self.groups)
        self.offsets = Offsets(self._caller, self.clusters, self.topics, self.groups)
        self.producers = Producers(self._caller, self.clusters, self.topics)
        self.running = Running(self._caller, self.consumers, self.topics)
        self.kv = Kv(self._reader)
        self.name_servers = NameServerConfigs(self._reader)
        self.order_confs = OrderConfs(self.kv, self.name_servers)

    # Reading messages takes modules that nobody else needs: they are loaded when they are.

    @cached_property
    def messages(self) -> "Messages":
        """Messages by key, by id, by place."""
        from nsadmin.client.messages import Messages

        return Messages(self._caller, self.topics)

    @cached_property
    def queue_reading(self) -> "QueueReading":
        """What is in queues, from end to end."""
        from nsadmin.client.queue_reading import QueueReading

        return QueueReading(self._caller)

    @cached_property
    def sending(self) -> "Sending":
        """Messages of an operator's own."""
        from nsadmin.client.sending import Sending

        return Sending(self._caller, self.topics)

    @cached_property
    def traces(self) -> "Traces":
        """What clients wrote about their messages."""
        from nsadmin.client.traces import Traces

        return Traces(self.messages)

    @property
    def addresses(self) -> NameServers:
        """The name servers in force, in the order they are asked, and where the list came from."""
        return self._caller.name_servers

    @property
    def unreachable(self) -> Mapping[str, CallError]:
        """Name servers that a read could not reach so far, by address."""
        return self._reader.unreachable

    @property
    def disagreements(self) -> list[str]:
        """What name servers were found to tell differently, one line for each."""
        return self._reader.disagreements

    def close(self) -> None:
        """Close the connections; afterwards nothing can be asked any more."""
        self._caller.close()

    def __enter__(self) -> "AdminClient":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
