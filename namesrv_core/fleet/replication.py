"""What simulated brokers say of their replication: slaves have what their masters have, less a moment."""

from namesrv_core.fleet.model import BrokerModel
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import MASTER_ID

_IN_SYNC = 256 * 1024**2
"""Bytes that a slave may be behind (haMaxGapNotInSync)."""
_NOTHING = {
    "lastReadTimestamp": 0,
    "lastWriteTimestamp": 0,
    "masterFlushOffset": 0,
    "maxOffset": 0,
    "transferredByteInSecond": 0,
}


def ha_status(model: BrokerModel, now: int) -> bytes:
    """HARuntimeInfo, of a master or of a slave."""
    return fastjson.dumps(_of_master(model, now) if model.spec.is_master else _of_slave(model, now))


def _of_master(model: BrokerModel, now: int) -> dict[str, object]:
    end = model.traffic.stored_bytes(now)
    links = []
    for (name, broker_id), slave in sorted(model.peers.items()):
        if name == model.spec.broker_name and broker_id != MASTER_ID:
            acknowledged = min(slave.traffic.stored_bytes(now), end)
            host = slave.broker_addr.rpartition(":")[0]
            links.append(
                {
                    "addr": f"{host}:{50_000 + broker_id}",
                    "diff": end - acknowledged,
                    "inSync": end - acknowledged < _IN_SYNC,
                    "slaveAckOffset": acknowledged,
                    "transferFromWhere": acknowledged,
                    "transferredByteInSecond": model.traffic.bytes_per_second(now),
                }
            )
    return {
        "haClientRuntimeInfo": _NOTHING,
        "haConnectionInfo": links,
        "inSyncSlaveNums": sum(bool(link["inSync"]) for link in links),
        "master": True,
        "masterCommitLogMaxOffset": end,
    }


def _flushed(model: BrokerModel, master: BrokerModel, now: int) -> int:
    """What the slave was told, if it was."""
    told = model.master_flush_offset
    return master.traffic.stored_bytes(now) if told is None else told


def _of_slave(model: BrokerModel, now: int) -> dict[str, object]:
    master = model.peers.get((model.spec.broker_name, MASTER_ID))
    link: dict[str, object] = dict(_NOTHING)
    if master is not None:
        link = {
            "lastReadTimestamp": now - 10,
            "lastWriteTimestamp": now - 10,
            "masterAddr": master.ha_server_addr,
            "masterFlushOffset": _flushed(model, master, now),
            "maxOffset": model.traffic.stored_bytes(now),
            "transferredByteInSecond": model.traffic.bytes_per_second(now),
        }
    return {
        "haClientRuntimeInfo": link,
        "haConnectionInfo": [],
        "inSyncSlaveNums": 0,
        "master": False,
        "masterCommitLogMaxOffset": 0,
    }
