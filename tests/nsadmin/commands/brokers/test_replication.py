"""haStatus."""

import json
from itertools import islice

from namesrv_core.protocol.command import build_reply
from nsadmin.commands.brokers.replication import ha_status
from nsadmin.console.output import ResultRows
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.client.brokers.test_replication import MASTER, SLAVE
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer

ALONE = b'{"haConnectionInfo":[],"inSyncSlaveNums":0,"master":true,"masterCommitLogMaxOffset":9}'


def test_both_sides_of_a_cluster_and_old_brokers(run: Run) -> None:
    with FakeBroker() as master, FakeBroker() as slave, FakeBroker() as old:
        master.handlers[907] = lambda asked: build_reply(asked, body=MASTER)
        slave.handlers[907] = lambda asked: build_reply(asked, body=SLAVE)
        groups = {"a": {0: master.addr, 1: slave.addr}, "b": {0: old.addr}}
        with FakeNameServer({"C": groups}) as server:
            result = run("haStatus", "-c", "C", "-n", server.addr, "--json")
    assert result.code == 3
    assert result.err.startswith("nsadmin: failed on 1 of 3 servers: ")
    first, second, third = json.loads(result.out)
    assert (first["role"], first["slaveAddr"], first["diff"], first["inSync"]) == (
        "master",
        "h:51934",
        1,
        True,
    )
    assert (second["role"], second["masterAddr"], second["lastRead"]) == (
        "slave",
        "127.0.0.1:20912",
        "1970-01-01T00:00:00.017Z",
    )
    assert (third["role"], third["error"].split(":")[0]) == (None, "REQUEST_CODE_NOT_SUPPORTED (3)")


def test_a_master_without_slaves_has_a_row(run: Run) -> None:
    with FakeBroker() as master:
        master.handlers[907] = lambda asked: build_reply(asked, body=ALONE)
        result = run("haStatus", master.addr, "--json")
    [row] = json.loads(result.out)
    assert (result.code, row["commitLogMaxOffset"], row["inSyncSlaveNums"], row["slaveAddr"]) == (
        0,
        9,
        0,
        None,
    )


def test_again_and_again() -> None:
    with FakeBroker() as master:
        master.handlers[907] = lambda asked: build_reply(asked, body=ALONE)
        session = Session(SharedOptions())
        looks = ha_status(session, master.addr, None, 0.001)
        assert not isinstance(looks, ResultRows)
        assert [len(rows.rows) for rows in islice(looks, 2)] == [1, 1]
        session.close()


def test_bad_lines(run: Run, dead_addr: str) -> None:
    assert run("haStatus", dead_addr, "-i", "0").code == 2
    assert run("haStatus", dead_addr).code == 4
