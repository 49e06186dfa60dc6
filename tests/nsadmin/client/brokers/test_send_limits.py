"""The limits of sends, as brokers report them."""

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.send_limits import LimitUse, find_limit_uses

FIGURES = {
    "sendThreadPoolQueueHeadWaitTimeMills": "250",
    "pageCacheLockTimeMills": "16000000000",
    "sendThreadPoolQueueSize": "3",
    "remainTransientStoreBufferNumbs": "2147483647",
}


def test_settings_are_limits_and_defaults_count_without_them() -> None:
    uses = find_limit_uses(RuntimeInfo(FIGURES), {"sendThreadPoolQueueCapacity": "3"})
    assert uses == {
        "waitTimeMillsInSendQueue": LimitUse("waitTimeMillsInSendQueue", 250, 200, 200),
        "osPageCacheBusyTimeOutMills": LimitUse("osPageCacheBusyTimeOutMills", 0, 1000, 1000),
        "sendThreadPoolQueueCapacity": LimitUse("sendThreadPoolQueueCapacity", 3, 3, 10_000),
    }
    assert [use.is_reached for use in uses.values()] == [True, False, True]


def test_buffers_count_only_in_an_enabled_pool() -> None:
    config = {"transientStorePoolEnable": "true", "transientStorePoolSize": "5"}
    uses = find_limit_uses(RuntimeInfo({"remainTransientStoreBufferNumbs": "0"}), config)
    assert uses == {"transientStorePoolSize": LimitUse("transientStorePoolSize", 5, 5, 5)}
