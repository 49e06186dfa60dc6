"""Why a broker refuses messages ("system busy") or stores them slowly: all causes in their order. Pure."""

from collections.abc import Callable, Iterator
from functools import partial

from namesrv_core.errors import NotSupported
from namesrv_core.protocol.codes import Perm
from nsadmin.client.brokers.send_limits import LimitUse
from nsadmin.client.results import error_text
from nsadmin.console.phrases import abbreviate_names, count_noun, format_utc_second
from nsadmin.operations.explain.broker_facts import SHOWN_TOPICS, BrokerFacts
from nsadmin.operations.explain.findings import (
    Advice,
    CauseCheck,
    CauseFinding,
    FindingResult,
    join_names,
    ok_finding,
    skipped_finding,
)

_SLOW_PUT_MS = 100
_BEHIND_BYTES = 64 << 20


def _find(
    facts: BrokerFacts, result: FindingResult, evidence: str, advice: Advice | None = None
) -> Iterator[CauseFinding]:
    yield CauseFinding(result, evidence, advice, None, facts.target.broker_name, facts.addr)


def _change(facts: BrokerFacts, setting: str, value: object, risk: str) -> Advice:
    return Advice(risk, ("updateBrokerConfig", setting, str(value), "-b", facts.addr))


def _find_silence(facts: BrokerFacts) -> Iterator[CauseFinding]:
    if facts.is_silent and (error := facts.looks[0].error) is not None:
        yield from _find(
            facts, "cause", f"it does not answer: {error_text(error)}",
            Advice("check its process and the network", ("clusterList",)),
        )  # fmt: skip
    elif (error := facts.config_result.error) is not None:
        yield from _find(
            facts,
            "unknown",
            f"it did not tell its settings, so nsadmin assumes the defaults: {error_text(error)}",
        )


def _find_not_serving(facts: BrokerFacts) -> Iterator[CauseFinding]:
    permission = facts.setting("brokerPermission", 6)
    if not permission & Perm.WRITE:
        yield from _find(
            facts, "cause", f"brokerPermission is {permission}: it answers NO_PERMISSION (16)",
            _change(facts, "brokerPermission", permission | Perm.WRITE, "ask first: it may be drained"),
        )  # fmt: skip
    if facts.config.get("brokerRole") == "SLAVE" and facts.config.get("enableSlaveActingMaster") != "true":
        # Who knows only the address learns the name from the settings.
        name = facts.target.broker_name or facts.config.get("brokerName")
        yield from _find(
            facts, "skipped",
            "it is a slave: slaves take no messages from producers, and answer that they are busy",
            Advice("look at its master", ("broker", "explain", name)) if name else None,
        )  # fmt: skip
    accepts_from = facts.largest("startAcceptSendRequestTimeStamp")
    if accepts_from is not None and accepts_from > facts.now_ms:
        yield from _find(
            facts, "cause", f"it takes no messages until {format_utc_second(accepts_from)}",
            _change(facts, "startAcceptSendRequestTimeStamp", 0, "it takes messages at once"),
        )  # fmt: skip


def _find_full_disk(facts: BrokerFacts) -> Iterator[CauseFinding]:
    free_disk = Advice("free or enlarge the disk of storePathCommitLog; the broker looks every 10 s")
    raise_limit = _change(
        facts,
        "diskSpaceWarningLevelRatio",
        90,
        "free the disk. Until then, a higher limit lets the broker fill it further",
    )
    for text in facts.disks.refusals.values():
        yield from _find(
            facts,
            "cause",
            f"it {text}{facts.tell_since('diskSpaceWarningLevelRatio')}",
            raise_limit if facts.setting("diskSpaceWarningLevelRatio", 90) < 90 else free_disk,
        )
    for text in facts.disks.deletions.values():
        yield from _find(facts, "warning", f"it {text}", free_disk)
    for text in facts.disks.unknown.values():
        yield from _find(facts, "unknown", f"it {text}")


def _raise_limit(facts: BrokerFacts, use: LimitUse, risk: str) -> Advice:
    """Back to the default, or to twice a limit that is not lower."""
    value = int(use.default if use.limit < use.default else 2 * use.limit)
    return _change(facts, use.setting, value, risk)


def _find_busy_page_cache(facts: BrokerFacts, use: LimitUse) -> Iterator[CauseFinding]:
    if use.used < use.limit / 2:
        return
    yield from _find(
        facts, "cause" if use.is_reached else "warning",
        f"one write held the lock of the commit log for {use.used:.0f} ms, limit {use.limit:.0f} ms "
        f"({use.setting}){facts.tell_since(use.setting)}",
        _raise_limit(
            facts, use, "look for other load on its disk. With a higher limit, sends wait longer to fail"
        ),
    )  # fmt: skip


def _find_empty_pool(facts: BrokerFacts, use: LimitUse) -> Iterator[CauseFinding]:
    if not use.is_reached:
        return
    size = facts.setting("mappedFileSizeCommitLog", 1 << 30) >> 20
    yield from _find(
        facts, "cause", f"none of {use.limit:.0f} transient buffers is free ({use.setting})",
        _raise_limit(
            facts, use, f"run this, then restart the broker. Each buffer takes {size} MiB, and is lost with "
            "the process"
        ),
    )  # fmt: skip


def _find_missing_slaves(facts: BrokerFacts) -> Iterator[CauseFinding]:
    status, error = facts.ha_status.result, facts.ha_status.error
    if facts.config.get("brokerRole") != "SYNC_MASTER":
        return
    if error is not None and not isinstance(error, NotSupported):
        yield from _find(facts, "unknown", f"it did not tell its slaves: {error_text(error)}")
        return
    if status is None or status.in_sync_slave_nums is None:
        # Brokers of 4.x do not report their slaves.
        if facts.slave_count == 0:
            yield from _find(
                facts, "cause",
                "it is SYNC_MASTER without a slave: it stores a message and answers SLAVE_NOT_AVAILABLE (11)",
                _change(
                    facts, "brokerRole", "ASYNC_MASTER",
                    "better start a slave. Without one, stored messages are lost with this broker's disk",
                ),
            )  # fmt: skip
        elif facts.slave_count is None:
            yield from _find(facts, "unknown", "neither the broker nor a name server told its slaves")
        return
    copies = 1 + status.in_sync_slave_nums
    setting, wanted = "inSyncReplicas", facts.setting("inSyncReplicas", 1)
    answer = f"FLUSH_SLAVE_TIMEOUT (12) after {facts.setting('slaveTimeout', 3000)} ms"
    # CommitLog.asyncPutMessage. Without these modes, the broker stores a message before it counts the slaves.
    if facts.config.get("enableControllerMode") == "true":
        setting, wanted = "minInSyncReplicas", facts.setting("minInSyncReplicas", 1)
        answer = '"in-sync replicas not enough"'
    elif facts.config.get("enableSlaveActingMaster") == "true":
        answer = '"in-sync replicas not enough"'
        if facts.config.get("enableAutoInSyncReplicas") == "true":
            setting, least = "minInSyncReplicas", facts.setting("minInSyncReplicas", 1)
            wanted = max(min(wanted, copies), least)
    lag = max((link.diff or 0 for link in status.slaves), default=0)
    if wanted > copies:
        found = "no slave" if not status.slaves else f"a slave that is {lag} bytes behind"
        yield from _find(
            facts, "cause",
            f"it answers {answer}: {setting} is {wanted}, but in sync "
            f"{'is 1 copy' if copies == 1 else f'are {copies} copies'}, with {found}",
            _change(
                facts, setting, copies,
                "better start a slave, or let it catch up. Messages with fewer copies are lost with a disk",
            ),
        )  # fmt: skip
    elif lag > facts.setting("haMaxGapNotInSync", 256 << 20) and wanted > 1:
        yield from _find(
            facts, "warning",
            f"a slave is {lag} bytes behind: sends wait {facts.setting('slaveTimeout', 3000)} ms for it",
            Advice("see if it catches up", ("haStatus", "-b", facts.addr)),
        )  # fmt: skip


def _describe_slaves(facts: BrokerFacts) -> CauseFinding:
    role = facts.config.get("brokerRole")
    if role is None:
        return skipped_finding("its role is unknown")
    if role != "SYNC_MASTER":
        return skipped_finding(f"only a SYNC_MASTER waits for slaves, and it is {role}")
    return ok_finding("enough slaves are in sync")


def _find_slow_store(facts: BrokerFacts) -> Iterator[CauseFinding]:
    latency = facts.largest("putLatency99")
    if latency is not None and latency >= _SLOW_PUT_MS:
        flush = facts.config.get("flushDiskType", "unknown")
        yield from _find(
            facts, "warning",
            f"the slowest 1 % of messages take {latency:.0f} ms or more to store, with flushDiskType {flush}",
            Advice("look for other load on the disk of storePathCommitLog: run iostat on its machine"),
        )  # fmt: skip


def _find_full_queue(facts: BrokerFacts, use: LimitUse, noun: str) -> Iterator[CauseFinding]:
    if not (use.is_reached or use.is_low):
        return
    yield from _find(
        facts, "cause" if use.is_reached or facts.takes_messages else "warning",
        f"the queue of {noun} takes {use.limit:.0f} ({use.setting}, default {use.default:.0f}), and had "
        f"{use.used:.0f}{facts.tell_since(use.setting)}",
        _raise_limit(
            facts, use, "run this, then restart the broker, which makes the queue. More requests wait in "
            "memory"
        ),
    )  # fmt: skip


def _find_long_wait(facts: BrokerFacts, use: LimitUse) -> Iterator[CauseFinding]:
    if not (use.is_low or use.used >= use.limit / 2):
        return
    yield from _find(
        facts, "cause" if use.is_reached or (use.is_low and facts.takes_messages) else "warning",
        f"a send may wait for {use.limit:.0f} ms ({use.setting}, default {use.default:.0f}), and "
        f"waited for {use.used:.0f} ms{facts.tell_since(use.setting)}",
        _raise_limit(
            facts, use, "it needs no restart. Producers wait longer for an error: keep it below their "
            "sendMsgTimeout (3000 ms)"
        ),
    )  # fmt: skip


def _find_refused_kinds(facts: BrokerFacts) -> Iterator[CauseFinding]:
    if facts.config.get("timerWheelEnable") == "false":
        yield from _find(
            facts, "warning", "timerWheelEnable is false: it refuses timed messages",
            _change(
                facts, "timerWheelEnable", "true",
                "run this, then restart the broker, which makes the wheel. It delivers the timed messages "
                "that it has",
            ),
        )  # fmt: skip
    if facts.config.get("rejectTransactionMessage") == "true":
        yield from _find(
            facts, "warning", "rejectTransactionMessage is true: it refuses transactional messages",
            _change(facts, "rejectTransactionMessage", "false", "transactional messages are stored again"),
        )  # fmt: skip


def _find_cold_reads(facts: BrokerFacts) -> Iterator[CauseFinding]:
    behind = facts.largest("dispatchBehindBytes")
    if behind is not None and behind > _BEHIND_BYTES:
        yield from _find(
            facts,
            "warning",
            f"consumers do not see the last {behind:.0f} bytes yet: consume queues are behind",
        )
    cold = facts.cold_data.result
    if cold is not None and cold.reads_by_group:
        groups = sorted(cold.reads_by_group, key=lambda g: -cold.reads_by_group[g].read_bytes)
        yield from _find(
            facts, "warning", f"groups read old messages from the disk: {join_names(groups)}",
            Advice(f"see how far {groups[0]} is behind", ("consumerProgress", "-g", groups[0])),
        )  # fmt: skip


def _describe_cold_reads(facts: BrokerFacts) -> CauseFinding:
    if (error := facts.cold_data.error) is not None:
        return skipped_finding(f"the broker does not count reads of old messages: {error_text(error)}")
    if facts.config.get("coldDataFlowControlEnable") != "true":
        return skipped_finding(
            "the broker counts reads of old messages only with coldDataFlowControlEnable=true"
        )
    return ok_finding("no group reads old messages from the disk")


def _find_load(facts: BrokerFacts) -> Iterator[CauseFinding]:
    if not facts.is_silent and facts.topic_counts.error is not None:
        yield from _find(facts, "unknown", f"its topics are unknown: {error_text(facts.topic_counts.error)}")


def _describe_load(facts: BrokerFacts) -> CauseFinding:
    counts = facts.topic_counts.result or ()
    total = sum(count for _, count in counts)
    if not total:
        return ok_finding("no message was stored in the last minute")
    shares = [f"{topic} {100 * count / total:.0f} %" for topic, count in counts]
    text = f"messages of the last minute: {total}, {abbreviate_names(shares, SHOWN_TOPICS)}"
    if facts.uncounted_topics:
        text += f" ({count_noun(facts.uncounted_topics, 'topic')} not counted)"
    newest = sum(sender.message_count for sender in facts.senders)
    if newest:
        hosts = join_names(
            f"{sender.host} {100 * sender.message_count / newest:.0f} %"
            + (f" ({', '.join(sender.groups[:3])})" if sender.groups else "")
            for sender in facts.senders
        )
        of_these = "these topics" if len(counts) > 1 else "this topic"
        text += f"; senders of the newest messages of {of_these}: {hosts}"
    return ok_finding(text)


def _check_limit(
    id: str,
    setting: str,
    all_clear: str,
    find: Callable[[BrokerFacts, LimitUse], Iterator[CauseFinding]],
    switch: str | None = None,
) -> CauseCheck[BrokerFacts]:
    """The check of a limit, if the broker reports how much of it is used, and if its switch is on."""

    def find_problems(facts: BrokerFacts) -> Iterator[CauseFinding]:
        use = facts.largest_use(setting)
        return iter(()) if use is None else find(facts, use)

    def describe(facts: BrokerFacts) -> CauseFinding:
        if switch is not None and facts.config.get(switch) != "true":
            return skipped_finding(f"{switch} is not true")
        if not facts.is_silent and facts.largest_use(setting) is None:
            return CauseFinding("unknown", f"the broker does not report how much of {setting} it uses")
        return ok_finding(all_clear)

    return CauseCheck(id, describe, find_problems)


BROKER_CHECKS: tuple[CauseCheck[BrokerFacts], ...] = (
    CauseCheck("brokerSilent", "it answers", _find_silence, needs_servers=False),
    CauseCheck("notServing", "it takes messages", _find_not_serving),
    CauseCheck("diskFull", "its disk has room", _find_full_disk),
    _check_limit(
        "pageCacheBusy", "osPageCacheBusyTimeOutMills", "no write holds the commit log for long",
        _find_busy_page_cache,
    ),
    _check_limit(
        "transientPool", "transientStorePoolSize", "buffers are free", _find_empty_pool,
        switch="transientStorePoolEnable",
    ),
    CauseCheck("slavesBehind", _describe_slaves, _find_missing_slaves),
    CauseCheck(
        "storeSlow",
        lambda facts: (
            ok_finding("messages are stored quickly")
            if facts.largest("putLatency99") is not None
            else skipped_finding("the broker does not report putLatency99")
        ),
        _find_slow_store,
    ),
    _check_limit(
        "sendQueueFull", "sendThreadPoolQueueCapacity", "the send queue has room",
        partial(_find_full_queue, noun="sends"),
    ),
    _check_limit(
        "sendQueueWait", "waitTimeMillsInSendQueue", "sends do not wait for long", _find_long_wait
    ),
    _check_limit(
        "transactionQueueFull", "endTransactionPoolQueueCapacity",
        "the queue of commits and rollbacks has room",
        partial(_find_full_queue, noun="commits and rollbacks"),
    ),
    CauseCheck("quotas", "no setting refuses a kind of message", _find_refused_kinds),
    CauseCheck("coldReads", _describe_cold_reads, _find_cold_reads),
    CauseCheck("load", _describe_load, _find_load),
)  # fmt: skip
"""All checks in their order: an earlier cause can lead to later ones."""
