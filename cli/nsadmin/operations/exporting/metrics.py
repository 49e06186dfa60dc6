"""The document of exportMetrics: load, versions and sizes of brokers, as in mqadmin's metrics.json."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.brokers import RuntimeInfo
from nsadmin.client.traffic import Count


class Measured(NamedTuple):
    """The metrics of one broker; unknown ones are None.

    `client_versions` are language and version of consumers. `transaction_count` and `delayed_count` count the
    messages of the half and schedule topics. `topic_count` and `group_count` count user topics and groups.
    """

    broker_name: str
    runtime: RuntimeInfo
    config: Mapping[str, str]
    topics: int | None
    groups: int | None
    transactions: Count | None
    delayed: Count | None
    clients: frozenset[str] | None


_TPS = ("normalInTps", "normalOutTps", "transInTps", "scheduleInTps")
_DAY = ("normalOneDayInNum", "normalOneDayOutNum", "transOneDayInNum", "scheduleOneDayInNum")


def document(brokers: Iterable[Measured]) -> dict[str, Any]:
    """The document: a report by broker name, and sums over brokers without unknown values."""
    report = {broker.broker_name: _report(broker) for broker in brokers}
    quotas = [one["runtimeQuota"] for one in report.values()]
    return {
        "evaluateReport": report,
        "totalData": {
            "totalTps": {
                f"total{name[:1].upper()}{name[1:]}": _sum(quota["tps"][name] for quota in quotas)
                for name in _TPS
            },
            "totalOneDayNum": {name: _sum(quota["oneDayNum"][name] for quota in quotas) for name in _DAY},
        },
    }


def _report(broker: Measured) -> dict[str, Any]:
    table = broker.runtime.table
    return {
        "runtimeEnv": {
            # mqadmin writes this setting as cpuNum, although it is a thread count. We use its real name.
            "clientCallbackExecutorThreads": broker.config.get("clientCallbackExecutorThreads"),
            "totalMemKBytes": table.get("totalMemKBytes"),
        },
        "runtimeQuota": _quota(broker),
        "runtimeVersion": {
            "rocketmqVersion": broker.runtime.version,
            "clientInfo": None if broker.clients is None else sorted(broker.clients),
        },
    }


def _quota(broker: Measured) -> dict[str, Any]:
    runtime = broker.runtime
    counts = (broker.transactions, broker.delayed)
    rates = (runtime.number("putTps"), runtime.out_tps, *(count and count.tps for count in counts))
    yesterday = (
        runtime.difference(f"msg{way}TotalTodayMorning", f"msg{way}TotalYesterdayMorning")
        for way in ("Put", "Get")
    )
    sums = (*yesterday, *(count and count.messages for count in counts))
    return {
        "diskRatio": {key: runtime.table.get(key) for key in ("commitLogDiskRatio", "consumeQueueDiskRatio")},
        "tps": dict(zip(_TPS, rates, strict=True)),
        "oneDayNum": dict(zip(_DAY, sums, strict=True)),
        "messageAverageSize": runtime.table.get("putMessageAverageSize"),
        "topicSize": broker.topics,
        "groupSize": broker.groups,
    }


def _sum(numbers: Iterable[float | None]) -> float | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
