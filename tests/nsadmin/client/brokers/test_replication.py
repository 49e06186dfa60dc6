"""What masters and slaves tell about each other."""

import pytest

from namesrv_core.errors import NotSupported
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client.brokers.replication import HaStatus, MasterLink, SlaveLink
from tests.support.fake_servers import FakeBroker

MASTER = (
    b'{"haClientRuntimeInfo":{"lastReadTimestamp":0,"lastWriteTimestamp":0,"masterFlushOffset":0,"maxOffset":0,'
    b'"transferredByteInSecond":0},"haConnectionInfo":[{"addr":"h:51934","diff":1,"inSync":true,'
    b'"slaveAckOffset":828939,"transferFromWhere":828940,"transferredByteInSecond":24}],"inSyncSlaveNums":1,'
    b'"master":true,"masterCommitLogMaxOffset":828940}'
)
SLAVE = (
    b'{"haClientRuntimeInfo":{"lastReadTimestamp":17,"lastWriteTimestamp":16,"masterAddr":"127.0.0.1:20912",'
    b'"masterFlushOffset":5,"maxOffset":7,"transferredByteInSecond":9},"haConnectionInfo":[],'
    b'"inSyncSlaveNums":0,"master":false,"masterCommitLogMaxOffset":0}'
)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (MASTER, HaStatus(True, 828940, 1, (SlaveLink("h:51934", 828939, 1, True, 24, 828940),), None)),
        (SLAVE, HaStatus(False, None, None, (), MasterLink("127.0.0.1:20912", 7, 5, 9, 17, 16))),
    ],
)  # fmt: skip
def test_both_sides(body: bytes, status: HaStatus) -> None:
    with FakeBroker() as broker, AdminClient("h:1", timeout=5) as admin:
        broker.handlers[907] = lambda asked: build_reply(asked, body=body)
        assert admin.replication.get_status([broker.addr]) == [(broker.addr, status, None)]


def test_old_brokers_and_odd_answers_are_errors() -> None:
    with FakeBroker() as old, FakeBroker() as odd, AdminClient("h:1", timeout=5) as admin:
        odd.handlers[907] = lambda asked: build_reply(asked, body=b"{}")
        first, second = admin.replication.get_status([old.addr, odd.addr])
    assert isinstance(first.error, NotSupported)
    assert "malformed answer" in str(second.error)
