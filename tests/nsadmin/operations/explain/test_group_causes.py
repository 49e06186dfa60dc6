"""Why a group does not consume, from facts as values."""

from typing import Any

import pytest

from namesrv_core.errors import RocketMQError, TopicNotExist
from namesrv_core.protocol.stored_messages import StoredMessage
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.consumers.client_runtime import (
    ConsumeStatus,
    PopQueue,
    RunningClient,
    RunningInfo,
    RunningQueue,
)
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections, TopicSubscription
from nsadmin.client.consumers.consume_modes import AssignedMode, ConsumeMode
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag
from nsadmin.client.consumers.groups import GroupConfigFields
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.dead_letter_selection import DeadLetterCounts
from nsadmin.client.proxies.client_heartbeats import ClientHeartbeat, ProxyIdentity
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import QueueRoute, TopicRoute
from nsadmin.operations.broker_disks import DiskStates
from nsadmin.operations.explain.findings import describe_verdict, list_cause_ids, ok_finding, reach_verdict
from nsadmin.operations.explain.group_causes import explain_group, list_busy_stacks
from nsadmin.operations.explain.group_facts import ClusterFacts, GroupFacts

MASTER, SLAVE, NOW = "10.0.0.1:10911", "10.0.0.2:10911", 1_800_000_000_000
GROUPS = (BrokerAddrGroup("C", "a", {0: MASTER, 1: SLAVE}),)
SILENT = CallError(MASTER, "unconnected", "connection refused")
SETTINGS = {"brokerPermission": "6", "useServerSideResetOffset": "true"}
NO_LETTERS = DeadLetterCounts("G", (), 0, None, None, 0, (), (TopicNotExist("%DLQ%G"),))
Q0, Q1 = (MessageQueue("T", "a", number) for number in (0, 1))
JSTACK = """\
ConsumeMessageThread_1                  TID: 34 STATE: TIMED_WAITING
ConsumeMessageThread_1                  java.base@17.0.15/java.lang.Thread.sleep(Native Method)
ConsumeMessageThread_1                  app//App.consume(App.java:20)
ConsumeMessageThread_1                  o.a.ConsumeMessageConcurrentlyService$ConsumeRequest.run(X.java:1)

ConsumeMessageThread_of-a-group-with-a-long-name_2TID: 35 STATE: WAITING
ConsumeMessageThread_of-a-group-with-a-long-name_2java.lang.Object.wait(Native Method)

"""


def make_cluster(**more: Any) -> ClusterFacts:
    values: dict[str, Any] = {
        "now_ms": NOW,
        "broker_groups": GROUPS,
        "configs": {addr: ServerResult(addr, SETTINGS, None) for addr in (MASTER, SLAVE)},
        "reader_addrs": {"a": MASTER},
        "group_tables": {MASTER: ServerResult(MASTER, {"G": {"consumeEnable": True}}, None)},
    }
    return ClusterFacts(**{**values, **more})


def make_queue(queue: MessageQueue, **more: Any) -> RunningQueue:
    values = {
        "consumer_offset": 10,
        "cached_msg_count": 0,
        "last_pull_ms": NOW,
        "last_consume_ms": NOW - 60_000,
    }
    rest = {"cached_msg_size_in_mib": 0, "is_locked": False, "is_dropped": False}
    return RunningQueue(queue, **{**values, **rest, **more})


def make_client(
    client_id: str = "c1",
    *queues: RunningQueue,
    text: str = "*",
    status: ConsumeStatus | None = None,
    **more: Any,
) -> RunningClient:
    properties = {"PROP_CONSUMER_START_TIMESTAMP": str(NOW - 600_000), "messageModel": "CLUSTERING"}
    info = RunningInfo(
        {**properties, **more.pop("properties", {})},
        (TopicSubscription("%RETRY%G", "TAG", "*"), TopicSubscription("T", "TAG", text)),
        queues,
        {} if status is None else {"T": status},
        None,
        **more,
    )
    return RunningClient(ConnectedClient(client_id, None, "JAVA", "V5_5_0", (MASTER,)), info, None)


def make_facts(
    *clients: RunningClient, ends: tuple[int, int] = (10, 10), tps: float = 1.0, **more: Any
) -> GroupFacts:
    kind: tuple[str | None, str | None, str | None] = (None, None, None)
    if clients:
        kind = ("CONSUME_PASSIVELY", "CLUSTERING", "CONSUME_FROM_LAST_OFFSET")
    lags = tuple(
        GroupQueueLag("G", queue, end, 10, 10, None) for queue, end in zip((Q0, Q1), ends, strict=True)
    )
    values: dict[str, Any] = {
        "cluster": make_cluster(),
        "connections": GroupConnections(tuple(c.client for c in clients), *kind, (), (), {MASTER: None}),
        "clients": clients,
        "stats": (ServerResult(MASTER, ConsumeStats(tps, lags), None),),
        "routes": {"T": ServerResult("", make_route(), None)},
        "dead_letters": NO_LETTERS,
    }
    return GroupFacts("G", **{**values, **more})


def make_route(perm: int = 6) -> TopicRoute:
    return TopicRoute((QueueRoute("a", "C", {0: MASTER, 1: SLAVE}, perm, 2, 2, 0),), None)


def make_message(tags: str | None = None, age_ms: int = 60_000) -> StoredMessage:
    properties = {"KEYS": "k", "UNIQ_KEY": "ID", **({"TAGS": tags} if tags else {})}
    return StoredMessage(
        "T", 0, 10, 0, 0, 0, 0, "", NOW - age_ms, "", 0, 0, b"", None, None, properties, 0, "OFFSET-ID"
    )  # fmt: skip


BOTH = make_client("c1", make_queue(Q0), make_queue(Q1))
HUNG = make_client("c1", make_queue(Q0, cached_msg_count=1), make_queue(Q1))


def first(facts: GroupFacts) -> tuple[str, str, str, str | None]:
    """Step, result, evidence and command of the first row."""
    step = explain_group(facts)[0]
    command = step.finding.advice.shell_command if step.finding.advice else None
    return step.cause_id, step.finding.result, step.finding.evidence, command


def test_of_a_healthy_group_nothing_is_wrong() -> None:
    steps = explain_group(make_facts(BOTH))
    assert (reach_verdict(steps), {step.finding.result for step in steps}) == ("fine", {"ok", "skipped"})
    assert len({step.cause_id for step in steps}) == len(steps) == 23


@pytest.mark.parametrize(
    ("client", "changes"),
    [
        ({"protocol": "gRPC"}, {}),
        ({"broker_addrs": (), "proxy_addrs": ("10.0.0.9:8081",)}, {}),
        ({}, {"proxy_errors": {"10.0.0.9:8081": SILENT}}),
        ({}, {"errors": {MASTER: SILENT}}),
    ],
)
def test_a_master_may_have_clients_that_are_not_known(
    client: dict[str, Any], changes: dict[str, Any]
) -> None:
    facts = make_facts(ON_SLAVE._replace(client=ON_SLAVE.client._replace(**client)))
    steps = explain_group(facts._replace(connections=facts.connections._replace(**changes)))
    assert [s.finding.result for s in steps if s.cause_id == "noClient"] == ["ok"]


def test_a_hanging_listener_has_its_message_and_its_stack() -> None:
    facts = make_facts(
        HUNG, ends=(13, 10), heads={Q0: make_message()}, stacks={"c1": ServerResult("c1", JSTACK, None)}
    )
    step, result, evidence, command = first(facts)
    assert (step, result) == ("stuckQueue", "cause")
    assert evidence == (
        "T a 0: c1 has not finished offset 10 (message ID, keys k) since 2027-01-15T07:59:00Z; messages "
        "behind its offset: 3, of them in the client: 1; thread ConsumeMessageThread_1: "
        "java.lang.Thread.sleep(Native Method) < App.consume(App.java:20)"
    )
    assert command == f"nsadmin resetOffsetByTime G T -b {MASTER} -q 0 -o 11"


def test_a_message_of_this_moment_is_not_stuck_and_one_that_cannot_be_read_is_unknown() -> None:
    fresh = make_facts(HUNG, ends=(11, 10), heads={Q0: make_message(age_ms=100)})
    assert reach_verdict(explain_group(fresh)) == "fine"
    unread = explain_group(make_facts(HUNG, ends=(11, 10), heads={Q0: RocketMQError("no")}))
    assert list_cause_ids(unread, "unknown") == ["stuckQueue"]


def test_stacks_of_threads_with_long_names() -> None:
    busy = JSTACK.replace("java.lang.Object.wait(Native Method)", "a.ConsumeRequest.run(X.java:2)")
    assert [name for name, _ in list_busy_stacks(busy)] == [
        "ConsumeMessageThread_1",
        "ConsumeMessageThread_of-a-group-with-a-long-name_2",
    ]
    assert list_busy_stacks("goroutine 1\n\tmain") == []


def test_different_subscriptions_have_the_tags_that_they_hide() -> None:
    clients = (make_client("c1", make_queue(Q0), text="red"), make_client("c2", make_queue(Q1), text="blue"))
    samples = {"T": tuple(make_message(tag) for tag in ("red", "blue", "blue"))}
    step, result, evidence, command = first(make_facts(*clients, samples=samples))
    assert (step, result) == ("subscriptions", "cause")
    assert evidence == (
        "members subscribe T differently, so messages are skipped: c1: red; c2: blue. in T a 0 c1 skips what "
        "is not red: blue (2) of the newest 3; in T a 1 c2 skips what is not blue: red (1) of the newest 3"
    )
    assert command == "nsadmin resetOffsetByTime G T -s 2027-01-15T07:50:00Z"


FAILING = ConsumeStatus(0.0, 2.0, 1.0, 1.0, 1.0)
DEAD = {addr: ServerResult(addr, None, SILENT) for addr in (MASTER, SLAVE)}
NO_SLAVE_READS = {MASTER: DEAD[MASTER], SLAVE: ServerResult(SLAVE, {"slaveReadEnable": "false"}, None)}
READS = {MASTER: DEAD[MASTER], SLAVE: ServerResult(SLAVE, {"slaveReadEnable": "true"}, None)}
LETTERS = NO_LETTERS._replace(message_count=3, newest_ms=NOW, last_hour_count=2, errors=(None,))
MIXED = make_client("c2", make_queue(Q1), properties={"messageModel": "BROADCASTING"})
IN_ORDER = make_client("c1", make_queue(Q0), make_queue(Q1), properties={"PROP_CONSUMEORDERLY": "true"})
POPS = make_client("c1", pop_queues=(PopQueue(Q0._replace(queue_id=-1), 4, NOW, False),))


RETRY_LAG = GroupQueueLag("G", MessageQueue("%RETRY%G", "a", 0), 5, 2, 2, None)
WAREHOUSE: dict[str, GroupConfigFields] = {"warehouse": {}}
OTHER_GROUPS = {MASTER: ServerResult(MASTER, WAREHOUSE, None)}
CREATES = {**SETTINGS, "autoCreateSubscriptionGroup": "true"}
ON_SLAVE = BOTH._replace(client=BOTH.client._replace(broker_addrs=(SLAVE,)))


@pytest.mark.parametrize(
    ("facts", "step", "result", "seen", "command"),
    [
        (
            make_facts(ON_SLAVE),
            "noClient", "cause",
            f"no client of the group is connected to {MASTER}, the master of a: nobody consumes its queues; "
            "clients that are connected to other brokers: 1",
            "consumerConnection G --columns clientId,brokerAddrs",
        ),
        (
            make_facts(
                ON_SLAVE,
                cluster=make_cluster(
                    configs={a: ServerResult(a, CREATES, None) for a in (MASTER, SLAVE)},
                    group_tables={MASTER: ServerResult(MASTER, {}, None)},
                ),
            ),
            "groupMissing", "cause", "a does not have the group", f"updateSubGroup G -b {MASTER}",
        ),
        (make_facts(), "noClient", "cause", "no client of the group", "consumerConnection G"),
        (
            make_facts(BOTH, cluster=make_cluster(configs=DEAD)),
            "brokerDown", "cause", "a does not answer", f"brokerStatus -b {MASTER}",
        ),
        (
            make_facts(BOTH, cluster=make_cluster(configs=NO_SLAVE_READS)),
            "slaveReads", "cause",
            f"silent master, {MASTER}, and its slaves refuse reads (slaveReadEnable=false)",
            f"updateBrokerConfig slaveReadEnable true -b {SLAVE}",
        ),
        (
            make_facts(BOTH, cluster=make_cluster(configs=READS)),
            "slaveReads", "warning", "consumers read from a slave", None,
        ),
        (
            make_facts(cluster=make_cluster(group_tables={MASTER: ServerResult(MASTER, {"Gg": {}}, None)})),
            "groupMissing", "cause",
            "creates none with autoCreateSubscriptionGroup=false; similar groups exist: Gg",
            "group explain Gg",
        ),
        (
            make_facts(
                BOTH,
                cluster=make_cluster(
                    group_tables={MASTER: ServerResult(MASTER, {"G": {"consumeEnable": False}}, None)}
                ),
            ),
            "groupDisabled", "cause", "consumeEnable=false", f"updateSubGroup G -b {MASTER} -s true",
        ),
        (
            make_facts(
                BOTH, cluster=make_cluster(forbidden={MASTER: ServerResult(MASTER, {"G": ["T", "U"]}, None)})
            ),
            "topicForbidden", "cause", "a forbids the group to read T: pulls get NO_PERMISSION (16)", None,
        ),
        (
            make_facts(BOTH, routes={"T": ServerResult("", make_route(2), None)}),
            "permission", "cause", "its permission is 2", f"updateTopicPerm T 6 -b {MASTER}",
        ),
        (
            make_facts(BOTH, cluster=make_cluster(
                configs={MASTER: ServerResult(MASTER, {"brokerPermission": "2"}, None), SLAVE: DEAD[SLAVE]}
            )),
            "permission", "cause", "brokerPermission=2",
            f"updateBrokerConfig brokerPermission 6 -b {MASTER}",
        ),
        (
            make_facts(BOTH, routes={"T": ServerResult("", None, TopicNotExist("T"))}),
            "permission", "cause", "no name server has a route of T", "route explain T",
        ),
        (
            make_facts(make_client("c1", make_queue(Q0)), MIXED),
            "messageModel", "cause", "c2: BROADCASTING", None,
        ),
        (
            make_facts(BOTH, ends=(12, 10), heads={Q0: make_message()}),
            "suspended", "cause",
            "c1 fetches nothing of T a 0; messages behind its offset: 2; its app",
            "consumerStatus G -i c1",
        ),
        (
            make_facts(BOTH, topic="Other"),
            "subscriptions", "cause", "no connected client subscribes to Other", "consumerConnection G",
        ),
        (make_facts(IN_ORDER), "unlocked", "cause", "does not hold the lock of T a 0,1", "consumerStatus G"),
        (
            make_facts(make_client("c1", make_queue(Q0))),
            "owners", "cause", "no client consumes T a 1", "consumerStatus G",
        ),
        (
            make_facts(BOTH, make_client("c2", make_queue(Q1))),
            "owners", "warning", "T a 1 is consumed by c1, c2", "consumerStatus G",
        ),
        (
            make_facts(make_client("c1", make_queue(Q0), make_queue(Q1), text="never"),
                       samples={"T": (make_message("red"), make_message())}),
            "filter", "cause",
            "none of the newest 2 messages of T matches never: their tags are red (1), no tag",
            "consumerConnection G",
        ),
        (
            make_facts(BOTH, ends=(10, 9)),
            "offsets", "cause", "beyond the end of T a 1", "skipAccumulatedMessage G T",
        ),
        (
            make_facts(BOTH, min_offsets={Q0: 15}),
            "offsets", "warning", "deleted before the group consumed them: 5 of T a 0", None,
        ),
        (
            make_facts(make_client("c1", make_queue(Q0), make_queue(Q1), status=FAILING)),
            "failures", "cause", "the listener of c1 fails for 2 messages of T per second", "dlq list",
        ),
        (
            make_facts(BOTH, dead_letters=LETTERS),
            "deadLetters", "cause", "as dead letters: 3", "dlq replay G",
        ),
        (
            make_facts(BOTH, cluster=make_cluster(disks=DiskStates({MASTER: "refuses messages: full"}))),
            "diskFull", "warning", "a refuses messages: full", f"brokerStatus -b {MASTER}",
        ),
        (
            make_facts(BOTH, cluster=make_cluster(
                modes={MASTER: ServerResult(MASTER, (AssignedMode("T", "G", ConsumeMode("POP", 0)),), None)},
                broker_groups=(*GROUPS, BrokerAddrGroup("C", "b", {0: SLAVE})),
                reader_addrs={"a": MASTER, "b": SLAVE}),
                routes={"T": ServerResult("", TopicRoute(
                    (*make_route().queues, QueueRoute("b", "C", {0: SLAVE}, 6, 0, 0, 0)), None), None)},
            ),
            "consumeMode", "warning",
            "pops T on some brokers, and pulls on b", f"setConsumeMode T G POP -b {SLAVE}",
        ),
        (
            make_facts(BOTH, ends=(900, 10), heads={Q0: make_message(age_ms=0)}),
            "lag", "warning",
            "waiting messages: 890; the group consumes 1.00 per second",
            "consumerProgress G -s true --sort -lag --limit 5 --watch 10",
        ),
        (
            make_facts(BOTH, ends=(12, 10), tps=0, heads={Q0: make_message(age_ms=0)}),
            "lag", "unknown",
            "waiting messages: 2; the group consumed none in the last minute",
            "consumerProgress G -s true --sort -lag --limit 5 --watch 10",
        ),
        (
            make_facts(BOTH, stats=(ServerResult(MASTER, ConsumeStats(1.0, (RETRY_LAG,)), None),)),
            "failures", "warning", "failed messages whose retry is due: 3", "delayed list %RETRY%G",
        ),
        (
            make_facts(routes={}, stats=(), cluster=make_cluster(group_tables=OTHER_GROUPS)),
            "groupMissing", "cause", "no broker has a group G", "updateSubGroup G -c C",
        ),
    ],
)  # fmt: skip
def test_each_cause_has_its_evidence_and_a_command(
    facts: GroupFacts, step: str, result: str, seen: str, command: str | None
) -> None:
    found = first(facts)
    assert found[:2] == (step, result)
    assert seen in found[2]
    assert found[3] == (None if command is None else f"nsadmin {command}")


@pytest.mark.parametrize(
    ("text", "put_tps", "trend"),
    [
        ("*", None, ""),
        ("*", 0.5, ", 0.50 arrive: caught up in about 30 min at these rates"),
        ("*", 0.88, ", 0.88 arrive: caught up in about 2 h at these rates"),
        ("*", 0.94, ", 0.94 arrive: caught up in about 4 h at these rates"),
        ("*", 0.96, ", 0.96 arrive: the lag hardly shrinks at these rates"),
        ("*", 1.0, ", 1.00 arrive: the lag does not shrink at these rates"),
        ("*", 1.09, ", 1.09 arrive: the lag does not shrink at these rates"),
        ("*", 3.5, ", 3.50 arrive: the lag grows by 2.50 per second"),
        ("A", 3.5, ""),
    ],
)
def test_a_lag_says_when_it_is_gone(text: str, put_tps: float | None, trend: str) -> None:
    client = make_client("c1", make_queue(Q0), make_queue(Q1), text=text)
    heads = {Q0: make_message(age_ms=0)}
    steps = explain_group(make_facts(client, ends=(900, 10), heads=heads, put_tps=put_tps))
    [evidence] = [s.finding.evidence for s in steps if s.cause_id == "lag"]
    places = "lag on 1 of 2 queues, most on T a 0: 890"
    assert evidence == f"waiting messages: 890; the group consumes 1.00 per second{trend}; {places}"


@pytest.mark.parametrize(("tps", "result"), [(1.0, "warning"), (0.0, "unknown"), (100.0, "ok")])
def test_a_lag_says_which_client_is_behind_and_since_when(tps: float, result: str) -> None:
    lags = (GroupQueueLag("G", Q0, 30, 10, 10, NOW), GroupQueueLag("G", Q1, 910, 10, 10, NOW - 60_000))
    stats = (ServerResult(MASTER, ConsumeStats(tps, lags), None),)
    fast, slow = make_client("fast", make_queue(Q0)), make_client("slow", make_queue(Q1))
    heads = {Q0: make_message(age_ms=0), Q1: make_message(age_ms=0)}
    steps = explain_group(make_facts(fast, slow, stats=stats, heads=heads))
    [lag] = [s.finding for s in steps if s.cause_id == "lag"]
    assert lag.result == result
    assert lag.evidence.startswith("waiting messages: 920, since about 2027-01-15T07:59:00Z; ")
    assert lag.evidence.endswith("; lag per client: slow 900, fast 20")
    places = "; lag on 2 of 2 queues, most on T a 1: 900;"
    assert (places in lag.evidence) == (result != "ok")
    [alone] = [s.finding for s in explain_group(make_facts(BOTH, stats=stats)) if s.cause_id == "lag"]
    assert "per client" not in alone.evidence


def test_a_lag_says_whether_it_is_everywhere_or_in_one_place() -> None:
    other = MessageQueue("U", "b", 0)
    ends = {Q0: 900, Q1: 10, other: 15}
    lags = tuple(GroupQueueLag("G", queue, end, 10, 10, NOW) for queue, end in ends.items())
    stats = (ServerResult(MASTER, ConsumeStats(0.0, lags), None),)
    [lag] = [s.finding for s in explain_group(make_facts(BOTH, stats=stats)) if s.cause_id == "lag"]
    assert lag.evidence.endswith("; lag on 2 of 3 queues, 2 of 2 topics, 2 of 2 brokers, most on T a 0: 890")


def test_clients_of_a_silent_proxy_and_popped_messages() -> None:
    client = ConnectedClient("g1", None, "JAVA", None, (), "gRPC", ("10.0.0.9:8080",))
    heartbeat = ClientHeartbeat(ProxyIdentity("10.0.0.9", 8080, 8081), "G", client, None, None, False, 0, 0)
    proxies = ProxyList(
        (ProxyStatus("10.0.0.9:8080", is_answering=False),), {}, ProxyHeartbeats((heartbeat,))
    )
    step, result, evidence, command = first(make_facts(cluster=make_cluster(proxies=proxies)))
    assert (step, result, command) == ("proxies", "cause", "nsadmin proxy list")
    assert evidence.endswith("clients of the group that used it: g1")
    lags = (GroupQueueLag("G", Q0, 10, 4, 10, None), GroupQueueLag("G", Q1, 10, 10, 10, None))
    stats = (ServerResult(MASTER, ConsumeStats(0.0, lags), None),)
    steps = explain_group(make_facts(POPS, stats=stats))
    [popped] = [s.finding.evidence for s in steps if s.cause_id == "popInFlight"]
    assert popped.startswith("popped messages without an acknowledgement: 4,")
    assert popped.endswith("They are at c1 4")


def test_a_broker_that_refuses_to_tell_its_settings_is_not_dead() -> None:
    refused = {addr: ServerResult(addr, None, RocketMQError("no permission")) for addr in (MASTER, SLAVE)}
    steps = explain_group(make_facts(BOTH, cluster=make_cluster(configs=refused)))
    assert (list_cause_ids(steps), list_cause_ids(steps, "unknown")) == ([], ["permission"])
    without_master = make_cluster(
        configs={**refused, MASTER: DEAD[MASTER]}, reader_addrs={"a": SLAVE}, group_tables={}
    )
    assert "slaveReads" in list_cause_ids(explain_group(make_facts(BOTH, cluster=without_master)), "unknown")


def test_what_could_not_be_examined_makes_the_verdict_unknown() -> None:
    silent = RunningClient(BOTH.client, None, RocketMQError("the client did not answer in 10 s"))
    refused = ServerResult(MASTER, None, RocketMQError("refused"))
    steps = explain_group(
        make_facts(
            silent,
            cluster=make_cluster(
                group_tables={MASTER: refused}, modes={MASTER: refused}, proxies_error=RocketMQError("no")
            ),
            stats=(refused,),
            dead_letters=NO_LETTERS._replace(errors=(RocketMQError("no"),)),
        )
    )
    assert reach_verdict(steps) == "unknown"
    assert set(list_cause_ids(steps, "unknown")) == {
        "groupMissing", "proxies", "consumeMode", "offsets", "deadLetters", "clientReports",
    }  # fmt: skip
    young = {"PROP_CONSUMER_START_TIMESTAMP": str(NOW - 1000)}
    owners = explain_group(make_facts(make_client("c1", make_queue(Q0), properties=young)))
    assert list_cause_ids(owners, "unknown") == ["owners"]


@pytest.mark.parametrize(
    ("clients", "topic", "shares"),
    [
        ([BOTH], None, "2 queues"),
        ([make_client("c1", make_queue(Q0)), make_client("c2", make_queue(Q1))], None,
         "2 queues; queues per client: c1 1, c2 1"),
        ([make_client("c1", make_queue(Q0), make_queue(Q1), make_queue(Q0._replace(topic="%RETRY%G")))], None,
         "2 queues"),
    ],
)  # fmt: skip
def test_how_the_queues_are_shared(clients: list[RunningClient], topic: str | None, shares: str) -> None:
    [owners] = [e for e in explain_group(make_facts(*clients, topic=topic)) if e.cause_id == "owners"]
    assert owners.finding == ok_finding(f"each queue of T has one owner ({shares})")


RETRIES = make_queue(Q0._replace(topic="%RETRY%G"))


@pytest.mark.parametrize(
    ("clients", "evidence", "command"),
    [
        ([make_client("c1", make_queue(Q0)), make_client("c2", make_queue(Q1)), make_client("c3", RETRIES)],
         "c3 has no queue: T has 2 queues for 3 clients", "updateTopic T -c C -r 3 -w 3"),
        ([BOTH, *(make_client(f"i{number}") for number in range(8))],
         "i0, i1, i2, i3 and 4 more have no queue: T has 2 queues for 9 clients",
         "updateTopic T -c C -r 9 -w 9"),
        ([BOTH, make_client("c2", RETRIES)],
         "c2 has no queue: T has 2 queues for 2 clients", "consumerStatus G"),
    ],
)  # fmt: skip
def test_a_client_with_retry_queues_only_has_no_work(
    clients: list[RunningClient], evidence: str, command: str
) -> None:
    [owners] = [e for e in explain_group(make_facts(*clients)) if e.cause_id == "owners"]
    advice = owners.finding.advice
    assert (owners.finding.result, owners.finding.evidence) == ("warning", evidence)
    assert advice is not None
    assert advice.shell_command == f"nsadmin {command}"


def test_an_unknown_group_is_the_only_cause() -> None:
    steps = explain_group(make_facts(routes={}, stats=(), cluster=make_cluster(group_tables=OTHER_GROUPS)))
    assert list_cause_ids(steps) == ["groupMissing"]
    [finding] = [s.finding for s in steps if s.cause_id == "noClient"]
    assert (finding.result, finding.evidence) == ("skipped", "no broker has the group")


@pytest.mark.parametrize(
    ("enabled_on_d", "commands"),
    [
        (False, ["nsadmin updateSubGroup G -c C,D -s true"]),
        (True, ["nsadmin updateSubGroup G -c C -s true"]),
    ],
)
def test_clusters_that_refuse_the_group_need_one_command(enabled_on_d: bool, commands: list[str]) -> None:
    groups = tuple(BrokerAddrGroup(c, b, {0: f"{b}:1"}) for c, b in (("C", "a"), ("C", "b"), ("D", "d")))
    tables = {
        g.master_addr: ServerResult(
            g.master_addr, {"G": {"consumeEnable": g.broker_name == "d" and enabled_on_d}}, None
        )
        for g in groups
        if g.master_addr
    }
    cluster = make_cluster(
        broker_groups=groups,
        reader_addrs={g.broker_name: g.master_addr for g in groups},
        configs={addr: ServerResult(addr, SETTINGS, None) for addr in tables},
        group_tables=tables,
    )
    findings = [
        s.finding
        for s in explain_group(make_facts(BOTH, cluster=cluster, routes={}))
        if s.cause_id == "groupDisabled"
    ]
    assert [f.advice.shell_command for f in findings if f.advice] == commands
    clusters = "C" if enabled_on_d else "C, D"
    assert findings[0].evidence == f"every broker of {clusters} refuses the group: consumeEnable=false"


def test_a_group_without_topics_is_missing_only_in_clusters_that_have_it() -> None:
    groups = (*GROUPS, BrokerAddrGroup("D", "d", {0: SLAVE}))
    tables = {
        MASTER: ServerResult(MASTER, {"G": {"consumeEnable": True}}, None),
        SLAVE: ServerResult(SLAVE, dict[str, GroupConfigFields](), None),
    }
    readers = {"a": MASTER, "d": SLAVE}
    cluster = make_cluster(broker_groups=groups, reader_addrs=readers, group_tables=tables)
    steps = explain_group(make_facts(cluster=cluster, routes={}, stats=()))
    assert list_cause_ids(steps) == ["noClient"]


def test_servers_that_did_not_tell_their_clients_may_have_some() -> None:
    facts = make_facts()
    facts = facts._replace(connections=facts.connections._replace(errors={MASTER: None, SLAVE: SILENT}))
    [finding] = [s.finding for s in explain_group(facts) if s.cause_id == "noClient"]
    assert (finding.result, finding.evidence) == (
        "unknown",
        "no client of the group is connected. These servers did not tell whether they have clients: "
        f"{SLAVE}: connection refused",
    )


def test_messages_wait_for_a_client_while_none_is_connected() -> None:
    steps = {s.cause_id: s.finding for s in explain_group(make_facts(ends=(12, 10), tps=0))}
    assert steps["noClient"].evidence == "no client of the group is connected; waiting messages: 2"
    assert (steps["lag"].result, steps["lag"].evidence) == (
        "skipped",
        "messages wait until a client is connected: see the step noClient",
    )


def test_a_broker_that_creates_the_group_waits_for_a_client() -> None:
    groups = (*GROUPS, BrokerAddrGroup("C", "b", {0: SLAVE}))
    tables = {
        MASTER: ServerResult(MASTER, {"G": {"consumeEnable": True}}, None),
        SLAVE: ServerResult(SLAVE, dict[str, GroupConfigFields](), None),
    }
    configs = {addr: ServerResult(addr, CREATES, None) for addr in (MASTER, SLAVE)}
    readers = {"a": MASTER, "b": SLAVE}
    cluster = make_cluster(broker_groups=groups, reader_addrs=readers, group_tables=tables, configs=configs)
    steps = explain_group(make_facts(cluster=cluster, routes={}, stats=()))
    [finding] = [s.finding for s in steps if s.cause_id == "groupMissing"]
    assert (finding.result, finding.evidence) == (
        "warning",
        "b does not have the group; a broker creates it when a client connects",
    )


def make_three_brokers(
    table: dict[str, GroupConfigFields], *clients: RunningClient, modes: Any = None, **more: Any
) -> GroupFacts:
    """Facts about three brokers with this table of groups and with queues of T."""
    addrs = {"a": MASTER, "b": SLAVE, "c": "c:1"}
    facts = make_cluster(
        broker_groups=tuple(BrokerAddrGroup("C", name, {0: addr}) for name, addr in addrs.items()),
        configs={addr: ServerResult(addr, SETTINGS, None) for addr in addrs.values()},
        reader_addrs=addrs,
        group_tables={addr: ServerResult(addr, table, None) for addr in addrs.values()},
        modes=modes or {},
    )
    queues = tuple(QueueRoute(name, "C", {0: addr}, 6, 2, 2, 0) for name, addr in addrs.items())
    return make_facts(
        *clients, cluster=facts, routes={"T": ServerResult("", TopicRoute(queues, None), None)}, **more
    )


def test_brokers_without_the_group_are_one_cause_with_one_command() -> None:
    """That no client consumes their queues is only a consequence."""
    steps = explain_group(make_three_brokers({}, make_client("c1")))
    assert list_cause_ids(steps) == ["groupMissing"]
    assert describe_verdict(steps, "")[:2] == [
        "cause found: groupMissing (a, b, c do not have the group; a broker creates none with "
        "autoCreateSubscriptionGroup=false)",
        f"next: nsadmin updateSubGroup G -b {MASTER},{SLAVE},c:1",
    ]


def test_a_paused_group_has_no_advice_about_its_lag() -> None:
    steps = explain_group(make_three_brokers({"G": {"consumeEnable": False}}, BOTH, ends=(900, 10)))
    lag = {s.cause_id: s.finding for s in steps}["lag"]
    assert (lag.result, lag.advice) == ("skipped", None)
    assert lag.evidence == "waiting messages: 890; the group is paused: see the step groupDisabled"
    assert "suspended" not in list_cause_ids(steps)


def test_brokers_where_the_group_pulls_get_one_command() -> None:
    pops = ServerResult(MASTER, (AssignedMode("T", "G", ConsumeMode("POP", 0)),), None)
    steps = explain_group(make_three_brokers({"G": {}}, BOTH, modes={MASTER: pops}))
    commands = [str(s.finding.advice) for s in steps if s.cause_id == "consumeMode"]
    assert commands == [f"nsadmin setConsumeMode T G POP -b {SLAVE},c:1"]


@pytest.mark.parametrize(
    ("cluster", "reason", "unknown"),
    [
        (
            ClusterFacts(NOW, (), {}, {}),
            "no broker is registered",
            "no broker is registered, so the clients of the group are unknown",
        ),
        (
            make_cluster(
                configs={a: ServerResult(a, None, SILENT) for a in (MASTER, SLAVE)}, group_tables={}
            ),
            "no broker answered",
            "no client of the group is connected. These servers did not tell whether they have clients: "
            f"{MASTER}: connection refused",
        ),
    ],
)
def test_without_an_answer_of_a_broker_nothing_is_ok(
    cluster: ClusterFacts, reason: str, unknown: str
) -> None:
    facts = make_facts(cluster=cluster, routes={}, stats=())
    facts = facts._replace(connections=facts.connections._replace(errors={MASTER: SILENT}))
    steps = explain_group(facts)
    findings = {s.cause_id: s.finding for s in steps}
    assert (findings["noClient"].result, findings["noClient"].evidence) == ("unknown", unknown)
    assert {f.evidence for f in findings.values() if f.result == "skipped"} == {reason}
    assert "ok" not in {f.result for f in findings.values()}
    assert reach_verdict(steps) == "unknown"
