"""AdminClient: the library's front door, whose rooms are the nouns of the protocol."""

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
    """Asks name servers and brokers, blocking; threads that share one take turns.

    `namesrv_addr` is a list like "a:9876;b:9876", several, or what `nsadmin.client.discovery` found; left
    out, NAMESRV_ADDR counts, else 127.0.0.1:9876. A function that finds them is called when one is asked
    first. `timeout` (s, for each request) wins over that of `access`. `observer` gets an Exchange for each
    that ended. With `read_only` changes raise ReadOnlyAccess. A `pool` has connections to share.

    What reads asks one name server, and the next where that one is silent; with `ask_all` each of them, which
    fills `unreachable` and `disagreements`. What changes something does so on every name server and returns a
    ServerResult for each. Failures are RocketMQError.
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

    # The modules of a noun are loaded when it is first asked for: a command needs one or two of them.

    @cached_property
    def brokers(self) -> "Brokers":
        """Brokers' own account of themselves, and their write permission."""
        from nsadmin.client.brokers import Brokers

        return Brokers(self._caller, self._reader)

    @cached_property
    def clusters(self) -> "Clusters":
        """Who is where, and how they are."""
        from nsadmin.client.clusters import Clusters

        return Clusters(self._reader, self.brokers)

    @cached_property
    def broker_configs(self) -> "BrokerConfigs":
        """Settings of brokers."""
        from nsadmin.client.broker_configs import BrokerConfigs

        return BrokerConfigs(self._caller)

    @cached_property
    def broker_routes(self) -> "BrokerRoutes":
        """What each name server gives clients for the topics of a broker."""
        from nsadmin.client.broker_routes import BrokerRoutes

        return BrokerRoutes(self._caller)

    @cached_property
    def put_counts(self) -> "PutCounts":
        """Messages that came in the last minute."""
        from nsadmin.client.put_counts import PutCounts

        return PutCounts(self._caller)

    @cached_property
    def replication(self) -> "Replication":
        """How far slaves are behind."""
        from nsadmin.client.replication import Replication

        return Replication(self._caller)

    @cached_property
    def registrations(self) -> "Registrations":
        """What brokers tell name servers of themselves."""
        from nsadmin.client.registrations import Registrations

        return Registrations(self._caller)

    @cached_property
    def topics(self) -> "Topics":
        """Names, routes, statistics, deletion."""
        from nsadmin.client.topics import Topics

        return Topics(self._caller, self._reader, self.clusters)

    @cached_property
    def topic_configs(self) -> "TopicConfigs":
        """How brokers have a topic, changed in what is named."""
        from nsadmin.client.topic_configs import TopicConfigs

        return TopicConfigs(self._caller)

    @cached_property
    def mappings(self) -> "Mappings":
        """Which queues of brokers the logical ones of a static topic are."""
        from nsadmin.client.mappings import Mappings

        return Mappings(self._caller)

    @cached_property
    def topic_views(self) -> "TopicViews":
        """What each server tells of one topic."""
        from nsadmin.client.topic_views import TopicViews

        return TopicViews(self._caller)

    @cached_property
    def bulk(self) -> "Bulk":
        """Very many topics, groups and values, read and written together."""
        from nsadmin.client.bulk import Bulk

        return Bulk(self._caller)

    @cached_property
    def upkeep(self) -> "Upkeep":
        """Stored data that nothing needs any more."""
        from nsadmin.client.upkeep import Upkeep

        return Upkeep(self._caller)

    @cached_property
    def pop_records(self) -> "PopRecords":
        """What was popped and not acknowledged, where brokers keep it in RocksDB."""
        from nsadmin.client.pop_records import PopRecords

        return PopRecords(self._caller)

    @cached_property
    def lite_topics(self) -> "LiteTopics":
        """Lite topics, their clients and groups."""
        from nsadmin.client.lite_topics import LiteTopics

        return LiteTopics(self._caller)

    @cached_property
    def cold_data(self) -> "ColdDataControl":
        """Reads of what is not in memory any more."""
        from nsadmin.client.cold_data import ColdDataControl

        return ColdDataControl(self._caller)

    @cached_property
    def containers(self) -> "Containers":
        """Brokers that run together in one process."""
        from nsadmin.client.containers import Containers

        return Containers(self._caller)

    @cached_property
    def consume_modes(self) -> "ConsumeModes":
        """Who pulls and who pops."""
        from nsadmin.client.consume_modes import ConsumeModes

        return ConsumeModes(self._caller, self.groups, self.topic_configs)

    @cached_property
    def consume_queues(self) -> "ConsumeQueues":
        """Queues as brokers have them."""
        from nsadmin.client.consume_queues import ConsumeQueues

        return ConsumeQueues(self._caller)

    @cached_property
    def groups(self) -> "Groups":
        """Subscription groups."""
        from nsadmin.client.groups import Groups

        return Groups(self._caller, self.clusters)

    @cached_property
    def consumers(self) -> "Consumers":
        """How far groups are behind, and their clients."""
        from nsadmin.client.consumers import Consumers

        return Consumers(self._caller, self.clusters, self.groups)

    @cached_property
    def offsets(self) -> "Offsets":
        """Where groups stand, moved after a plan."""
        from nsadmin.client.offsets import Offsets

        return Offsets(self._caller, self.clusters, self.topics, self.groups)

    @cached_property
    def producers(self) -> "Producers":
        """Who writes."""
        from nsadmin.client.producers import Producers

        return Producers(self._caller, self.clusters, self.topics)

    @cached_property
    def running(self) -> "Running":
        """What clients tell about themselves."""
        from nsadmin.client.running import Running

        return Running(self._caller, self.consumers, self.topics)

    @cached_property
    def kv(self) -> "Kv":
        """The KV config."""
        from nsadmin.client.kv import Kv

        return Kv(self._caller, self._reader)

    @cached_property
    def name_servers(self) -> "NameServerConfigs":
        """Whether name servers answer, and their settings."""
        from nsadmin.client.name_servers import NameServerConfigs

        return NameServerConfigs(self._caller, self._reader)

    @cached_property
    def tables(self) -> "Tables":
        """All that one name server knows."""
        from nsadmin.client.tables import Tables

        return Tables(self._caller)

    @cached_property
    def order_confs(self) -> "OrderConfs":
        """Order configurations of topics."""
        from nsadmin.client.order_conf import OrderConfs

        return OrderConfs(self.kv, self.name_servers)

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

    @cached_property
    def tracks(self) -> "Tracks":
        """Who has consumed a message."""
        from nsadmin.client.tracks import Tracks

        return Tracks(self._caller, self.topics)

    @cached_property
    def delivery(self) -> "Delivery":
        """Messages handed to one consumer, or sent again."""
        from nsadmin.client.delivery import Delivery

        return Delivery(self._caller, self.tracks, self.sending)

    @cached_property
    def probing(self) -> "Probing":
        """How long brokers take to store a message."""
        from nsadmin.client.probing import Probing

        return Probing(self.sending)

    @cached_property
    def users(self) -> "Users":
        """Who brokers of 5.3 and later know."""
        from nsadmin.client.users import Users

        return Users(self._caller)

    @cached_property
    def acls(self) -> "Acls":
        """What these users may do."""
        from nsadmin.client.acls import Acls

        return Acls(self._caller)

    @cached_property
    def plain_acls(self) -> "PlainAcls":
        """Accounts of brokers of 4.x."""
        from nsadmin.client.plain_acls import PlainAcls

        return PlainAcls(self._caller)

    @cached_property
    def controllers(self) -> "Controllers":
        """Controllers of brokers, and what they know."""
        from nsadmin.client.controllers import Controllers

        return Controllers(self._caller)

    @cached_property
    def doors(self) -> "Doors":
        """How servers answer whoever asks."""
        from nsadmin.client.doors import Doors

        return Doors(self._caller)

    @cached_property
    def certificates(self) -> "Certificates":
        """Certificates that servers show."""
        from nsadmin.client.certificates import Certificates

        return Certificates(self._caller)

    @property
    def addresses(self) -> NameServers:
        """The name servers in force, in the order they are asked, and where the list came from."""
        return self._caller.name_servers

    @property
    def unreachable(self) -> Mapping[str, RocketMQError]:
        """Name servers that told a read nothing so far, by address."""
        return self._reader.unreachable

    @property
    def disagreements(self) -> list[str]:
        """What name servers were found to tell differently, one line for each."""
        return self._reader.disagreements

    def close(self) -> None:
        """Close the connections; nothing can be asked any more."""
        self._caller.close()

    def __enter__(self) -> "AdminClient":
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
