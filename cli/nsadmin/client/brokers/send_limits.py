"""The limits at which a broker refuses to store messages, and how much of them it uses."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.brokers.brokers import RuntimeInfo

_IDLE_LOCK_MS = 10_000_000
"""A broker reports a longer time while nobody holds the lock (DefaultMessageStore.isOSPageCacheBusy)."""
_NO_POOL = 2**31 - 1
"""The free buffers that a broker reports without a transient store pool."""
_LOW_LIMITS = {
    "waitTimeMillsInSendQueue": 50,
    "sendThreadPoolQueueCapacity": 100,
    "endTransactionPoolQueueCapacity": 1000,
}


class LimitUse(NamedTuple):
    """The use of a limit.

    Attributes:
        setting: The setting that is the limit.
        used: The present value, in the unit of the setting.
        limit: The value at which the broker refuses.
        default: The default of the setting.
    """

    setting: str
    used: float
    limit: float
    default: float

    @property
    def is_reached(self) -> bool:
        return self.used >= self.limit

    @property
    def is_low(self) -> bool:
        """Whether usual loads reach the limit, because it is far below its default."""
        return self.limit <= _LOW_LIMITS.get(self.setting, -1)

    @property
    def percent(self) -> float:
        return 100 * self.used / self.limit if self.limit else 100.0


_FIGURES = (
    ("waitTimeMillsInSendQueue", 200, "sendThreadPoolQueueHeadWaitTimeMills", ""),
    ("osPageCacheBusyTimeOutMills", 1000, "pageCacheLockTimeMills", ""),
    ("sendThreadPoolQueueCapacity", 10_000, "sendThreadPoolQueueSize", "sendThreadPoolQueueCapacity"),
    (
        "endTransactionPoolQueueCapacity",
        100_000,
        "EndTransactionQueueSize",
        "EndTransactionThreadPoolQueueCapacity",
    ),
)
"""Setting, its default, and the keys of its use and of its value in the runtime information."""


def find_limit_uses(info: RuntimeInfo, config: Mapping[str, str]) -> dict[str, LimitUse]:
    """Return the use of each limit that the broker reports, by setting. Without settings, defaults count.

    The use of transientStorePoolSize is the number of buffers that are not free, if there is a pool.
    """
    uses = {
        setting: LimitUse(
            setting, used, read_number(config, setting, int(info.get_number(limit_key) or default)), default
        )
        for setting, default, key, limit_key in _FIGURES
        if (used := info.get_number(key)) is not None
    }
    lock = uses.get("osPageCacheBusyTimeOutMills")
    if lock is not None:
        uses[lock.setting] = lock._replace(used=read_lock_ms(lock.used))
    free_buffers = info.get_number("remainTransientStoreBufferNumbs")
    if free_buffers is not None and free_buffers < _NO_POOL:
        pool_size = read_number(config, "transientStorePoolSize", 5)
        uses["transientStorePoolSize"] = LimitUse(
            "transientStorePoolSize", pool_size - free_buffers, pool_size, 5
        )
    return uses


def read_lock_ms(reported_ms: float) -> float:
    """Return for how long a write has held the lock of the commit log, as a broker reports it."""
    return 0.0 if reported_ms >= _IDLE_LOCK_MS else reported_ms


def read_limit(config: Mapping[str, str], setting: str) -> int:
    """Return the value of a limit; its default if the broker does not report it."""
    return read_number(config, setting, next(default for name, default, *_ in _FIGURES if name == setting))


def read_number(config: Mapping[str, str], setting: str, default: int) -> int:
    """Return a setting that is a whole number; the default if the broker does not report it."""
    text = config.get(setting, "")
    return int(text) if text.isdecimal() else default
