"""Store times of single messages of the lab."""

from pathlib import Path

from nsadmin import AdminClient
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.store_times import MessagePlace
from tests.support.lab import lab


def test_a_message_has_a_time_and_an_empty_place_has_none(tmp_path: Path) -> None:
    with lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        addr = there.brokers["broker-a-0", 0]
        queue = MessageQueue("orders", "", 0)
        end = admin.queue_reader.get_end_offset(addr, "orders", 0)
        places = [MessagePlace(addr, queue, offset) for offset in (end - 1, end + 1_000_000)]
        gone = MessagePlace("127.0.0.1:9", queue, 0)
        last, beyond, silent = admin.queue_reader.get_store_times([*places, gone])
    assert last.result is not None
    assert last.result > 1_600_000_000_000
    assert (beyond.result, beyond.error) == (None, None)
    assert silent.error is not None
