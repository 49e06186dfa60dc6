"""BrokerTraffic, the traffic figures of a broker: a pure function of (seed, boot, now), so all figures agree.

A counter is the closed integral of a rate that varies over the day and within minutes. A TPS is the
difference of two counters, as in a real broker.
"""

import math
import random
from datetime import timedelta

from namesrv_core.protocol.fastjson import format_java_double

_DAY_MS = 86_400_000
_RATE_WAVES = ((_DAY_MS, 0.35), (613_000, 0.1), (47_000, 0.06))
_TPS_WINDOWS_MS = (10_000, 60_000, 600_000)
_RETENTION_MS = 72 * 3_600_000
_CLEANUP_TIME_OF_DAY_MS = 4 * 3_600_000
_LOG_FILE_BYTES = 1024**3
_DISK_CAPACITY_BYTES = 500 * 1024**3
_MESSAGES_PER_GET = 4
_PUT_LATENCY_SHARES = (
    ("<=0ms", 0.71), ("0~10ms", 0.284), ("10~50ms", 0.0051), ("50~100ms", 0.0006), ("100~200ms", 0.0002),
    ("200~500ms", 0.0001), ("500ms~1s", 0), ("1~2s", 0), ("2~3s", 0), ("3~4s", 0), ("4~5s", 0), ("5~10s", 0),
    ("10s~", 0),
)  # fmt: skip
_THREAD_POOL_CAPACITIES = {
    "sendThreadPoolQueue": 10_000, "pullThreadPoolQueue": 100_000, "litePullThreadPoolQueue": 100_000,
    "queryThreadPoolQueue": 20_000, "ackThreadPoolQueue": 100_000,
}  # fmt: skip


class BrokerTraffic:
    """The traffic of one broker. Times are in ms; `load` multiplies the usual traffic.

    A slave with the same seed stores the messages of its master, and no client sends to it.
    """

    def __init__(
        self, traffic_seed: int, booted_at_ms: int, *, is_master: bool = True, traffic_factor: float = 1
    ) -> None:
        rng = random.Random(f"traffic {traffic_seed}")
        self.booted_at_ms = self._stores_since_ms = booted_at_ms
        self._is_master = is_master
        self._mean_tps = math.exp(rng.uniform(math.log(20), math.log(600))) * traffic_factor
        self.message_size = rng.randrange(300, 2000)
        self._reader_factor = rng.uniform(0.9, 2.4)
        self._rate_waves = [(p, a, rng.uniform(0, math.tau)) for p, a in _RATE_WAVES]
        self._write_pauses: list[tuple[int, int | None]] = []

    def restart(self, now_ms: int) -> None:
        """Boot again, with the stored messages. Counters begin at 0."""
        self.booted_at_ms = now_ms

    def pause_writes(self, now_ms: int) -> None:
        if not self.is_paused:
            self._write_pauses.append((now_ms, None))

    def resume_writes(self, now_ms: int) -> None:
        if self.is_paused:
            self._write_pauses[-1] = (self._write_pauses[-1][0], now_ms)

    def follow_master(self, traffic: "BrokerTraffic") -> None:
        """Store exactly the messages of this master from now on."""
        self._stores_since_ms, self._write_pauses = traffic._stores_since_ms, traffic._write_pauses

    @property
    def is_paused(self) -> bool:
        return bool(self._write_pauses) and self._write_pauses[-1][1] is None

    def newest_stored_ms(self, now_ms: int) -> int:
        """The store time of the newest message."""
        return self._write_pauses[-1][0] if self.is_paused else now_ms - 10

    def stored_count(self, time_ms: int) -> int:
        """The number of messages stored so far, also on a slave."""
        if time_ms <= self._stores_since_ms:
            return 0
        paused = sum(
            self._integrate_rate(time_ms if pause_end_ms is None else min(pause_end_ms, time_ms))
            - self._integrate_rate(pause_begin_ms)
            for pause_begin_ms, pause_end_ms in self._write_pauses
            if pause_begin_ms < time_ms
        )
        return int(self._integrate_rate(time_ms) - self._integrate_rate(self._stores_since_ms) - paused)

    def _integrate_rate(self, time_ms: int) -> float:
        terms = (
            amplitude * period_ms / math.tau * math.cos(math.tau * (time_ms % period_ms) / period_ms + phase)
            for period_ms, amplitude, phase in self._rate_waves
        )
        return self._mean_tps / 1000 * (time_ms - sum(terms))

    def deleted_count(self, time_ms: int) -> int:
        """The number of stored messages whose files have been deleted."""
        return self.stored_count(self._earliest_message_ms(time_ms))

    def stored_time_ms(self, number: int, now_ms: int) -> int:
        """The store time of a message by its number, counted from 0; `now` for a future message."""
        low_ms, high_ms = self._stores_since_ms, now_ms
        while low_ms < high_ms:
            middle_ms = (low_ms + high_ms) // 2
            if self.stored_count(middle_ms) > number:
                high_ms = middle_ms
            else:
                low_ms = middle_ms + 1
        return low_ms

    def stored_bytes(self, time_ms: int) -> int:
        """The end of the commit log."""
        return self.stored_count(time_ms) * self.message_size

    def bytes_per_second(self, now_ms: int) -> int:
        return (self.stored_bytes(now_ms) - self.stored_bytes(now_ms - 10_000)) // 10

    def put_total(self, time_ms: int) -> int:
        """The number of messages received since the broker booted."""
        if not self._is_master or time_ms <= self.booted_at_ms:
            return 0
        return self.stored_count(time_ms) - self.stored_count(self.booted_at_ms)

    def get_total(self, time_ms: int) -> int:
        """The number of messages delivered to consumers, one second after they were stored."""
        return int(self.put_total(time_ms - 1000) * self._reader_factor)

    def _three_window_rates(self, counter_factor: float, now_ms: int) -> str:
        """The rates over 10 s, 1 min and 10 min of a counter that is `total` times the stored messages."""
        return " ".join(
            format_java_double(
                (self.stored_count(now_ms) - self.stored_count(now_ms - w)) * counter_factor * 1000 / w
            )
            if now_ms - w >= self.booted_at_ms
            else ""
            for w in _TPS_WINDOWS_MS
        )

    def runtime_info(self, now_ms: int) -> dict[str, str]:
        """The table of GET_BROKER_RUNTIME_INFO, with the keys of a 5.5.0 broker."""
        return {
            **self._rate_figures(now_ms),
            **self._total_figures(now_ms),
            **self._disk_figures(now_ms),
            **_thread_pool_figures(),
            **self._uptime_figures(now_ms),
            **self._schedule_figures(now_ms),
        }

    def _rate_figures(self, now_ms: int) -> dict[str, str]:
        put_factor = 1.0 if self._is_master else 0.0
        found_factor = put_factor * self._reader_factor / _MESSAGES_PER_GET
        return {
            "putTps": self._three_window_rates(put_factor, now_ms),
            "getTransferredTps": self._three_window_rates(put_factor * self._reader_factor, now_ms),
            "getFoundTps": self._three_window_rates(found_factor, now_ms),
            "getMissTps": self._three_window_rates(found_factor / 7, now_ms),
            "getTotalTps": self._three_window_rates(found_factor * 8 / 7, now_ms),
        }

    def _total_figures(self, now_ms: int) -> dict[str, str]:
        midnight_ms = now_ms - now_ms % _DAY_MS
        put_total = self.put_total(now_ms)
        counts = " ".join(f"[{b}]:{int(s * self._mean_tps * 60)}" for b, s in _PUT_LATENCY_SHARES)
        return {
            "msgPutTotalYesterdayMorning": str(self.put_total(midnight_ms - _DAY_MS)),
            "msgPutTotalTodayMorning": str(self.put_total(midnight_ms)),
            "msgPutTotalTodayNow": str(put_total),
            "msgGetTotalYesterdayMorning": str(self.get_total(midnight_ms - _DAY_MS)),
            "msgGetTotalTodayMorning": str(self.get_total(midnight_ms)),
            "msgGetTotalTodayNow": str(self.get_total(now_ms)),
            "putMessageTimesTotal": str(max(put_total, 1)),
            "putMessageFailedTimes": "0",
            "putMessageSizeTotal": str(put_total * self.message_size),
            "putMessageAverageSize": format_java_double(self.message_size if put_total else 0.0),
            "putMessageEntireTimeMax": "187" if put_total else "0",
            "putMessageDistributeTime": f"{counts} " if put_total else "null",
            "putLatency99": "1.84" if put_total else "0.00",
            "putLatency999": "7.02" if put_total else "0.00",
            "getMessageEntireTimeMax": "41" if put_total else "0",
        }

    def _earliest_message_ms(self, now_ms: int) -> int:
        """The time of the oldest message. At 4 o'clock files are deleted whose messages are all 72 h old."""
        last_cleanup_ms = (now_ms - _CLEANUP_TIME_OF_DAY_MS) // _DAY_MS * _DAY_MS + _CLEANUP_TIME_OF_DAY_MS
        hours_in_file = _LOG_FILE_BYTES / (self._mean_tps * self.message_size * 3600)
        return max(self._stores_since_ms, last_cleanup_ms - _RETENTION_MS - int(hours_in_file * 1_800_000))

    def _disk_figures(self, now_ms: int) -> dict[str, str]:
        stored = self.stored_bytes(now_ms)
        earliest_ms = self._earliest_message_ms(now_ms)
        dropped_bytes = (
            self.stored_count(earliest_ms) * self.message_size // _LOG_FILE_BYTES * _LOG_FILE_BYTES
        )
        used_share = 0.08 + (stored - dropped_bytes) / _DISK_CAPACITY_BYTES
        ratio = format_java_double(min(round(used_share, 2), 0.75))
        free_gib = max(1 - used_share, 0.25) * _DISK_CAPACITY_BYTES / 1024**3
        return {
            "commitLogMinOffset": str(dropped_bytes),
            "commitLogMaxOffset": str(stored),
            "commitLogDiskRatio": ratio,
            "consumeQueueDiskRatio": ratio,
            "commitLogDirCapacity": f"Total : {_DISK_CAPACITY_BYTES / 1024**3:.1f} GiB, Free : "
            f"{free_gib:.1f} GiB.",
            "earliestMessageTimeStamp": str(earliest_ms if stored else -1),
            "remainHowManyDataToFlush": f"{self._mean_tps * self.message_size / 2048:.1f} KiB",
            "dispatchBehindBytes": "0",
            "dispatchMaxBuffer": "0",
            "remainTransientStoreBufferNumbs": "2147483647",
            "pageCacheLockTimeMills": "0",
        }

    def _uptime_figures(self, now_ms: int) -> dict[str, str]:
        uptime = timedelta(milliseconds=max(now_ms - self.booted_at_ms, 0))
        minutes, seconds = divmod(uptime.seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return {
            "bootTimestamp": str(self.booted_at_ms),
            "runtime": f"[ {uptime.days} days, {hours} hours, {minutes} minutes, {seconds} seconds ]",
            "brokerActive": str(self._is_master).lower(),
            "brokerVersionDesc": "V5_5_0",
            "startAcceptSendRequestTimeStamp": "0",
        }

    def _schedule_figures(self, now_ms: int) -> dict[str, str]:
        delayed_count = self.stored_count(now_ms) // 400
        counts = {level: delayed_count // level for level in (1, 3, 9)}
        return {
            **{f"scheduleMessageOffset_{n}": f"{d},{d}" for n, d in counts.items()},
            "timerReadBehind": "0",
            "timerOffsetBehind": "0",
            "timerCongestNum": "0",
            "timerEnqueueTps": "0.0",
            "timerDequeueTps": "0.0",
        }


def _thread_pool_figures() -> dict[str, str]:
    figures = {"EndTransactionQueueSize": "0", "EndTransactionThreadPoolQueueCapacity": "100000"}
    for pool_name, capacity in _THREAD_POOL_CAPACITIES.items():
        figures |= {
            f"{pool_name}Size": "0",
            f"{pool_name}Capacity": str(capacity),
            f"{pool_name}HeadWaitTimeMills": "0",
        }
    return figures
