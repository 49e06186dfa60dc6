"""Causes of "system busy", the right one first, and the commands that are advised."""

from typing import Any

import pytest

from namesrv_core.errors import NotSupported
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.cold_data import ColdData, ColdReads
from nsadmin.client.brokers.replication import HaStatus, SlaveLink
from nsadmin.client.brokers.targets import BrokerTarget, target_at_addr
from nsadmin.client.results import ServerResult
from nsadmin.operations.broker_disks import DiskStates
from nsadmin.operations.explain.broker_causes import BROKER_CHECKS
from nsadmin.operations.explain.broker_facts import BrokerFacts
from nsadmin.operations.explain.findings import CauseExplanation, explain_causes, list_cause_ids
from nsadmin.operations.topic_senders import Sender

ADDR = "h:10911"
IDLE = dict.fromkeys(
    (
        "sendThreadPoolQueueSize", "sendThreadPoolQueueHeadWaitTimeMills", "pageCacheLockTimeMills",
        "EndTransactionQueueSize", "putLatency99",
    ),
    "0",
)  # fmt: skip
BUSY = {"putTps": "900 800 700"}
NO_SLAVE = HaStatus(True, 0, 0, (), None)
SYNC = {"brokerRole": "SYNC_MASTER"}
ACTING = SYNC | {"enableSlaveActingMaster": "true"}


def result(value: Any) -> ServerResult[Any]:
    return ServerResult(ADDR, value, None)


def make_facts(
    figures: dict[str, str] | None = None, config: dict[str, str] | None = None, **more: Any
) -> BrokerFacts:
    """A broker at which nothing is wrong, but for these figures and settings."""
    facts = BrokerFacts(
        BrokerTarget("a", 0, ADDR),
        (result(RuntimeInfo(IDLE)), result(RuntimeInfo(IDLE | (figures or {})))),
        result({"brokerRole": "ASYNC_MASTER", **(config or {})}),
        DiskStates(),
        result(NO_SLAVE),
        0,
        result(ColdData({}, {}, None, None, None)),
        result(()),
        0,
        (),
        None,
        None,
        1000,
    )
    return facts._replace(**more)


def explain(facts: BrokerFacts) -> list[CauseExplanation]:
    return explain_causes(BROKER_CHECKS, facts)


def find(facts: BrokerFacts, cause_id: str) -> tuple[str, str, str | None]:
    [finding] = [e.finding for e in explain(facts) if e.cause_id == cause_id]
    return finding.result, finding.evidence, finding.advice and finding.advice.shell_command


def test_nothing_is_wrong_with_an_idle_broker() -> None:
    assert {e.finding.result for e in explain(make_facts())} == {"ok", "skipped"}


@pytest.mark.parametrize(
    ("figures", "config", "cause_id", "command"),
    [
        ({}, {"brokerPermission": "4"}, "notServing", "brokerPermission 6"),
        ({"pageCacheLockTimeMills": "1500"}, {}, "pageCacheBusy", "osPageCacheBusyTimeOutMills 2000"),
        (
            {"remainTransientStoreBufferNumbs": "0"},
            {"transientStorePoolEnable": "true", "transientStorePoolSize": "5"},
            "transientPool", "transientStorePoolSize 10",
        ),
        ({}, SYNC | {"inSyncReplicas": "2"}, "slavesBehind", "inSyncReplicas 1"),
        (
            {},
            ACTING | {"enableAutoInSyncReplicas": "true", "inSyncReplicas": "3", "minInSyncReplicas": "2"},
            "slavesBehind", "minInSyncReplicas 1",
        ),
        (
            {"sendThreadPoolQueueSize": "10000"}, {}, "sendQueueFull", "sendThreadPoolQueueCapacity 20000",
        ),
        (
            {"sendThreadPoolQueueSize": "0", **BUSY}, {"sendThreadPoolQueueCapacity": "1"},
            "sendQueueFull", "sendThreadPoolQueueCapacity 10000",
        ),
        (
            {"sendThreadPoolQueueHeadWaitTimeMills": "0", **BUSY}, {"waitTimeMillsInSendQueue": "2"},
            "sendQueueWait", "waitTimeMillsInSendQueue 200",
        ),
        (
            {"sendThreadPoolQueueHeadWaitTimeMills": "211"}, {},
            "sendQueueWait", "waitTimeMillsInSendQueue 400",
        ),
        (
            {"EndTransactionQueueSize": "100000"}, {},
            "transactionQueueFull", "endTransactionPoolQueueCapacity 200000",
        ),
    ],
)  # fmt: skip
def test_a_limit_that_is_hit_is_the_cause(
    figures: dict[str, str], config: dict[str, str], cause_id: str, command: str
) -> None:
    facts = make_facts(figures, config)
    assert list_cause_ids(explain(facts)) == [cause_id]
    assert find(facts, cause_id)[2] == f"nsadmin updateBrokerConfig {command} -b {ADDR}"


@pytest.mark.parametrize(
    ("figures", "config", "cause_id"),
    [
        ({"pageCacheLockTimeMills": "500"}, {}, "pageCacheBusy"),
        ({"putLatency99": "100"}, {}, "storeSlow"),
        ({"sendThreadPoolQueueSize": "0"}, {"sendThreadPoolQueueCapacity": "1"}, "sendQueueFull"),
        ({"sendThreadPoolQueueHeadWaitTimeMills": "100"}, {}, "sendQueueWait"),
        ({}, {"rejectTransactionMessage": "true"}, "quotas"),
        ({}, {"timerWheelEnable": "false"}, "quotas"),
        ({"dispatchBehindBytes": "100000000"}, {}, "coldReads"),
    ],
)
def test_what_is_near_or_unused_is_a_warning(
    figures: dict[str, str], config: dict[str, str], cause_id: str
) -> None:
    explanations = explain(make_facts(figures, config))
    assert (list_cause_ids(explanations), list_cause_ids(explanations, "warning")) == ([], [cause_id])


def test_a_full_disk_comes_before_what_it_leads_to() -> None:
    facts = make_facts(
        {"sendThreadPoolQueueHeadWaitTimeMills": "300"},
        {"diskSpaceWarningLevelRatio": "70"},
        disks=DiskStates({ADDR: "refuses messages: 80 %"}),
    )
    assert list_cause_ids(explain(facts)) == ["diskFull", "sendQueueWait"]
    assert find(facts, "diskFull")[1:] == (
        "it refuses messages: 80 %",
        f"nsadmin updateBrokerConfig diskSpaceWarningLevelRatio 90 -b {ADDR}",
    )


def test_the_slaves_of_a_4x_broker_are_those_of_name_servers() -> None:
    untold = ServerResult(ADDR, None, NotSupported("no"))
    command = f"nsadmin updateBrokerConfig brokerRole ASYNC_MASTER -b {ADDR}"
    facts = make_facts({}, SYNC, ha_status=untold)
    assert (find(facts, "slavesBehind")[0], find(facts, "slavesBehind")[2]) == ("cause", command)
    assert find(facts._replace(slave_count=1), "slavesBehind")[0] == "ok"
    assert find(facts._replace(slave_count=None), "slavesBehind")[0] == "unknown"
    failed = ServerResult(ADDR, None, CallError(ADDR, "silent", "no answer"))
    assert find(facts._replace(ha_status=failed), "slavesBehind")[0] == "unknown"


def test_sends_wait_for_a_slave_that_is_far_behind() -> None:
    link = SlaveLink("h:1", 0, 300 << 20, False, 0, 0)
    status = result(HaStatus(True, 0, 0, (link,), None))
    reason = f"inSyncReplicas is 2, but in sync is 1 copy, with a slave that is {300 << 20} bytes behind"
    for config, answer in (
        (SYNC, "FLUSH_SLAVE_TIMEOUT (12) after 3000 ms"),
        (ACTING, '"in-sync replicas not enough"'),
    ):
        facts = make_facts({}, config | {"inSyncReplicas": "2"}, ha_status=status)
        assert find(facts, "slavesBehind")[:2] == ("cause", f"it answers {answer}: {reason}")


def test_a_collector_tells_since_when() -> None:
    facts = make_facts(
        {"sendThreadPoolQueueHeadWaitTimeMills": "211"}, reached_since={"waitTimeMillsInSendQueue": 0}
    )
    assert find(facts, "sendQueueWait")[1].endswith("211 ms, since 1970-01-01T00:00:00Z by the collector")


def test_a_figure_that_is_not_reported_is_unknown() -> None:
    facts = make_facts(looks=(result(RuntimeInfo({})),))
    unknown = ["pageCacheBusy", "sendQueueFull", "sendQueueWait", "transactionQueueFull"]
    assert list_cause_ids(explain(facts), "unknown") == unknown
    assert find(facts, "storeSlow")[0] == "skipped"


def test_a_silent_broker_and_one_without_settings() -> None:
    error = CallError(ADDR, "unconnected", "connection refused")
    silent = make_facts(looks=(ServerResult(ADDR, None, error),))
    assert find(silent, "brokerSilent")[:2] == ("cause", "it does not answer: connection refused")
    untold = make_facts(config_result=ServerResult(ADDR, None, NotSupported("no")))
    assert find(untold, "brokerSilent")[0] == "unknown"


def test_topics_and_clients_have_their_share() -> None:
    facts = make_facts(
        topic_counts=result((("orders", 75), ("carts", 25))),
        senders=(Sender("10.0.0.1", 48, ("shop",)), Sender("10.0.0.2", 16, ())),
    )
    assert find(facts, "load")[1] == (
        "messages of the last minute: 100, orders 75 %, carts 25 %; senders of the newest messages of these "
        "topics: 10.0.0.1 75 % (shop), 10.0.0.2 25 %"
    )


def test_shares_of_the_load_are_of_all_messages_of_the_broker() -> None:
    counts = tuple((f"topic-{i}", 100) for i in range(25))
    assert find(make_facts(topic_counts=result(counts), uncounted_topics=3), "load")[1] == (
        "messages of the last minute: 2500, topic-0 4 %, topic-1 4 %, topic-2 4 %, topic-3 4 %, topic-4 4 % "
        "and 20 more (3 topics not counted)"
    )


def test_groups_that_read_from_the_disk_are_named() -> None:
    reads = {"slow": ColdReads(1, None, None), "slower": ColdReads(2, None, None)}
    facts = make_facts(cold_data=result(ColdData({}, reads, None, None, None)))
    assert find(facts, "coldReads") == (
        "warning",
        "groups read old messages from the disk: slower, slow",
        "nsadmin consumerProgress -g slower",
    )


def test_a_slave_that_takes_no_messages_is_no_cause() -> None:
    facts = make_facts(config={"brokerRole": "SLAVE"})
    assert find(facts, "notServing") == (
        "skipped",
        "it is a slave: slaves take no messages from producers, and answer that they are busy",
        "nsadmin broker explain a",
    )
    named_by_settings = make_facts(
        config={"brokerRole": "SLAVE", "brokerName": "b"}, target=target_at_addr(ADDR)
    )
    assert find(named_by_settings, "notServing")[2] == "nsadmin broker explain b"
    assert find(facts, "slavesBehind")[1] == "only a SYNC_MASTER waits for slaves, and it is SLAVE"
