"""Waits until the queues of a broker show every message that the broker received."""

from time import sleep

from nsadmin.client.brokers.brokers import BrokerAdmin

_ATTEMPTS, _PAUSE_SECONDS = 50, 0.1


def wait_for_dispatch(brokers: BrokerAdmin, broker_addr: str) -> None:
    """Wait until the broker has stored every message that it received, and its queues show them.

    It waits 5 seconds at most, because a broker that other clients use may always be busy.
    """
    for _ in range(_ATTEMPTS):
        # At first too: requests of a killed process can still be on their way.
        sleep(_PAUSE_SECONDS)
        [runtime_result] = brokers.get_runtime_info([broker_addr])
        runtime_info = runtime_result.value()
        if not any(runtime_info.get_integer(k) for k in ("sendThreadPoolQueueSize", "dispatchBehindBytes")):
            return
