"""BrokerTableReader, the reads of all tables of brokers for a bundle.

Rule: a table is decoded only if later requests depend on it. Decoding takes longer than recording.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import filterfalse

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields
from nsadmin.client import AdminClient
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.consumers.consumer_progress import BROKER_STATS_TIMEOUT_SECONDS
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.messages.delayed_messages import HALF_TOPIC, LEVEL_TOPIC
from nsadmin.client.results import ServerResult, is_unreachable


class BrokerTableReader:
    """Reads tables of brokers with a client that records its answers.

    `has_queues_to_ask` says that a broker must be asked for single queues, because its consumer offsets do
    not follow from its tables.
    """

    def __init__(self, admin: AdminClient, timeout_seconds: float) -> None:
        self._admin = admin
        self._timeout_seconds = timeout_seconds
        self.has_queues_to_ask = False

    def list_reads(self) -> tuple[Callable[[list[str]], object], ...]:
        """Return one function for each kind of table. It takes the addresses of brokers."""
        admin = self._admin
        return (
            partial(self._record_table, RequestCode.GET_BROKER_CONFIG),
            partial(self._record_table, RequestCode.GET_ALL_TOPIC_CONFIG),
            admin.bulk.list_system_topics,
            self._read_offsets,
            admin.consume_modes.list_modes,
            admin.producers.list_producers,
            admin.replication.get_status,
            admin.cold_data.get_each,
            admin.lite_topics.get_broker_info,
            admin.users.list_users,
            admin.acls.list_entries,
            admin.plain_acls.list_accounts,
            admin.plain_acls.list_files,
            admin.controllers.get_epochs,
            self._read_special_counts,
            self._read_connections,
        )

    def record_of_groups(self, request_code: int, groups: Iterable[str], broker_addrs: Sequence[str]) -> None:
        header_by_group = {
            group: headers.write_header(broker_headers.ConsumerGroup(group)) for group in groups
        }
        self._admin.bulk.read_bodies(
            request_code,
            [(addr, ext_fields) for ext_fields in header_by_group.values() for addr in broker_addrs],
        )

    def _read_offsets(self, broker_addrs: list[str]) -> None:
        """The consumer offsets and the lags of all groups.

        Brokers before 5.0 are also asked for each queue that may have no consumer offset. For others, the
        answers follow from all consumer offsets.
        """
        runtime_results = self._admin.brokers.get_runtime_info(broker_addrs)
        offset_results = self._record_table(RequestCode.GET_ALL_CONSUMER_OFFSET, broker_addrs)
        asked_addrs = [
            runtime_result.addr
            for runtime_result, offset_result in zip(runtime_results, offset_results, strict=True)
            if not (runtime_result.error and is_unreachable(runtime_result.error))
            and (offset_result.error is not None or not _is_from_v5(runtime_result))
        ]
        if asked_addrs:
            self.has_queues_to_ask = True
            self._admin.consumers.get_broker_stats_each(asked_addrs)
        self._record_table(
            RequestCode.GET_BROKER_CONSUME_STATS,
            broker_addrs,
            headers.write_header(broker_headers.BrokerConsumeStats(False)),
            max(BROKER_STATS_TIMEOUT_SECONDS, self._timeout_seconds),
        )

    def _record_table(
        self,
        request_code: int,
        broker_addrs: list[str],
        ext_fields: ExtFields | None = None,
        timeout_seconds: float | None = None,
    ) -> list[ServerResult[bytes]]:
        return self._admin.bulk.read_bodies(
            request_code, [(addr, ext_fields or {}) for addr in broker_addrs], timeout_seconds
        )

    def _read_special_counts(self, broker_addrs: list[str]) -> None:
        """The message counts of the topics of transactions and of delayed messages, for exportMetrics."""
        for topic in (HALF_TOPIC, LEVEL_TOPIC):
            self._admin.put_counts.get_topic_counts(broker_addrs, topic)

    def _read_connections(self, addrs: list[str]) -> None:
        """The clients of all groups of these brokers."""
        group_results = self._admin.bulk.list_groups(addrs)
        groups = merge_names(group_result.then(lambda configs: [*configs]) for group_result in group_results)
        self.record_of_groups(
            RequestCode.GET_CONSUMER_CONNECTION_LIST, filterfalse(is_system_group, groups), addrs
        )


def merge_names(name_results: Iterable[ServerResult[list[str]]]) -> list[str]:
    return sorted({name for name_result in name_results for name in name_result.result or ()})


def _is_from_v5(runtime_result: ServerResult[RuntimeInfo]) -> bool:
    version = runtime_result.result and runtime_result.result.version
    return bool(version) and not str(version).startswith(("V3_", "V4_"))
