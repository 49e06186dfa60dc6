"""The limits at which a broker refuses to store messages, and how much of them it uses."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.brokers.brokers import RuntimeInfo

_IDLE_LOCK_MS = 10_000_000
"""A broker reports a longer time while nobody holds the lock (DefaultMessageStore.isOSPageCacheBusy)."""


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


_FIGURES = (
    ("waitTimeMillsInSendQueue", "sendThreadPoolQueueHeadWaitTimeMills", 200),
    ("osPageCacheBusyTimeOutMills", "pageCacheLockTimeMills", 1000),
    ("sendThreadPoolQueueCapacity", "sendThreadPoolQueueSize", 10_000),
    ("endTransactionPoolQueueCapacity", "EndTransactionQueueSize", 100_000),
)
"""Setting, key of the runtime information, and default of the setting."""


def find_limit_uses(info: RuntimeInfo, config: Mapping[str, str]) -> dict[str, LimitUse]:
    """Return the use of each limit that the broker reports, by setting. Without settings, defaults count.

    The use of transientStorePoolSize is the number of buffers that are not free, if the pool is enabled.
    """
    uses = {
        setting: LimitUse(setting, used, read_number(config, setting, default), default)
        for setting, key, default in _FIGURES
        if (used := info.get_number(key)) is not None
    }
    lock = uses.get("osPageCacheBusyTimeOutMills")
    if lock is not None and lock.used >= _IDLE_LOCK_MS:
        uses[lock.setting] = lock._replace(used=0.0)
    free_buffers = info.get_number("remainTransientStoreBufferNumbs")
    if config.get("transientStorePoolEnable") == "true" and free_buffers is not None:
        pool_size = read_number(config, "transientStorePoolSize", 5)
        uses["transientStorePoolSize"] = LimitUse(
            "transientStorePoolSize", pool_size - free_buffers, pool_size, 5
        )
    return uses


def read_number(config: Mapping[str, str], setting: str, default: int) -> int:
    """Return a setting that is a whole number; the default if the broker does not report it."""
    text = config.get(setting, "")
    return int(text) if text.isdecimal() else default
