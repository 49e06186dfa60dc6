"""Masters and slaves of simulated brokers say the same of each other."""

import json
from typing import Any

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.request_handlers import handle_request
from namesrv_core.protocol.command import build_request

NOW = 1_700_000_000_000


def told(model: BrokerModel, now: int = NOW + 60_000) -> Any:
    return json.loads(handle_request(model, build_request(907), now)[0].body)


def test_a_master_tells_of_its_slaves_and_a_slave_of_its_master() -> None:
    master = BrokerModel(BrokerSpec("c", "b"), "127.0.0.1:1000", [], NOW)
    slave = BrokerModel(BrokerSpec("c", "b", 1), "127.0.0.1:1010", [], NOW + 20)
    other = BrokerModel(BrokerSpec("c", "x", 1), "127.0.0.1:1020", [], NOW)
    master.peer_models = slave.peer_models = other.peer_models = {
        ("b", 0): master,
        ("b", 1): slave,
        ("x", 1): other,
    }
    of_master, of_slave = told(master), told(slave)
    [link] = of_master["haConnectionInfo"]
    assert (of_master["master"], of_master["inSyncSlaveNums"], link["inSync"]) == (True, 1, True)
    assert link["slaveAckOffset"] + link["diff"] == of_master["masterCommitLogMaxOffset"]
    assert link["slaveAckOffset"] == of_slave["haClientRuntimeInfo"]["maxOffset"]
    assert link["diff"] > 0
    assert of_slave["master"] is False
    assert of_slave["haClientRuntimeInfo"]["masterAddr"] == "127.0.0.1:1001"
    assert of_slave["haClientRuntimeInfo"]["masterFlushOffset"] == of_master["masterCommitLogMaxOffset"]
    assert of_slave["haClientRuntimeInfo"]["transferredByteInSecond"] > 0
    assert told(other)["haClientRuntimeInfo"]["maxOffset"] == 0
    runtime = json.loads(handle_request(master, build_request(28), NOW + 60_000)[0].body)["table"]
    assert int(runtime["commitLogMaxOffset"]) == of_master["masterCommitLogMaxOffset"]


def test_a_master_without_slaves() -> None:
    alone = told(BrokerModel(BrokerSpec("c", "b"), "127.0.0.1:1000", [], NOW))
    assert (alone["haConnectionInfo"], alone["inSyncSlaveNums"]) == ([], 0)
