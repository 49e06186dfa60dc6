"""AdminClient, the entry point of the library: one attribute per noun, such as `admin.topics`."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.calls import Observer
from nsadmin.client.access import PLAIN, Access
from nsadmin.client.addresses import Find, NameServers, finder
from nsadmin.client.caller import Caller
from nsadmin.client.pool import Pool
from nsadmin.client.retry import Reader

if TYPE_CHECKING:
    from nsadmin.client.acls import Acls
    from nsadmin.client.broker_configs import BrokerConfigs
    from nsadmin.client.broker_routes import BrokerRoutes
    from nsadmin.client.brokers import Brokers
    from nsadmin.client.bulk import Bulk
    from nsadmin.client.certificates import Certificates
    from nsadmin.client.clusters import Clusters
    from nsadmin.client.cold_data import ColdDataControl
    from nsadmin.client.consume_modes import ConsumeModes
    from nsadmin.client.consume_queues import ConsumeQueues
    from nsadmin.client.consumers import Consumers
    from nsadmin.client.containers import Containers
    from nsadmin.client.controllers import Controllers
    from nsadmin.client.delivery import Delivery
    from nsadmin.client.doors import Doors
    from nsadmin.client.groups import Groups
    from nsadmin.client.kv import Kv
    from nsadmin.client.lite_topics import LiteTopics
    from nsadmin.client.mappings import Mappings
    from nsadmin.client.messages import Messages
    from nsadmin.client.name_servers import NameServerConfigs
    from nsadmin.client.offsets import Offsets
    from nsadmin.client.order_conf import OrderConfs
    from nsadmin.client.plain_acls import PlainAcls
    from nsadmin.client.pop_records import PopRecords
    from nsadmin.client.probing import Probing
    from nsadmin.client.producers import Producers
    from nsadmin.client.put_counts import PutCounts
    from nsadmin.client.queue_reading import QueueReading
    from nsadmin.client.registrations import Registrations
    from nsadmin.client.replication import Replication
    from nsadmin.client.running import Running
    from nsadmin.client.sending import Sending
    from nsadmin.client.tables import Tables
    from nsadmin.client.topic_configs import TopicConfigs
    from nsadmin.client.topic_views import TopicViews
    from nsadmin.client.topics import Topics
    from nsadmin.client.traces import Traces
    from nsadmin.client.tracks import Tracks
    from nsadmin.client.upkeep import Upkeep
    from nsadmin.client.users import Users


class AdminClient:
    """A blocking client of name servers and brokers. Threads that share a client take turns.

    A read asks one name server, and the next one if that server does not answer. A change goes to every name
    server and returns one ServerResult per server. Every failure is a RocketMQError.

    Args:
        namesrv_addr: "a:9876;b:9876", an iterable of such lists, a NameServerList, or a function that returns
            one (called before the first request to it). Default: NAMESRV_ADDR, else 127.0.0.1:9876.
        timeout: Seconds per request. Replaces `access.timeout`.
        access: Timeout, retries, concurrency, credentials, TLS and address map.
        ask_all: Send each read to every name server; fills `unreachable` and `disagreements`.
        observer: Called with an Exchange after each request.
        read_only: Refuse requests that change something (ReadOnlyAccess).
        pool: Connections to share with other clients. Default: connections of its own.

    Raises:
        BadSettings: A TLS file cannot be used, or the timeout is not positive.
        BadAddress: `namesrv_addr` is not a list of addresses.
    """

    def __init__(
        self,
        namesrv_addr: str | Iterable[str] | NameServers | Find | None = None,
        *,
        timeout: float | None = None,
        access: Access = PLAIN,
        ask_all: bool = False,
        observer: Observer | None = None,
        read_only: bool = False,
        pool: Pool | None = None,
    ) -> None:
        if timeout is not None:
            access = access._replace(timeout=timeout)
        self._caller = Caller(finder(namesrv_addr), access, observer, read_only=read_only, pool=pool)
        self._reader = Reader(self._caller, ask_all)

    # Each noun imports its modules on first use, because a command needs only one or two of them.

    @cached_property
    def brokers(self) -> "Brokers":
        """Runtime information of brokers, and their write permission on name servers."""
        from nsadmin.client.brokers import Brokers

        return Brokers(self._caller, self._reader)

    @cached_property
    def clusters(self) -> "Clusters":
        """The brokers of each cluster, and the status of each broker."""
        from nsadmin.client.clusters import Clusters

        return Clusters(self._reader, self.brokers)

    @cached_property
    def broker_configs(self) -> "BrokerConfigs":
        """The settings of brokers."""
        from nsadmin.client.broker_configs import BrokerConfigs

        return BrokerConfigs(self._caller)

    @cached_property
    def broker_routes(self) -> "BrokerRoutes":
        """The routes that each name server gives clients for the topics of one broker."""
        from nsadmin.client.broker_routes import BrokerRoutes

        return BrokerRoutes(self._caller)

    @cached_property
    def put_counts(self) -> "PutCounts":
        """Counts of the messages that brokers received in the last minute."""
        from nsadmin.client.put_counts import PutCounts

        return PutCounts(self._caller)

    @cached_property
    def replication(self) -> "Replication":
        """The replication lag of slaves."""
        from nsadmin.client.replication import Replication

        return Replication(self._caller)

    @cached_property
    def registrations(self) -> "Registrations":
        """The data that brokers register with on name servers."""
        from nsadmin.client.registrations import Registrations

        return Registrations(self._caller)

    @cached_property
    def topics(self) -> "Topics":
        """Names, routes, statistics and deletion of topics."""
        from nsadmin.client.topics import Topics

        return Topics(self._caller, self._reader, self.clusters)

    @cached_property
    def topic_configs(self) -> "TopicConfigs":
        """The configuration of topics on brokers."""
        from nsadmin.client.topic_configs import TopicConfigs

        return TopicConfigs(self._caller)

    @cached_property
    def mappings(self) -> "Mappings":
        """The mapping from a static topic's logical queues to the queues of brokers."""
        from nsadmin.client.mappings import Mappings

        return Mappings(self._caller)

    @cached_property
    def topic_views(self) -> "TopicViews":
        """The answers of each server about one topic."""
        from nsadmin.client.topic_views import TopicViews

        return TopicViews(self._caller)

    @cached_property
    def bulk(self) -> "Bulk":
        """Batch reads and writes of many topics, groups and KV values."""
        from nsadmin.client.bulk import Bulk

        return Bulk(self._caller)

    @cached_property
    def upkeep(self) -> "Upkeep":
        """Maintenance of the files of brokers: cleaning, read-ahead, timer engine, RocksDB."""
        from nsadmin.client.upkeep import Upkeep

        return Upkeep(self._caller)

    @cached_property
    def pop_records(self) -> "PopRecords":
        """Records of popped, unacknowledged messages on brokers that keep them in RocksDB."""
        from nsadmin.client.pop_records import PopRecords

        return PopRecords(self._caller)

    @cached_property
    def lite_topics(self) -> "LiteTopics":
        """Lite topics, their clients and groups."""
        from nsadmin.client.lite_topics import LiteTopics

        return LiteTopics(self._caller)

    @cached_property
    def cold_data(self) -> "ColdDataControl":
        """Limits for reads of cold data, which a broker has to read from disk."""
        from nsadmin.client.cold_data import ColdDataControl

        return ColdDataControl(self._caller)

    @cached_property
    def containers(self) -> "Containers":
        """Broker containers: processes that run several brokers."""
        from nsadmin.client.containers import Containers

        return Containers(self._caller)

    @cached_property
    def consume_modes(self) -> "ConsumeModes":
        """The consume mode (PULL or POP) of groups."""
        from nsadmin.client.consume_modes import ConsumeModes

        return ConsumeModes(self._caller, self.groups, self.topic_configs)

    @cached_property
    def consume_queues(self) -> "ConsumeQueues":
        """The consume queue entries of brokers."""
        from nsadmin.client.consume_queues import ConsumeQueues

        return ConsumeQueues(self._caller)

    @cached_property
    def groups(self) -> "Groups":
        """Subscription groups and their settings."""
        from nsadmin.client.groups import Groups

        return Groups(self._caller, self.clusters)

    @cached_property
    def consumers(self) -> "Consumers":
        """The lag of consumer groups, and their connected clients."""
        from nsadmin.client.consumers import Consumers

        return Consumers(self._caller, self.clusters, self.groups)

    @cached_property
    def offsets(self) -> "Offsets":
        """Reset and clone of consumer offsets: plan first, then apply."""
        from nsadmin.client.offsets import Offsets

        return Offsets(self._caller, self.clusters, self.topics, self.groups)

    @cached_property
    def producers(self) -> "Producers":
        """Connected producers."""
        from nsadmin.client.producers import Producers

        return Producers(self._caller, self.clusters, self.topics)

    @cached_property
    def running(self) -> "Running":
        """The runtime state that consumer clients report."""
        from nsadmin.client.running import Running

        return Running(self._caller, self.consumers, self.topics)

    @cached_property
    def kv(self) -> "Kv":
        """The KV config of name servers."""
        from nsadmin.client.kv import Kv

        return Kv(self._caller, self._reader)

    @cached_property
    def name_servers(self) -> "NameServerConfigs":
        """The availability and the settings of name servers."""
        from nsadmin.client.name_servers import NameServerConfigs

        return NameServerConfigs(self._caller, self._reader)

    @cached_property
    def tables(self) -> "Tables":
        """The complete tables of one name server."""
        from nsadmin.client.tables import Tables

        return Tables(self._caller)

    @cached_property
    def order_confs(self) -> "OrderConfs":
        """Order configurations of topics."""
        from nsadmin.client.order_conf import OrderConfs

        return OrderConfs(self.kv, self.name_servers)

    @cached_property
    def messages(self) -> "Messages":
        """Lookup of messages by key, by id, or by queue offset."""
        from nsadmin.client.messages import Messages

        return Messages(self._caller, self.topics)

    @cached_property
    def queue_reading(self) -> "QueueReading":
        """Sequential reads of the messages of queues."""
        from nsadmin.client.queue_reading import QueueReading

        return QueueReading(self._caller)

    @cached_property
    def sending(self) -> "Sending":
        """Send messages on behalf of an operator."""
        from nsadmin.client.sending import Sending

        return Sending(self._caller, self.topics)

    @cached_property
    def traces(self) -> "Traces":
        """The traces that clients wrote about messages."""
        from nsadmin.client.traces import Traces

        return Traces(self.messages)

    @cached_property
    def tracks(self) -> "Tracks":
        """The groups that consumed a message."""
        from nsadmin.client.tracks import Tracks

        return Tracks(self._caller, self.topics)

    @cached_property
    def delivery(self) -> "Delivery":
        """Delivery of a stored message to one client, and resends."""
        from nsadmin.client.delivery import Delivery

        return Delivery(self._caller, self.tracks, self.sending)

    @cached_property
    def probing(self) -> "Probing":
        """Probe messages that measure the send latency of brokers."""
        from nsadmin.client.probing import Probing

        return Probing(self.sending)

    @cached_property
    def users(self) -> "Users":
        """The users of brokers (since 5.3)."""
        from nsadmin.client.users import Users

        return Users(self._caller)

    @cached_property
    def acls(self) -> "Acls":
        """The ACL entries of users (since 5.3)."""
        from nsadmin.client.acls import Acls

        return Acls(self._caller)

    @cached_property
    def plain_acls(self) -> "PlainAcls":
        """The plain ACL accounts of 4.x brokers."""
        from nsadmin.client.plain_acls import PlainAcls

        return PlainAcls(self._caller)

    @cached_property
    def controllers(self) -> "Controllers":
        """Controllers and the broker replicas that they manage."""
        from nsadmin.client.controllers import Controllers

        return Controllers(self._caller)

    @cached_property
    def doors(self) -> "Doors":
        """What servers reveal to any client."""
        from nsadmin.client.doors import Doors

        return Doors(self._caller)

    @cached_property
    def certificates(self) -> "Certificates":
        """The TLS certificates of servers."""
        from nsadmin.client.certificates import Certificates

        return Certificates(self._caller)

    @property
    def addresses(self) -> NameServers:
        """The configured name servers in request order, and the source of that list."""
        return self._caller.name_servers

    @property
    def unreachable(self) -> Mapping[str, RocketMQError]:
        """Name servers that failed to answer a read so far: address to error."""
        return self._reader.unreachable

    @property
    def disagreements(self) -> list[str]:
        """One line per difference between name servers. Empty unless `ask_all` is set."""
        return self._reader.disagreements

    def close(self) -> None:
        """Close the client's own connections: later requests raise RuntimeError. A `pool` stays open."""
        self._caller.close()

    def __enter__(self) -> "AdminClient":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
