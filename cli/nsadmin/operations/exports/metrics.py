"""The document of exportMetrics: load, versions and sizes of brokers, as in mqadmin's metrics.json."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.topics.topic_traffic import MessageCount


class BrokerMetrics(NamedTuple):
    """The metrics of one broker, None for unknown metrics.

    `client_versions` are language and version of consumers. `transaction_count` and `delayed_count` count the
    messages of the half and schedule topics. `topic_count` and `group_count` count user topics and groups.
    """

    broker_name: str
    runtime_info: RuntimeInfo
    broker_config: Mapping[str, str]
    topic_count: int | None
    group_count: int | None
    transaction_count: MessageCount | None
    delayed_count: MessageCount | None
    client_versions: frozenset[str] | None


_TPS_FIELDS = ("normalInTps", "normalOutTps", "transInTps", "scheduleInTps")
_ONE_DAY_FIELDS = ("normalOneDayInNum", "normalOneDayOutNum", "transOneDayInNum", "scheduleOneDayInNum")


def build_metrics_document(metrics: Iterable[BrokerMetrics]) -> dict[str, Any]:
    """The document: a report by broker name, and sums over brokers without unknown values."""
    report_by_broker = {m.broker_name: _report_broker(m) for m in metrics}
    broker_quotas = [broker_report["runtimeQuota"] for broker_report in report_by_broker.values()]
    return {
        "evaluateReport": report_by_broker,
        "totalData": {
            "totalTps": {
                f"total{quota_field[:1].upper()}{quota_field[1:]}": _sum_known(
                    broker_quota["tps"][quota_field] for broker_quota in broker_quotas
                )
                for quota_field in _TPS_FIELDS
            },
            "totalOneDayNum": {
                field: _sum_known(q["oneDayNum"][field] for q in broker_quotas) for field in _ONE_DAY_FIELDS
            },
        },
    }


def _report_broker(metrics: BrokerMetrics) -> dict[str, Any]:
    runtime_table = metrics.runtime_info.table
    return {
        "runtimeEnv": {
            # mqadmin writes this setting as cpuNum, although it is a thread count. We use its real name.
            "clientCallbackExecutorThreads": metrics.broker_config.get("clientCallbackExecutorThreads"),
            "totalMemKBytes": runtime_table.get("totalMemKBytes"),
        },
        "runtimeQuota": _quota_of_broker(metrics),
        "runtimeVersion": {
            "rocketmqVersion": metrics.runtime_info.version,
            "clientInfo": None if metrics.client_versions is None else sorted(metrics.client_versions),
        },
    }


def _quota_of_broker(metrics: BrokerMetrics) -> dict[str, Any]:
    runtime_info = metrics.runtime_info
    special_counts = (metrics.transaction_count, metrics.delayed_count)
    message_rates = (
        runtime_info.get_number("putTps"),
        runtime_info.out_tps,
        *(special_count and special_count.messages_per_second for special_count in special_counts),
    )
    yesterday_counts = (
        runtime_info.get_difference(f"msg{d}TotalTodayMorning", f"msg{d}TotalYesterdayMorning")
        for d in ("Put", "Get")
    )
    day_counts = (
        *yesterday_counts,
        *(special_count and special_count.message_count for special_count in special_counts),
    )
    return {
        "diskRatio": {k: runtime_info.table.get(k) for k in ("commitLogDiskRatio", "consumeQueueDiskRatio")},
        "tps": dict(zip(_TPS_FIELDS, message_rates, strict=True)),
        "oneDayNum": dict(zip(_ONE_DAY_FIELDS, day_counts, strict=True)),
        "messageAverageSize": runtime_info.table.get("putMessageAverageSize"),
        "topicSize": metrics.topic_count,
        "groupSize": metrics.group_count,
    }


def _sum_known(optional_numbers: Iterable[float | None]) -> float | None:
    known_numbers = [number for number in optional_numbers if number is not None]
    return sum(known_numbers) if known_numbers else None
