"""Figures under the names of rocketmq-exporter."""

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag
from nsadmin.client.message_queues import MessageQueue
from nsadmin.operations.exporter.compat_figures import (
    CompatClients,
    CompatFacts,
    build_compat_runtime,
    derive_compat_tables,
    sum_raw_lags,
    sum_raw_offsets,
)
from nsadmin.operations.exporter.derived_figures import ClientFacts, ClientKey
from nsadmin.operations.exporter.figures import Reading, ServerIdentity
from nsadmin.operations.exporter.topic_figures import TOPIC_METRICS
from tests.support.exporter_series import BROKER

OTHER = ServerIdentity("h:3", "C", "b", "0")


def derived(*readings: Reading) -> dict[str, dict[tuple[str, ...], tuple[float | None, ...]]]:
    return {table.metric_names[0]: dict(table.rows) for table in derive_compat_tables(readings)}


def test_the_runtime_figures() -> None:
    table = {
        "brokerVersionDesc": "V5_5_0", "brokerVersion": "493", "bootTimestamp": "17", "putTps": "1 2 3",
        "getMissTps": "", "getTransferedTps": "5 6 7", "putMessageDistributeTime": "[<=0ms]:4 [10s~]:1 ",
        "commitLogDirCapacity": "Total : 1.0 KiB, Free : 1.0 B.", "remainHowManyDataToFlush": "2 KiB",
    }  # fmt: skip
    built = build_compat_runtime(BROKER, RuntimeInfo(table))
    [(labels, figures)] = built.rows
    assert labels == ("C", "h:1", "", "V5_5_0", "17", "493")
    figures_by_name = {
        name.removeprefix("rocketmq_brokeruntime_"): figure
        for name, figure in zip(built.metric_names, figures, strict=True)
    }
    assert (figures_by_name["put_tps10"], figures_by_name["put_tps60"], figures_by_name["put_tps600"]) == (
        1,
        2,
        3,
    )
    assert (figures_by_name["getmiss_tps10"], figures_by_name["gettransfered_tps600"]) == (0, 7)
    assert (
        figures_by_name["pmdt_0ms"],
        figures_by_name["pmdt_10stomore"],
        figures_by_name["pmdt_1to2s"],
    ) == (4, 1, None)
    assert (
        figures_by_name["commitlogdir_capacity_total"],
        figures_by_name["remain_howmanydata_toflush"],
    ) == (1024, 2048)
    assert figures_by_name["dispatch_maxbuffer"] is None


def test_its_lag_counts_queues_without_a_committed_offset_whole() -> None:
    queues = (
        GroupQueueLag("G", MessageQueue("T", "a", 0), 10, 4, None, None),
        GroupQueueLag("G", MessageQueue("T", "a", 1), 5, None, None, None),
    )
    assert sum_raw_lags(ConsumeStats(0, queues)) == {"T": 11}
    assert sum_raw_offsets(ConsumeStats(0, queues)) == {"T": 4}


def test_the_lag_is_the_sum_of_all_brokers_and_the_clients_are_those_of_the_first() -> None:
    clients = CompatClients(2, "x:1,x:2", "1@x,2@x")
    first = CompatFacts({"G": CompatClients()}, {("G", "T"): 3, ("G", "%RETRY%G"): 1, ("G", "%DLQ%G"): 9})
    second = CompatFacts(
        {"G": clients, "H": CompatClients(1, "y", "3", False)}, {("G", "T"): 4, ("H", "T"): 5}
    )
    lag_figures = derived(Reading("compat", BROKER, 0, (), first), Reading("compat", OTHER, 0, (), second))
    assert lag_figures["rocketmq_group_diff"] == {("G", "T", "2", "1"): (7.0,)}
    assert lag_figures["rocketmq_group_retrydiff"] == {("G", "%RETRY%G", "2", "1"): (1.0,)}
    assert lag_figures["rocketmq_group_count"] == {
        ("x:1,x:2", "1@x,2@x", "G"): (2.0,),
        ("y", "3", "H"): (1.0,),
    }


def test_offsets_by_kind_of_topic_producers_and_slaves() -> None:
    rows = [(("C", "a", topic), (5.0, 1.0, None, None)) for topic in ("T", "%RETRY%G", "%DLQ%G")]
    producers = ClientFacts({}, {"P": frozenset({ClientKey("1", "JAVA", "V5_5_0")})})
    slave = ServerIdentity("h:2", "C", "a", "1")
    offset_figures = derived(
        Reading("topics", BROKER, 0, (TOPIC_METRICS.with_rows(rows),)),
        Reading("clients", BROKER, 0, (), producers),
        Reading("runtime", BROKER, 0, (), 100),
        Reading("runtime", slave, 0, (), 60),
    )
    assert offset_figures["rocketmq_producer_offset"] == {("C", "a", "T"): (5.0,)}
    assert offset_figures["rocketmq_topic_retry_offset"] == {("C", "a", "%RETRY%G"): (5.0,)}
    assert offset_figures["rocketmq_topic_dlq_offset"] == {("C", "a", "G"): (5.0,)}
    assert offset_figures["rocketmq_producer_count"] == {("C", "a", "P"): (1.0,)}
    assert offset_figures["rocketmq_broker_commitlog_diff"] == {("C", "h:2", "a"): (40.0,)}
