"""Checks that brokers deliver timed and delayed messages in time."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.delayed_messages import (
    DEFAULT_DELAY_LEVELS,
    LEVEL_TOPIC,
    TIMER_TOPIC,
    parse_delay_levels,
)
from nsadmin.client.messages.queue_reader import MessagePlace
from nsadmin.client.results import error_text
from nsadmin.console.phrases import count_noun
from nsadmin.operations.checks import listed_brokers
from nsadmin.operations.checks.check import Check, CheckScale, CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckMeasure, list_failures
from nsadmin.operations.checks.listed_brokers import BrokerListing

_MAX_SHOWN = 10


class WaitingPlace(NamedTuple):
    """The first message of a broker's queue that it has not handled, and by when it should have.

    `due_after_ms` is the time from its storage to its delivery; 0 for a message that only has to be sorted
    into the timer wheel. `level` is None for that. `message_count` messages wait in the queue.
    """

    broker_name: str
    place: MessagePlace
    level: int | None
    due_after_ms: int
    message_count: int


class TimerObservation(NamedTuple):
    """The runtime figures of masters, and the store time of the first waiting message of each queue."""

    listing: BrokerListing
    runtime_results: Sequence[ServerResult[RuntimeInfo]]
    waiting: Sequence[tuple[WaitingPlace, ServerResult[int | None]]]
    now_ms: int
    config_failures: Sequence[str] = ()


def observe(admin: AdminClient, scope: CheckScope) -> TimerObservation:
    listing = listed_brokers.observe_listing(admin, scope.cluster_name, scope.inventory)
    names = {addr: name for name, addr in listing.master_addrs.items()}
    results = admin.brokers.get_runtime_info(sorted(names))
    infos = {addr: info for addr, info, _ in results if info is not None}
    configs = admin.broker_configs.get_each(list(infos))
    durations = {
        addr: parse_delay_levels((config or {}).get("messageDelayLevel") or DEFAULT_DELAY_LEVELS)
        for addr, config, _ in configs
    }
    waiting = [
        WaitingPlace(
            names[addr],
            MessagePlace(addr, queue, offset),
            queue.queue_id + 1,
            durations[addr][queue.queue_id],
            end - offset,
        )
        for addr, queue, offset, end in _list_levels(admin, names, infos, durations)
        if offset < end
    ]
    behind = {addr: count for addr, info in infos.items() if (count := info.get_integer("timerOffsetBehind"))}
    timer_queues = [(addr, MessageQueue(TIMER_TOPIC, names[addr], 0)) for addr in behind]
    for (addr, queue), end in zip(
        timer_queues, admin.queue_progress.get_end_offsets(timer_queues), strict=True
    ):
        if isinstance(end, int):
            place = MessagePlace(addr, queue, max(end - behind[addr], 0))
            waiting.append(WaitingPlace(names[addr], place, None, 0, behind[addr]))
    store_times = admin.queue_reader.get_store_times([w.place for w in waiting], in_own_queues=True)
    return TimerObservation(
        listing,
        results,
        list(zip(waiting, store_times, strict=True)),
        admin.clock_ms,
        list_failures(configs, names),
    )


def _list_levels(
    admin: AdminClient,
    names: Mapping[str, str],
    infos: Mapping[str, RuntimeInfo],
    durations: Mapping[str, Sequence[int]],
) -> Iterator[tuple[str, MessageQueue, int, int]]:
    """Yield the queue of each delay level, with the offset of the next message and the end.

    A broker does not report a level of which it has not delivered a message since it has a store.
    """
    unreported = []
    for addr, info in infos.items():
        for level_index in range(len(durations[addr])):
            queue = MessageQueue(LEVEL_TOPIC, names[addr], level_index)
            offset, _, end = info.table.get(f"scheduleMessageOffset_{level_index + 1}", "").partition(",")
            if offset.isdecimal() and end.isdecimal():
                yield addr, queue, int(offset), int(end)
            else:
                unreported.append((addr, queue))
    for (addr, queue), end_offset in zip(
        unreported, admin.queue_progress.get_end_offsets(unreported), strict=True
    ):
        if isinstance(end_offset, int):
            yield addr, queue, 0, end_offset


def judge(scale: CheckScale, seen: TimerObservation) -> CheckFinding:
    """Judge the longest delay: of the timer wheel, of sorting into it, and of each delay level."""
    names = {addr: name for name, addr in seen.listing.master_addrs.items()}
    failures = [
        *list_failures(seen.runtime_results, names),
        *(f"{w.broker_name}: {error_text(error)}" for w, (_, _, error) in seen.waiting if error is not None),
        *seen.config_failures,
        *seen.listing.masterless_lines,
        *seen.listing.failure_lines,
    ]
    infos = {addr: info for addr, info, _ in seen.runtime_results if info is not None}
    if not infos:
        return scale.make_unknown_finding(
            seen.listing.explain_nothing("no master reported its timers"), failures
        )
    delays = {
        **{
            f"{names[addr]} delivers timed messages late": max(float(behind), 0)
            for addr, info in infos.items()
            if (behind := info.get_number("timerReadBehind")) is not None
        },
        **{
            _describe_queue(waiting): max(seen.now_ms - result.result - waiting.due_after_ms, 0) / 1000
            for waiting, result in seen.waiting
            if result.result is not None
        },
    }
    longest = max(delays.values(), default=0.0)
    pending = sum(info.get_integer("timerCongestNum") or 0 for info in infos.values())
    pending += sum(waiting.message_count for waiting, _ in seen.waiting)
    late = sorted((item for item in delays.items() if item[1] >= 1), key=lambda item: -item[1])
    return scale.make_finding(
        f"{count_noun(pending, 'message')} for later delivery on {count_noun(len(infos), 'master')}, "
        + (f"{longest:.0f} s late" if late else "none is late"),
        {
            "delay": round(longest, 1),
            "pending": pending,
            "unsorted": _read_numbers(names, infos, "timerOffsetBehind"),
            "readBehind": _read_numbers(names, infos, "timerReadBehind"),
        },
        [*(f"{text}: {delay:.0f} s" for text, delay in late[:_MAX_SHOWN])],
        doubts=failures,
    )


def _describe_queue(waiting: WaitingPlace) -> str:
    name, count = waiting.broker_name, waiting.message_count
    if waiting.level is None:
        return f"{name} has not sorted {count_noun(count, 'timed message')} into its timer wheel"
    return f"{name} delivers delay level {waiting.level} late, with {count_noun(count, 'message')}"


def _read_numbers(names: Mapping[str, str], infos: Mapping[str, RuntimeInfo], key: str) -> dict[str, float]:
    return {names[a]: number for a, i in infos.items() if (number := i.get_number(key)) is not None}


CHECK = Check(
    "timer",
    (
        CheckMeasure(
            "delay", "longest delay of messages for later delivery", "s", warning="60", critical="600"
        ),
        CheckMeasure("pending", "messages for later delivery, of timers and delay levels"),
        CheckMeasure(
            "unsorted",
            "timed messages that are not in the timer wheel (timerOffsetBehind)",
            label_name="broker",
        ),
        CheckMeasure("readBehind", "delay of the timer wheel (timerReadBehind)", "s", label_name="broker"),
    ),
    observe,
    judge,
    warning_when="a master delivers timed or delayed messages over a minute late",
    critical_when="over ten minutes late",
    remedy="nsadmin clusterList",
    takes_cluster=True,
    warning_help="Longest delay, in seconds. Default: 60.",
    critical_help="Longest delay, in seconds. Default: 600.",
    help="""Check whether brokers deliver timed messages, and messages with a delay level, in time.

    The delay is the longest of three: of the timer wheel, of messages that wait to be sorted into it, and of
    the first message of each delay level. Only 5.0 and later have timed messages. nsadmin compares the store
    times of brokers with its own clock.

    Examples:
        # Check all masters
        nsadmin check timer
        # Accept five minutes
        nsadmin check timer --warning 300
    """,
)
