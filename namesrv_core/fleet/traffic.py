"""What a broker says of its traffic: a pure function of (seed, boot, now), so that every figure agrees.

Counters are the closed integral of a rate that breathes with the day and flickers within minutes; a TPS is
the difference of two of them, as it is in a real broker.
"""

import math
import random
from datetime import timedelta

from namesrv_core.protocol.fastjson import java_double

_DAY = 86_400_000
_WAVES = ((_DAY, 0.35), (613_000, 0.1), (47_000, 0.06))
_WINDOWS = (10_000, 60_000, 600_000)
_RETENTION = 72 * 3_600_000
_CLEANED_AT = 4 * 3_600_000
_FILE = 1024**3
_CAPACITY = 500 * 1024**3
_BATCH = 4
_LATENCIES = (
    ("<=0ms", 0.71), ("0~10ms", 0.284), ("10~50ms", 0.0051), ("50~100ms", 0.0006), ("100~200ms", 0.0002),
    ("200~500ms", 0.0001), ("500ms~1s", 0), ("1~2s", 0), ("2~3s", 0), ("3~4s", 0), ("4~5s", 0), ("5~10s", 0),
    ("10s~", 0),
)  # fmt: skip
_CAPACITIES = {
    "sendThreadPoolQueue": 10_000, "pullThreadPoolQueue": 100_000, "litePullThreadPoolQueue": 100_000,
    "queryThreadPoolQueue": 20_000, "ackThreadPoolQueue": 100_000,
}  # fmt: skip


class Traffic:
    """Times are in ms, `load` multiplies what is usual.

    A slave of the same seed stores what its master stores, and nobody sends to it.
    """

    def __init__(self, seed: int, boot: int, *, is_master: bool = True, load: float = 1) -> None:
        chance = random.Random(f"traffic {seed}")
        self.boot = self._since = boot
        self._is_master = is_master
        self._tps = math.exp(chance.uniform(math.log(20), math.log(600))) * load
        self.message_size = chance.randrange(300, 2000)
        self._readers = chance.uniform(0.9, 2.4)
        self._waves = [(period, swing, chance.uniform(0, math.tau)) for period, swing in _WAVES]
        self._pauses: list[tuple[int, int | None]] = []

    def pause(self, now: int) -> None:
        """From now on nobody writes."""
        if not self.is_paused:
            self._pauses.append((now, None))

    def resume(self, now: int) -> None:
        """From now on they do again."""
        if self.is_paused:
            self._pauses[-1] = (self._pauses[-1][0], now)

    def follow(self, master: "Traffic") -> None:
        """From now on store what this one stores, to the message."""
        self._since, self._pauses = master._since, master._pauses

    @property
    def is_paused(self) -> bool:
        """Whether nobody writes now."""
        return bool(self._pauses) and self._pauses[-1][1] is None

    def _stored(self, at: int) -> int:
        """Messages stored from boot to `at`."""
        if at <= self._since:
            return 0
        paused = sum(
            self._area(at if end is None else min(end, at)) - self._area(begin)
            for begin, end in self._pauses
            if begin < at
        )
        return int(self._area(at) - self._area(self._since) - paused)

    def _area(self, at: int) -> float:
        swings = (
            swing * period / math.tau * math.cos(math.tau * (at % period) / period + phase)
            for period, swing, phase in self._waves
        )
        return self._tps / 1000 * (at - sum(swings))

    def stored(self, at: int) -> int:
        """Messages stored so far, on a slave too."""
        return self._stored(at)

    def deleted(self, at: int) -> int:
        """Those of them whose files are gone."""
        return self._stored(self._earliest(at))

    def stored_time(self, number: int, now: int) -> int:
        """When the message of that number, counted from 0, was stored; `now` for one that is to come."""
        low, high = self.boot, now
        while low < high:
            middle = (low + high) // 2
            if self._stored(middle) > number:
                high = middle
            else:
                low = middle + 1
        return low

    def stored_bytes(self, at: int) -> int:
        """The end of the commit log."""
        return self._stored(at) * self.message_size

    def bytes_per_second(self, now: int) -> int:
        """By which it grows."""
        return (self.stored_bytes(now) - self.stored_bytes(now - 10_000)) // 10

    def put_total(self, at: int) -> int:
        return self._stored(at) if self._is_master else 0

    def get_total(self, at: int) -> int:
        """Messages handed to consumers, a second after they came."""
        return int(self.put_total(at - 1000) * self._readers)

    def _triple(self, total: float, now: int) -> str:
        """ "10 s 1 min 10 min" of a counter that is `total` times the stored messages."""
        return " ".join(
            java_double((self._stored(now) - self._stored(now - window)) * total * 1000 / window)
            if now - window >= self.boot
            else ""
            for window in _WINDOWS
        )

    def runtime_info(self, now: int) -> dict[str, str]:
        """The table of GET_BROKER_RUNTIME_INFO, with a 5.5.0 broker's keys."""
        return {
            **self._rates(now),
            **self._totals(now),
            **self._disk(now),
            **_queues(),
            **self._life(now),
            **self._schedule(now),
        }

    def _rates(self, now: int) -> dict[str, str]:
        put = 1.0 if self._is_master else 0.0
        found = put * self._readers / _BATCH
        return {
            "putTps": self._triple(put, now),
            "getTransferredTps": self._triple(put * self._readers, now),
            "getFoundTps": self._triple(found, now),
            "getMissTps": self._triple(found / 7, now),
            "getTotalTps": self._triple(found * 8 / 7, now),
        }

    def _totals(self, now: int) -> dict[str, str]:
        morning = now - now % _DAY
        puts = self.put_total(now)
        spread = " ".join(f"[{bound}]:{int(share * self._tps * 60)}" for bound, share in _LATENCIES)
        return {
            "msgPutTotalYesterdayMorning": str(self.put_total(morning - _DAY)),
            "msgPutTotalTodayMorning": str(self.put_total(morning)),
            "msgPutTotalTodayNow": str(puts),
            "msgGetTotalYesterdayMorning": str(self.get_total(morning - _DAY)),
            "msgGetTotalTodayMorning": str(self.get_total(morning)),
            "msgGetTotalTodayNow": str(self.get_total(now)),
            "putMessageTimesTotal": str(max(puts, 1)),
            "putMessageFailedTimes": "0",
            "putMessageSizeTotal": str(puts * self.message_size),
            "putMessageAverageSize": java_double(self.message_size if puts else 0.0),
            "putMessageEntireTimeMax": "187" if puts else "0",
            "putMessageDistributeTime": f"{spread} " if puts else "null",
            "putLatency99": "1.84" if puts else "0.00",
            "putLatency999": "7.02" if puts else "0.00",
            "getMessageEntireTimeMax": "41" if puts else "0",
        }

    def _earliest(self, now: int) -> int:
        """Files are deleted at 4 o'clock when all in them is 72 h old: the oldest that is left began then."""
        cleaned = (now - _CLEANED_AT) // _DAY * _DAY + _CLEANED_AT
        hours_in_file = _FILE / (self._tps * self.message_size * 3600)
        return max(self.boot, cleaned - _RETENTION - int(hours_in_file * 1_800_000))

    def _disk(self, now: int) -> dict[str, str]:
        stored = self.stored_bytes(now)
        earliest = self._earliest(now)
        dropped = self._stored(earliest) * self.message_size // _FILE * _FILE
        used = 0.08 + (stored - dropped) / _CAPACITY
        ratio = java_double(min(round(used, 2), 0.75))
        free = max(1 - used, 0.25) * _CAPACITY / 1024**3
        return {
            "commitLogMinOffset": str(dropped),
            "commitLogMaxOffset": str(stored),
            "commitLogDiskRatio": ratio,
            "consumeQueueDiskRatio": ratio,
            "commitLogDirCapacity": f"Total : {_CAPACITY / 1024**3:.1f} GiB, Free : {free:.1f} GiB.",
            "earliestMessageTimeStamp": str(earliest if stored else -1),
            "remainHowManyDataToFlush": f"{self._tps * self.message_size / 2048:.1f} KiB",
            "dispatchBehindBytes": "0",
            "dispatchMaxBuffer": "0",
            "remainTransientStoreBufferNumbs": "2147483647",
            "pageCacheLockTimeMills": "0",
        }

    def _life(self, now: int) -> dict[str, str]:
        lived = timedelta(milliseconds=max(now - self.boot, 0))
        minutes, seconds = divmod(lived.seconds, 60)
        hours, minutes = divmod(minutes, 60)
        return {
            "bootTimestamp": str(self.boot),
            "runtime": f"[ {lived.days} days, {hours} hours, {minutes} minutes, {seconds} seconds ]",
            "brokerActive": str(self._is_master).lower(),
            "brokerVersionDesc": "V5_5_0",
            "startAcceptSendRequestTimeStamp": "0",
        }

    def _schedule(self, now: int) -> dict[str, str]:
        delayed = self._stored(now) // 400
        levels = {level: delayed // level for level in (1, 3, 9)}
        return {
            **{f"scheduleMessageOffset_{level}": f"{done},{done}" for level, done in levels.items()},
            "timerReadBehind": "0",
            "timerOffsetBehind": "0",
            "timerCongestNum": "0",
            "timerEnqueueTps": "0.0",
            "timerDequeueTps": "0.0",
        }


def _queues() -> dict[str, str]:
    table = {"EndTransactionQueueSize": "0", "EndTransactionThreadPoolQueueCapacity": "100000"}
    for name, capacity in _CAPACITIES.items():
        table |= {f"{name}Size": "0", f"{name}Capacity": str(capacity), f"{name}HeadWaitTimeMills": "0"}
    return table
