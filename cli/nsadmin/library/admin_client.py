"""AdminClient, the entry point of the library: nouns such as `admin.topics`, and procedures."""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Self

from nsadmin.client import admin as client_admin
from nsadmin.client.connection.access_options import Access, Credentials, Tls
from nsadmin.client.connection.caller import Caller
from nsadmin.library.audited_caller import AuditedCaller

if TYPE_CHECKING:
    from namesrv_core.transport.multiplexed_client import ExchangeObserver
    from nsadmin.client.connection.connection_pool import Pool
    from nsadmin.library.cluster_backups import ClusterBackups
    from nsadmin.library.cluster_bundles import ClusterBundles
    from nsadmin.library.cluster_checks import ClusterChecks
    from nsadmin.library.cluster_plans import ClusterPlans
    from nsadmin.library.cluster_rebalance import ClusterRebalance
    from nsadmin.library.drain_procedure import DrainResult, RestoredServer
    from nsadmin.library.name_server_divergence import Divergence
    from nsadmin.operations.divergence.observer import DivergenceObservation
    from nsadmin.operations.explain.group_observer import GroupExplanation
    from nsadmin.operations.inventory.keeper import InventoryKeeper
    from nsadmin.operations.run_folder import EventRecord


class AdminClient(client_admin.AdminClient):
    """A blocking client of name servers and brokers. Threads can share it.

    A read asks one name server, and the next one if that server does not answer. A change goes to every name
    server and returns one ServerResult per server. Every failure is a RocketMQError. Up to 16 calls run at
    once, each with its own connections; further calls wait.

    Where a method takes the address of a broker, it takes the broker's name as well: NAME is its master,
    NAME/ID another process. `addr` of the ServerResult is then that name.

    Changes are noted in the audit log of nsadmin: NSADMIN_AUDIT names the file, or is "off".

    Args:
        namesrv_addr: "a:9876;b:9876", an iterable of such lists, a NameServerList, or a function that returns
            one (called before the first request to it). Default: those in the Kubernetes namespace of
            `access.tunnel`, else NAMESRV_ADDR, else 127.0.0.1:9876.
        timeout: Seconds per request. Replaces `access.timeout`.
        access: Timeout, retries, concurrency, credentials, TLS, address map and tunnel.
        ask_all: Send each read to every name server; fills `unreachable` and `disagreements`.
        observer: Called with an Exchange after each request, by one thread at a time.
        read_only: Refuse requests that change something (ReadOnlyAccess).
        pool: Connections to share with other clients. Default: the client opens its own connections.

    Raises:
        BadSettings: A TLS file cannot be used, or the timeout is not positive.
        BadAddress: `namesrv_addr` is not a list of addresses.
    """

    _caller_class: type[Caller] = AuditedCaller
    _context_name: str | None = None

    @classmethod
    def from_context(
        cls,
        name: str | None = None,
        *,
        namesrv_addr: str | None = None,
        bundle: str | PathLike[str] | None = None,
        timeout: float | None = None,
        credentials: Credentials | str | None = None,
        tls: Tls | bool | None = None,
        kube: str | None = None,
        ssh: str | None = None,
        ask_all: bool = False,
        observer: "ExchangeObserver | None" = None,
        read_only: bool = False,
        pool: "Pool | None" = None,
    ) -> Self:
        """Make a client with the settings of a context and of the environment, like a command.

        Precedence of each setting: argument, the context `name`, environment, the current context, default.

        Args:
            name: A context of `nsadmin context set`. Default: NSADMIN_CONTEXT, else the current context; none
                if there is neither.
            namesrv_addr: "a:9876;b:9876", instead of the context's name servers.
            bundle: A file of `nsadmin bundle create`, which the client reads in place of servers. Default:
                that of the context, or of NSADMIN_BUNDLE. The client is then read-only.
            timeout: Seconds per request.
            credentials: Credentials, or their source as for `--credentials`: "env", "file:PATH",
                "keyring:NAME" or "none".
            tls: Tls, True for TLS with the settings of the context or environment, or False for plain text.
            kube: "NAMESPACE" or "CONTEXT/NAMESPACE" of Kubernetes, to reach the servers with kubectl.
            ssh: "USER@HOST" or "USER@HOST:PORT", to reach the servers through this SSH host.
            ask_all: Send each read to every name server; fills `unreachable` and `disagreements`.
            observer: Called with an Exchange after each request, by one thread at a time.
            read_only: Refuse requests that change something. A read-only context implies it.
            pool: Connections to share with other clients. Default: the client opens its own connections.

        Returns:
            The client.

        Raises:
            BadSettings: The context does not exist, a setting is invalid, or the file is not a bundle.
            BadAddress: A name server is not an address.
        """
        from nsadmin.library.context_connection import resolve_connection

        connection = resolve_connection(
            name,
            namesrv_addr=namesrv_addr,
            bundle=bundle,
            timeout=timeout,
            credentials=credentials,
            tls=tls,
            kube=kube,
            ssh=ssh,
        )
        admin = cls(
            connection.find_name_servers,
            access=connection.access,
            ask_all=ask_all,
            observer=observer,
            read_only=read_only or connection.is_read_only,
            pool=pool,
        )
        # For the audit and the inventory of expected brokers.
        admin._context_name = connection.context_name
        assert isinstance(admin._caller, AuditedCaller)
        admin._caller.context_name = connection.context_name
        return admin

    # These nouns refer to the client. If they were cached, an unclosed client would stay alive.

    @property
    def checks(self) -> "ClusterChecks":
        """The checks of monitoring systems, one by one or all."""
        from nsadmin.library.cluster_checks import CheckTools, ClusterChecks

        tools = CheckTools(self._inventory, self._caller.access.tls, self._caller.pause, self._share_client)
        return ClusterChecks(self, tools)

    @property
    def plans(self) -> "ClusterPlans":
        """The desired state of a cluster as a file: export, plan, apply."""
        from nsadmin.library.cluster_plans import ClusterPlans

        return ClusterPlans(self)

    @property
    def backups(self) -> "ClusterBackups":
        """Snapshots of brokers, topics, KV config and settings."""
        from nsadmin.library.cluster_backups import ClusterBackups

        return ClusterBackups(self)

    @property
    def bundles(self) -> "ClusterBundles":
        """Support bundles: the answers of a cluster in one file."""
        from nsadmin.library.cluster_bundles import ClusterBundles

        return ClusterBundles(self, self._caller.access, self._open_reader, self._caller.pause)

    @property
    def rebalance(self) -> "ClusterRebalance":
        """Plans that level the load of brokers."""
        from nsadmin.library.cluster_rebalance import ClusterRebalance

        return ClusterRebalance(self, self._caller.pause, self._inventory)

    def drain(
        self,
        broker_name: str,
        *,
        on_event: "Callable[[EventRecord], object] | None" = None,
        dry_run: bool = False,
        durable: bool = False,
        force: bool = False,
        allow_unreachable: bool = False,
        for_good: bool = False,
        when_safe: Callable[[str], object] | None = None,
        settle_seconds: float = 30.0,
        interval_seconds: float = 10.0,
        quiet_intervals: int = 3,
        max_messages: int = 0,
    ) -> "DrainResult":
        """Stop client writes to a broker, and return when the broker is safe to stop.

        The write permission is removed on every name server, and again if a registration restores it. This
        ends with the call: stop the broker in `when_safe`, or at once afterwards. Safe to interrupt: the
        state is saved on this machine, and the same call resumes it. `undrain` undoes it.

        Args:
            broker_name: The broker.
            on_event: Called with each event: a mapping with "time" (ms since 1970), "event" (such as "wiped",
                "progress" or "safe"), and the fields of `nsadmin drain --output jsonl`.
            dry_run: Only check what the cluster loses without the broker.
            durable: Change the broker's own brokerPermission, which survives a restart, instead.
            force: Drain even if some topics lose their only writable broker.
            allow_unreachable: Drain even if a name server does not answer.
            for_good: Wait until no consumer group has anything left to read on the broker, too.
            when_safe: Called with the address of the master when it is safe to stop, while the drain holds.
                If a name server does not answer, it is called only with `allow_unreachable`.
            settle_seconds: How long clients take to read routes again (pollNameServerInterval).
            interval_seconds: Seconds between two observations.
            quiet_intervals: The number of consecutive intervals without writes that are needed.
            max_messages: The number of messages per minute that counts as no writes.

        Returns:
            The outcome.

        Raises:
            NotFound: No name server that answered has the broker.
            DrainRefused: The drain cannot begin, or topics would be left without a broker. Nothing was
                changed.
            ReadOnlyAccess: The client is read-only. Nothing was changed.
        """
        from nsadmin.library.drain_procedure import drain_broker
        from nsadmin.operations.drain.runner import DrainPlan
        from nsadmin.operations.drain.safety import SafetyRules

        safety_rules = SafetyRules(round(settle_seconds * 1000), quiet_intervals, max_messages, for_good)
        drain_plan = DrainPlan(broker_name, safety_rules, interval_seconds, durable, force, allow_unreachable)
        return drain_broker(
            self, drain_plan, self._inventory, self._caller.pause, on_event, when_safe, is_dry_run=dry_run
        )

    def undrain(
        self,
        broker_name: str,
        *,
        on_event: "Callable[[EventRecord], object] | None" = None,
        dry_run: bool = False,
    ) -> "list[RestoredServer]":
        """Allow client writes to a drained broker again, as they were before the drain.

        Args:
            broker_name: The broker. Its drain is saved on this machine.
            on_event: Called with each event, as in `drain`.
            dry_run: Only count the topics to restore.

        Returns:
            The outcome on each name server. If one is not restored, the drain stays saved.

        Raises:
            NotFound: No drain of the broker is saved on this machine.
            DrainBusyError: Another process drains the broker.
            ReadOnlyAccess: The client is read-only. Nothing was changed.
        """
        from nsadmin.library.drain_procedure import undrain_broker

        return undrain_broker(
            self, broker_name, self._inventory, self._caller.pause, on_event, is_dry_run=dry_run
        )

    def find_divergence(
        self,
        *,
        settle_seconds: float = 60.0,
        sections: Collection[str] | None = None,
        namespaces: Sequence[str] = (),
        on_waiting: "Callable[[DivergenceObservation, float], object] | None" = None,
    ) -> "Divergence":
        """Compare the state of all name servers, and find the causes of differences.

        Args:
            settle_seconds: How long name servers with differences may take to become equal.
            sections: "broker", "topic", "kv", "setting". Default: all.
            namespaces: KV namespaces to compare, besides that of order configurations.
            on_waiting: Called once with the first observation and the seconds to wait, if there are
                differences that may converge.

        Returns:
            The last observation, and the missing brokers.

        Raises:
            BadSettings: A section is unknown.
        """
        from nsadmin.library.name_server_divergence import find_divergence

        return find_divergence(
            self,
            self._inventory,
            self._caller.pause,
            settle_seconds=settle_seconds,
            sections=sections,
            namespaces=namespaces,
            on_waiting=on_waiting,
        )

    def explain_group(
        self, group: str, topic: str | None = None, *, cluster_name: str | None = None
    ) -> "GroupExplanation":
        """Find out why a consumer group does not consume. Asks brokers, proxies and the clients of the group.

        Args:
            group: The consumer group.
            topic: Explain only the consumption of this topic. Default: all topics of the group.
            cluster_name: Ask only the brokers of this cluster. Default: all clusters.

        Returns:
            The causes, what else was examined, and the verdict.

        Raises:
            NotFound: The name servers do not know the cluster.
        """
        from nsadmin.operations.explain.group_observer import explain_groups

        [explanation] = explain_groups(self, self._inventory, [group], topic, cluster_name)
        return explanation

    @cached_property
    def _inventory(self) -> "InventoryKeeper":
        """The inventory of expected brokers, which commands use as well."""
        from nsadmin.operations.inventory.keeper import OFF_VARIABLE, InventoryKeeper, build_inventory_key

        caller, name = self._caller, self._context_name
        if self.is_static:
            # The brokers of a bundle are those of the past, or of another network.
            return InventoryKeeper(lambda: "", environment={OFF_VARIABLE: "off"})
        return InventoryKeeper(lambda: build_inventory_key(caller.name_servers, name, caller.access.tunnel))

    def _open_reader(self, access: Access) -> client_admin.AdminClient:
        """Open a client of the same name servers with other connection options. It only reads."""
        return client_admin.AdminClient(
            self.addresses, access=access, observer=self._caller.observer, read_only=True
        )

    def _share_client(self) -> AbstractContextManager[Self]:
        """Return this client for another thread. Its calls there end with the calls of this thread."""
        return self._caller.share_scope(self)
