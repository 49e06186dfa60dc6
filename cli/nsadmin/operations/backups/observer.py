"""Reads a cluster into a backup. Only masters are asked, because slaves copy them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from namesrv_core import __version__
from namesrv_core.errors import NotSupported, RequestError, ResponseCode, RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.access.plain_acls import PlainAcl
from nsadmin.client.consumers.committed_offsets import CommittedOffsets
from nsadmin.client.consumers.groups import is_system_group, select_user_groups
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.queue_reader import MessagePlace
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.redaction import is_secret_name
from nsadmin.client.results import ClientClosed, error_text, is_unreachable
from nsadmin.operations import access_tables
from nsadmin.operations.backups.records import BrokerBackup, ClusterBackup, SavedOffset, Section
from nsadmin.operations.plans.cluster_export import (
    select_cluster_confs,
    select_user_topics,
)
from nsadmin.operations.plans.observer import observe_cluster
from nsadmin.operations.plans.records import ClusterState, LiveBrokerState

T = TypeVar("T")
_ACCESS_LABELS = ("users", "ACLs")
OffsetsByTopicAndGroup = Mapping[tuple[str, str], Mapping[int, int]]


def observe_backup(
    admin: AdminClient,
    cluster: str,
    now_ms: int,
    namespaces: Sequence[str] = (),
    *,
    with_secrets: bool = False,
    sections: Collection[Section] = frozenset(Section),
) -> ClusterBackup:
    """Read a cluster. A broker that does not answer is missing, and named in the remarks.

    Topics, groups and KV config are always read, the other sections if they are in `sections`.

    Raises:
        NotFound: No such cluster.
    """
    state = observe_cluster(admin, cluster, namespaces)
    brokers = [broker for broker in state.broker_states if broker.error is None]
    extras = _BrokerExtras(admin, [str(broker.master_addr) for broker in brokers], with_secrets, sections)
    return ClusterBackup(
        cluster,
        now_ms,
        __version__,
        {broker.broker_name: extras.make_broker(broker) for broker in brokers},
        _read_kv(state, namespaces),
        [*_list_silent_servers(state), *state.shared_addr_lines, *extras.remarks],
    )


def _read_kv(cluster: ClusterState, namespaces: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the values of all namespaces; the first name server that has a key decides."""
    values: dict[str, dict[str, str]] = {}
    for server in reversed(cluster.server_states):
        for namespace in (ORDER_CONF_NAMESPACE, *namespaces):
            values.setdefault(namespace, {}).update(server.kv.get(namespace, {}))
    values[ORDER_CONF_NAMESPACE] = select_cluster_confs(
        values.get(ORDER_CONF_NAMESPACE, {}), cluster.broker_states
    )
    return values


def _list_silent_servers(cluster: ClusterState) -> list[str]:
    broker_errors = [(f"broker {state.broker_name}", state.error) for state in cluster.broker_states]
    server_errors = [(f"name server {state.namesrv_addr}", state.error) for state in cluster.server_states]
    return [
        f"missing in the backup: {label}: {error_text(error)}"
        for label, error in (*broker_errors, *server_errors)
        if error is not None
    ]


class _BrokerExtras:
    """Everything about brokers that a plan does not have. `remarks` names what could not be read."""

    def __init__(
        self,
        admin: AdminClient,
        broker_addrs: Sequence[str],
        with_secrets: bool,
        sections: Collection[Section],
    ) -> None:
        self.remarks: list[str] = []
        self._with_secrets = with_secrets
        self._releases = {
            result.addr: result.result.release
            for result in admin.brokers.get_runtime_info(broker_addrs)
            if result.result is not None
        }

        def choose_brokers(section: Section) -> Sequence[str]:
            return broker_addrs if section in sections else ()

        self._settings = self._collect(
            "settings", admin.broker_configs.get_each(choose_brokers(Section.SETTINGS))
        )
        self._consume_modes = self._collect(
            "consume modes", admin.consume_modes.list_modes(choose_brokers(Section.CONSUME_MODES))
        )
        self._users = self._collect("users", access_tables.list_users(admin, choose_brokers(Section.USERS)))
        self._acls = self._collect(
            "ACLs", access_tables.list_acl_entries(admin, choose_brokers(Section.ACLS))
        )
        self._plain_acls = self._collect(
            "accounts", access_tables.list_accounts(admin, choose_brokers(Section.ACCOUNTS))
        )
        self._offsets = {
            addr: _select_offsets(offsets)
            for addr, offsets in self._collect(
                "offsets", admin.consumers.get_committed_each(choose_brokers(Section.OFFSETS))
            ).items()
        }
        self._store_times = _read_store_times(admin, self._offsets)

    def _collect(self, label: str, results: Iterable[ServerResult[T]]) -> dict[str, T]:
        values_by_addr = {}
        for result in results:
            if result.result is not None:
                values_by_addr[result.addr] = result.result
            elif result.error is not None and _is_gap(label, result.error):
                self.remarks.append(
                    f"missing in the backup: {label} of {result.addr}: {error_text(result.error)}"
                )
        return values_by_addr

    def make_broker(self, state: LiveBrokerState) -> BrokerBackup:
        addr = str(state.master_addr)
        settings = self._settings.get(addr, {})
        plain_acl = self._plain_acls.get(addr, PlainAcl((), ()))
        return BrokerBackup(
            state.broker_name,
            self._releases.get(addr),
            select_user_topics(state),
            select_user_groups(state.groups),
            {topic: state.queue_shares.get(topic) for topic in sorted(state.static)},
            {
                (topic, group): {
                    queue_id: SavedOffset(offset, self._store_times.get((addr, topic, queue_id, offset - 1)))
                    for queue_id, offset in sorted(by_queue.items())
                }
                for (topic, group), by_queue in self._offsets.get(addr, {}).items()
            },
            self._consume_modes.get(addr, ()),
            [
                user if self._with_secrets else user._replace(password=None)
                for user in self._users.get(addr, ())
            ],
            self._acls.get(addr, {}),
            {name: text for name, text in settings.items() if not is_secret_name(name)},
            [
                account if self._with_secrets else account._replace(secret_key=None)
                for account in plain_acl.accounts
            ],
            plain_acl.global_white_addrs,
        )


def _is_gap(label: str, error: RocketMQError) -> bool:
    """Whether a missing answer is a gap. A release may lack a section.

    A broker that keeps no users or ACLs is not asked for them, so each refusal of these is a gap.
    """
    if isinstance(error, ClientClosed):
        raise error
    if isinstance(error, NotSupported):
        return False
    if isinstance(error, RequestError):
        return label in _ACCESS_LABELS or error.code in (
            ResponseCode.SYSTEM_BUSY, ResponseCode.NO_PERMISSION
        )  # fmt: skip
    return is_unreachable(error)


def _select_offsets(committed: CommittedOffsets) -> dict[tuple[str, str], dict[int, int]]:
    """Return the offsets of users' groups by (topic, group)."""
    selected_offsets: dict[tuple[str, str], dict[int, int]] = {}
    for topic_and_group, by_queue in committed.items():
        topic, _, group = topic_and_group.partition("@")
        if group and not is_system_group(group):
            selected_offsets[topic, group] = dict(by_queue)
    return selected_offsets


def _read_store_times(
    admin: AdminClient, offsets_by_addr: Mapping[str, OffsetsByTopicAndGroup]
) -> dict[tuple[str, str, int, int], int]:
    """Return the store time of the message before each offset, by (address, topic, queue, offset)."""
    keys = sorted(
        {
            (addr, topic, queue, offset - 1)
            for addr, offsets in offsets_by_addr.items()
            for (topic, _), by_queue in offsets.items()
            for queue, offset in by_queue.items()
            if offset > 0
        }
    )
    places = (MessagePlace(addr, MessageQueue(t, "", q), offset) for addr, t, q, offset in keys)
    # A broker commits offsets of a static topic for its own queues.
    results = admin.queue_reader.get_store_times(places, in_own_queues=True)
    return {key: r.result for key, r in zip(keys, results, strict=True) if r.result is not None}
